"""Bots for blackjack: random, a threshold like the bank's, scripts, and exact optimal play."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from croupier.core.bank import BankState, client_cards
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
    hand_total,
)
from croupier.strategy.single_player import SinglePlayerSolver

MIN_TWO_CARD_TOTAL: Final = 4
"""The lowest total of two cards."""


class ThresholdBot:
    """Hits below a threshold and stands at it, as the bank does at 17. It never surrenders."""

    def __init__(self, threshold: int = BANK_STANDS_AT) -> None:
        if not MIN_TWO_CARD_TOTAL <= threshold <= TARGET_TOTAL:
            raise ValueError(f"found {threshold}; allowed: {MIN_TWO_CARD_TOTAL} to {TARGET_TOTAL}")
        self._threshold = threshold

    def choose(self, view: BankState, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- both are always legal
        """Hit or stand by the client's total."""
        return STAND if hand_total(client_cards(view)).total >= self._threshold else HIT


class OptimalBot:
    """Plays optimally against a shoe of `decks`, or of more if it has seen more (see `SinglePlayerSolver`)."""

    def __init__(self, decks: int = 1) -> None:
        self._decks = check_decks(decks)

    def choose(self, view: BankState, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- deterministic
        """The best move. All even bets are equivalent, because a half of them is whole; they are solved as 2."""
        decks = max(self._decks, *map(view.cards.count, view.cards))
        bet = view.bet if view.bet % 2 else 2
        return str(_solver(decks).best_move(replace(view, bet=bet)))


@cache
def _solver(decks: int) -> SinglePlayerSolver:
    return SinglePlayerSolver(Blackjack(decks))


BOT_SPECS: Final[Mapping[str, BotSpec[BankState, str]]] = {
    "exact": BotSpec("the best there is; the argument is the number of decks, 1 by default", OptimalBot, int, ("2",)),
    "book": BotSpec("stands on N points or more; N is 17 by default, as for the bank", ThresholdBot, int, ("12", "19")),
    "random": BotSpec("every move with the same probability", RandomBot),
    "script": BotSpec(
        "these moves in turn, again and again", ScriptedBot, script_parser(MOVES), ("H,S,SRD",), is_stateful=True
    ),
}
"""Every bot by its name on the command line."""
