"""A game as numbers: what an agent sees is a vector, and what it does is the index of an action."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from croupier.core.bots import BotSpec
from croupier.core.rules import Seat


class EncodedHand(Protocol):
    """A hand being played. Chance moves by itself."""

    @property
    def turn(self) -> Seat | None:
        """The seat to act; None when the hand is over."""
        ...

    @property
    def moves(self) -> Mapping[int, Any]:
        """The moves that the seat to act can choose, by the index of their action."""
        ...

    @property
    def legal(self) -> Any:
        """All legal moves of the seat to act, for a bot."""
        ...

    def play(self, move: Any) -> None:
        """Make a move of the seat to act. Raises IllegalMove."""
        ...

    def view(self, seat: Seat) -> Any:
        """What a seat knows, for a bot."""
        ...

    def observe(self, seat: Seat) -> Sequence[float]:
        """What a seat knows, as a number for each feature."""
        ...

    def describe(self, seat: Seat) -> str:
        """What a seat knows, as text."""
        ...

    def rewards(self) -> Sequence[float]:
        """What each seat has won. The hand must be over."""
        ...


class EncodedGame(Protocol):
    """A game whose hands can be dealt.

    `seats` is the number of seats that act. `action_names` has the name of each action, `feature_names` that of each
    number of an observation, which is between 0 and its number in `feature_highs`. `unit` is the unit of rewards, and
    `max_loss` the most that a seat can lose in a hand. `bots` are those of the room, by name.
    """

    name: str
    seats: int
    action_names: Sequence[str]
    feature_names: Sequence[str]
    feature_highs: Sequence[float]
    unit: str
    max_loss: float
    bots: Mapping[str, BotSpec[Any, Any]]

    def deal(self, seed: int, number: int) -> EncodedHand:
        """A new hand. The seed and the number of the hand, from 1, fix its cards."""
        ...
