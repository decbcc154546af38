"""What a player may do when it is his turn: fold, call, or raise by anything from the smallest raise to all he has."""

from abc import ABCMeta
from collections.abc import Iterator, Sequence
from typing import Final, Literal, overload

from msgspec import Struct, StructMeta

from croupier.core.errors import IllegalMove

FOLD: Final = "fold"

type Move = Literal["fold"] | int
"""FOLD, or the chips that a player adds now: 0 checks, what he owes calls, more raises (H4)."""

MAX_PRINTED_BITS: Final = 64
"""A number of more bits than this is told by its length: nobody wants to read it, and `str` may refuse to spell it."""


class _StructSequenceMeta(StructMeta, ABCMeta):
    """What a Struct is that is a Sequence as well."""


class Legal(Struct, Sequence[Move], metaclass=_StructSequenceMeta, eq=False, gc=False):
    """The moves that are legal now: as a container all of them, as a sequence only the interesting ones.

    Those are to fold, to call (or check), and raises: the smallest, half the pot, the pot, everything. Where nobody is
    left who could answer a raise, none is listed; it is a valid bet all the same, and `Hand.bet` takes the call of it.
    """

    to_call: int
    """The chips that the bet to match is ahead of him, however many he has."""
    call: int
    """The chips to call or check: all of a stack that is shorter than what it owes."""
    raise_range: tuple[int, int] | None
    """The fewest and the most chips that raise, None where there is no raise."""
    pot: int
    """The chips in all pots, with those that have been bet in this round."""
    can_be_answered: bool
    """Whether anybody else has chips to answer a raise with."""
    _moves: tuple[Move, ...] | None = None

    @property
    def moves(self) -> tuple[Move, ...]:
        """The interesting moves: FOLD, the call, and raises in rising order."""
        if self._moves is None:
            sizes = (
                {*self.raise_range, self.pot_sized(1, 2), self.pot_sized()}
                if self.raise_range and self.can_be_answered
                else ()
            )
            self._moves = (FOLD, self.call, *sorted(size for size in sizes if size is not None))
        return self._moves

    def pot_sized(self, numerator: int = 1, denominator: int = 1) -> int | None:
        """The chips that raise by such a share of the pot (as it is after a call), None where that is not legal."""
        if self.raise_range is None:
            return None
        least, most = self.raise_range
        chips = self.to_call + (self.pot + self.to_call) * numerator // denominator
        return chips if least <= chips <= most else None

    def __contains__(self, move: object) -> bool:
        if type(move) is int:
            return move == self.call or (
                self.raise_range is not None and self.raise_range[0] <= move <= self.raise_range[1]
            )
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
    """What anybody may do while it is nobody's turn."""

    def __contains__(self, move: object) -> bool:
        return False


NO_MOVES: Final = NoMoves(0, 0, None, 0, False, ())


class IllegalBet(IllegalMove):
    """An illegal move of a player, which also tells the range of the raises."""

    def __init__(self, found: object, legal: Legal) -> None:
        long = isinstance(found, int) and found.bit_length() > MAX_PRINTED_BITS
        raises = (f"any raise from {legal.raise_range[0]} to {legal.raise_range[1]}",) if legal.raise_range else ()
        super().__init__(f"a number of {MAX_PRINTED_BITS} bits or more" if long else found, (*legal, *raises))
        self.found = found
        self.allowed = tuple(legal)
