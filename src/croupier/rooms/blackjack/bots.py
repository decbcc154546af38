"""Ways to play blackjack: at random, like the bank, by a script, and as well as it can be done."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from croupier.core.bank import BankState
from croupier.core.bots import BotSpec, RandomBot, ScriptedBot, script_parser
from croupier.core.dealer import Luck
from croupier.rooms.blackjack.rules import (
    BANK_STANDS_AT,
    HIT,
    MOVES,
    STAND,
    TARGET_TOTAL,
    Blackjack,
    check_decks,
    client_cards,
    hand_total,
)
from croupier.strategy.single_player import SinglePlayerSolver

MIN_TWO_CARD_TOTAL: Final = 4
"""The least that two cards count."""


class ThresholdBot:
    """Hits below so many points and stands on them, as the bank does; it never surrenders."""

    def __init__(self, threshold: int = BANK_STANDS_AT) -> None:
        if not MIN_TWO_CARD_TOTAL <= threshold <= TARGET_TOTAL:
            raise ValueError(f"found {threshold}; allowed: {MIN_TWO_CARD_TOTAL} to {TARGET_TOTAL}")
        self._threshold = threshold

    def choose(self, view: BankState, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- both are always legal
        """Hit or stand, by the client's total."""
        return STAND if hand_total(client_cards(view)).total >= self._threshold else HIT


class OptimalBot:
    """Plays as well as it can be done from a shoe of so many decks, or of more where it has seen more (`OnePlayer`)."""

    def __init__(self, decks: int = 1) -> None:
        self._decks = check_decks(decks)

    def choose(self, view: BankState, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- nothing is left to luck
        """The best move. All even bets are played alike: they have a whole half."""
        decks = max(self._decks, *map(view.cards.count, view.cards))
        bet = view.bet if view.bet % 2 else 2
        return str(_solver(decks).best_move(BankState(view.node, view.cards, view.bank_card_count, bet)))


@cache
def _solver(decks: int) -> SinglePlayerSolver:
    """The solution for a shoe of so many decks."""
    return SinglePlayerSolver(Blackjack(decks))


BOT_SPECS: Final[Mapping[str, BotSpec[BankState, str]]] = {
    "exact": BotSpec("the best there is; the argument is the number of decks, 1 by default", OptimalBot, int, ("2",)),
    "book": BotSpec(
        "stands on so many points or more, 17 by default, as the bank does", ThresholdBot, int, ("12", "19")
    ),
    "random": BotSpec("every move with the same probability", RandomBot),
    "script": BotSpec(
        "these moves in turn, again and again", ScriptedBot, script_parser(MOVES), ("H,S,SRD",), is_stateful=True
    ),
}
"""Every mind by its name on the command line."""
