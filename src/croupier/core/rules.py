"""The interface of a game's rules: turns, legal moves, chances, payoffs and views."""

from collections.abc import Container, Hashable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Protocol

type Seat = int
"""A place at the table, counted from 0 in the order of acting."""


class Turn(Enum):
    """The turn of a state in which no seat is to move.

    Example:
        >>> from croupier.kuhn import KUHN
        >>> KUHN.turn(KUHN.start()) is Turn.CHANCE
        True
    """

    CHANCE = "chance"
    OVER = "over"


class Rules[S, M](Protocol):
    """The rules of a game, as pure functions of immutable states.

    Example:
        A playout with the first legal move at every turn; both hold the card that is dealt first.

        >>> from croupier.kuhn import KUHN
        >>> def play_out(rules: Rules) -> tuple[int, ...]:
        ...     state = rules.start()
        ...     while rules.turn(state) is not Turn.OVER:
        ...         state = rules.play(state, rules.legal(state)[0])
        ...     return rules.payoff(state)
        >>> play_out(KUHN)
        (-1, 1)
    """

    @property
    def seats(self) -> int:
        """The number of seats."""
        ...

    def start(self) -> S:
        """The initial state."""
        ...

    def turn(self, state: S) -> Seat | Turn:
        """The seat that is to move, or CHANCE, or OVER."""
        ...

    def legal(self, state: S) -> Container[M]:
        """The moves that `play` accepts here: a tuple, or a lazy container in games with many. Empty when OVER."""
        ...

    def odds(self, state: S) -> Mapping[M, Fraction]:
        """The exact probability of each move of CHANCE. Empty unless it is CHANCE's turn."""
        ...

    def play(self, state: S, move: M) -> S:
        """The state after a move. Raises IllegalMove if the move is not legal."""
        ...

    def payoff(self, state: S) -> tuple[int | Fraction, ...]:
        """The coins that each seat has won (negative: lost) in a state that is OVER."""
        ...

    def view(self, state: S, seat: Seat) -> Hashable:
        """Everything that this seat knows: equal for two states that the seat cannot distinguish."""
        ...
