"""The legal moves of the player to act: fold, check or call, and a range of raises."""

from abc import ABCMeta
from collections.abc import Iterator, Sequence
from typing import Final, Literal, overload

from msgspec import Struct, StructMeta

from croupier.core.errors import IllegalMove

FOLD: Final = "fold"

type Move = Literal["fold"] | int
"""FOLD, or the chips that a player adds now: 0 checks, the amount to call calls, more raises (H4)."""

MAX_PRINTED_BITS: Final = 64
"""Error messages do not print integers with more bits than this: `str` may raise on very long ones."""


class StructSequenceMeta(StructMeta, ABCMeta):
    """Metaclass of a Struct that is also a Sequence."""


class Legal(Struct, Sequence[Move], metaclass=StructSequenceMeta, eq=False, gc=False):
    """The legal moves of the player to act: `in` accepts every legal move, iteration yields only the usual ones.

    The usual moves are FOLD, the call (or check), and these raises: the minimum, half the pot, the pot, and all-in.
    If no other player has chips to answer a raise, no raise is listed. Every bet between the call and the stack is
    still valid then: `Hand.bet` turns it into a call.

    Example:
        >>> legal = Legal(to_call=10, call=10, raise_range=(30, 990), pot=30, can_be_answered=True)
        >>> legal.moves
        ('fold', 10, 30, 50, 990)
        >>> 31 in legal
        True
    """

    to_call: int
    """The chips needed to match the current bet, even if the player has fewer."""
    call: int
    """The chips that a call or check adds: `to_call`, or the whole stack if it is shorter."""
    raise_range: tuple[int, int] | None
    """The fewest and the most chips that make a raise; None if the player cannot raise."""
    pot: int
    """The chips in all pots, including the bets of this round."""
    can_be_answered: bool
    """Whether any other player has chips to answer a raise."""
    _moves: tuple[Move, ...] | None = None

    @property
    def moves(self) -> tuple[Move, ...]:
        """The usual moves: FOLD, the call, and raises in ascending order."""
        if self._moves is None:
            sizes = (
                {*self.raise_range, self.pot_sized(1, 2), self.pot_sized()}
                if self.raise_range and self.can_be_answered
                else ()
            )
            self._moves = (FOLD, self.call, *sorted(size for size in sizes if size is not None))
        return self._moves

    def pot_sized(self, numerator: int = 1, denominator: int = 1) -> int | None:
        """Return the chips that raise by a fraction of the pot after the call, or None if that raise is not legal."""
        if self.raise_range is None:
            return None
        lowest, highest = self.raise_range
        chips = self.to_call + (self.pot + self.to_call) * numerator // denominator
        return chips if lowest <= chips <= highest else None

    def __contains__(self, move: object) -> bool:
        if type(move) is int:
            if move == self.call or self.raise_range is None:
                return move == self.call
            lowest, highest = self.raise_range
            return (lowest if self.can_be_answered else self.to_call) <= move <= highest
        return type(move) is str and move == FOLD

    def __iter__(self) -> Iterator[Move]:
        return iter(self.moves)

    def __len__(self) -> int:
        return len(self.moves)

    @overload
    def __getitem__(self, index: int) -> Move: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Move]: ...

    def __getitem__(self, index: int | slice) -> Move | Sequence[Move]:
        return self.moves[index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.moves}, raises {self.raise_range}>"


class NoMoves(Legal):
    """The legal moves while no player is to act: none."""

    def __contains__(self, move: object) -> bool:
        return False


NO_MOVES: Final = NoMoves(0, 0, None, 0, False, ())


class IllegalBet(IllegalMove):
    """An illegal move of a player. The message includes the range of legal raises."""

    def __init__(self, found: object, legal: Legal) -> None:
        is_too_long = isinstance(found, int) and found.bit_length() > MAX_PRINTED_BITS
        raises = (f"any raise from {legal.raise_range[0]} to {legal.raise_range[1]}",) if legal.raise_range else ()
        super().__init__(f"a number of {MAX_PRINTED_BITS} bits or more" if is_too_long else found, (*legal, *raises))
        self.found = found
        self.allowed = tuple(legal)
