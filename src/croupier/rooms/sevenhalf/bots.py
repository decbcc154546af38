"""Ways to play seven and a half: at random, by a habit, by a script, and exactly."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Final

from croupier.core.bank import Move, State
from croupier.core.bots import Mind, Random, Script, Style
from croupier.core.dealer import Luck
from croupier.rooms.sevenhalf.rules import BEST, LENIENT, SevenHalf, client_cards, total
from croupier.strategy.shoe import nodes
from croupier.strategy.single_player import OnePlayer

type SevenHalfMind = Mind[State, Move]


class Book:
    """Draws until it has so many halves, then passes, and never raises."""

    def __init__(self, halves: int) -> None:
        self._halves = halves

    def choose(self, view: State, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- a habit needs no luck
        """PASS when there is enough and it is allowed, else DRAW."""
        return "PASS" if total(client_cards(view)) >= self._halves and "PASS" in legal else "DRAW"


def book(halves: int = 10) -> SevenHalfMind:
    """Stands at a threshold, 5 points by default."""
    return Book(halves)


def _halves(argument: str) -> int:
    """A threshold in points: halves of a point, from 0.5 to 7.5."""
    halves = 2 * Fraction(argument)
    if halves.denominator != 1 or not 1 <= halves <= BEST:
        raise ValueError(f"found {argument!r}; allowed: 0.5 to 7.5 in steps of 0.5")
    return int(halves)


class Exact:
    """Best play against the bank, to the last card; it raises as far as it is offered (see `OnePlayer`)."""

    def choose(self, view: State, legal: Sequence[Move], luck: Luck) -> Move:  # noqa: ARG002 -- the best move needs no luck
        """The best of the legal moves."""
        highest = max((move for move in legal if isinstance(move, int)), default=0)
        unit = gcd(view.bet, highest)
        state = State(view.node, view.cards, view.banked, view.bet // unit)
        move = _solver((view.bet + highest) // unit, lenient=view.node in LENIENT_NODES).best(state)
        return move * unit if isinstance(move, int) else move


LENIENT_NODES: Final = frozenset(nodes(LENIENT.start().node))
"""What a game may come to in the dialect `lenient`."""


@lru_cache(maxsize=8)
def _solver(max_bet: int, *, lenient: bool) -> OnePlayer:
    """The solution for a limit on the total bet, and an order of moves."""
    return OnePlayer(SevenHalf(max_bet, lenient=lenient))


def _moves(argument: str) -> tuple[Move, ...]:
    """The commands of a script; a number is an ANTE."""
    words = [word.strip().upper() for word in argument.split(",")]
    found = tuple(int(word) if word.isdecimal() else word for word in words)
    if not all(move in {"DRAW", "PASS"} or isinstance(move, int) for move in found):
        raise ValueError(f"found {argument!r}; allowed: DRAW, PASS, and numbers to raise by, with commas between")
    return found


STYLES: Final[Mapping[str, Style[State, Move]]] = {
    "exact": Style("best play to the last card", Exact),
    "random": Style("every legal command with the same probability", Random),
    "book": Style("stands at a threshold in points, 5 by default", book, _halves, ("4", "5.5", "6")),
    "script": Style("these commands in turn, again and again", Script, _moves, ("DRAW,DRAW,PASS",), remembers=True),
}
"""Every mind by its name on the command line."""
