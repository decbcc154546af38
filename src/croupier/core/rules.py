"""A game as questions: whose turn is it, what may he do, where does it lead, what is it worth."""

from collections.abc import Container, Hashable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Protocol

type Seat = int
"""A place at the table, counted from 0 in the order of acting."""


class Turn(Enum):
    """Whose turn it is when it is nobody's."""

    CHANCE = "chance"
    OVER = "over"


class Rules[S, M](Protocol):
    """The rules of a game; every method is a question, and none of them changes a state."""

    @property
    def seats(self) -> int:
        """How many play."""
        ...

    def start(self) -> S:
        """Before anything has happened."""
        ...

    def turn(self, state: S) -> Seat | Turn:
        """Who is to move: a seat, CHANCE, or OVER."""
        ...

    def legal(self, state: S) -> Container[M]:
        """The moves that `play` accepts here: a tuple, or a lazy container in games with many. Empty when OVER."""
        ...

    def odds(self, state: S) -> Mapping[M, Fraction]:
        """The exact probability of each of chance's moves. Empty unless it is CHANCE's turn."""
        ...

    def play(self, state: S, move: M) -> S:
        """The state after a move. Raises IllegalMove."""
        ...

    def payoff(self, state: S) -> tuple[int | Fraction, ...]:
        """What each seat has won (lost, if negative) in coins, when OVER."""
        ...

    def view(self, state: S, seat: Seat) -> Hashable:
        """All that this seat may know: the same for two states that it cannot tell apart."""
        ...
