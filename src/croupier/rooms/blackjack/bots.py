"""Ways to play blackjack: at random, like the bank, by a script, and as well as it can be done."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from croupier.core.bank import State
from croupier.core.bots import Random, Script, Style, script_of
from croupier.core.dealer import Luck
from croupier.rooms.blackjack.rules import BEST, HIT, MOVES, STAND, STANDS, Blackjack, client_cards, decks_allowed, hand
from croupier.strategy.single_player import OnePlayer

LOWEST: Final = 4
"""The least that two cards count."""


class Book:
    """Hits below so many points and stands on them, as the bank does; it never surrenders."""

    def __init__(self, stands: int = STANDS) -> None:
        if not LOWEST <= stands <= BEST:
            raise ValueError(f"found {stands}; allowed: {LOWEST} to {BEST}")
        self._stands = stands

    def choose(self, view: State, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- both are always legal
        """Hit or stand, by the client's total."""
        return STAND if hand(client_cards(view)).total >= self._stands else HIT


class Exact:
    """Plays as well as it can be done from a shoe of so many decks, or of more where it has seen more (`OnePlayer`)."""

    def __init__(self, decks: int = 1) -> None:
        self._decks = decks_allowed(decks)

    def choose(self, view: State, legal: Sequence[str], luck: Luck) -> str:  # noqa: ARG002 -- nothing is left to luck
        """The best move. All even bets are played alike: they have a whole half."""
        decks = max(self._decks, *map(view.cards.count, view.cards))
        bet = view.bet if view.bet % 2 else 2
        return str(_solver(decks).best(State(view.node, view.cards, view.banked, bet)))


@cache
def _solver(decks: int) -> OnePlayer:
    """The solution for a shoe of so many decks."""
    return OnePlayer(Blackjack(decks))


STYLES: Final[Mapping[str, Style[State, str]]] = {
    "exact": Style("the best there is; the argument is the number of decks, 1 by default", Exact, int, ("2",)),
    "book": Style("stands on so many points or more, 17 by default, as the bank does", Book, int, ("12", "19")),
    "random": Style("every move with the same probability", Random),
    "script": Style("these moves in turn, again and again", Script, script_of(MOVES), ("H,S,SRD",), remembers=True),
}
"""Every mind by its name on the command line."""
