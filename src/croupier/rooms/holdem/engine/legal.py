"""What a player may do when it is his turn: fold, call, or raise by anything from the smallest raise to all he has."""

from abc import ABCMeta
from collections.abc import Iterator, Sequence
from typing import Final, Literal, overload

from msgspec import Struct, StructMeta

from croupier.core.errors import IllegalMove

FOLD: Final = "fold"

type Move = Literal["fold"] | int
"""FOLD, or the chips that a player adds now: 0 checks, what he owes calls, more raises (H4)."""

LONG: Final = 64
"""A number of more bits than this is told by its length: nobody wants to read it, and `str` may refuse to spell it."""


class _Kind(StructMeta, ABCMeta):
    """What a Struct is that is a Sequence as well."""


class Legal(Struct, Sequence[Move], metaclass=_Kind, eq=False, gc=False):
    """The moves that are legal now: as a container all of them, as a sequence only the interesting ones.

    Those are to fold, to call (or check), and raises: the smallest, half the pot, the pot, everything. Where nobody is
    left who could answer a raise, none is listed; it is a valid bet all the same, and `Hand.bet` takes the call of it.
    """

    owed: int
    """The chips that the bet to match is ahead of him, however many he has."""
    call: int
    """The chips to call or check: all of a stack that is shorter than what it owes."""
    bounds: tuple[int, int] | None
    """The fewest and the most chips that raise, None where there is no raise."""
    pot: int
    """The chips in all pots, with those that have been bet in this round."""
    answered: bool
    """Whether anybody else has chips to answer a raise with."""
    _moves: tuple[Move, ...] | None = None

    @property
    def moves(self) -> tuple[Move, ...]:
        """The interesting moves: FOLD, the call, and raises in rising order."""
        if self._moves is None:
            sizes = {*self.bounds, self.share(1, 2), self.share()} if self.bounds and self.answered else ()
            self._moves = (FOLD, self.call, *sorted(size for size in sizes if size is not None))
        return self._moves

    def share(self, parts: int = 1, of: int = 1) -> int | None:
        """The chips that raise by such a share of the pot (as it is after a call), None where that is not legal."""
        if self.bounds is None:
            return None
        least, most = self.bounds
        chips = self.owed + (self.pot + self.owed) * parts // of
        return chips if least <= chips <= most else None

    def __contains__(self, move: object) -> bool:
        if type(move) is int:
            return move == self.call or (self.bounds is not None and self.bounds[0] <= move <= self.bounds[1])
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
        return f"<{type(self).__name__} {self.moves}, raises {self.bounds}>"


class Nothing(Legal):
    """What anybody may do while it is nobody's turn."""

    def __contains__(self, move: object) -> bool:
        return False


NOTHING: Final = Nothing(0, 0, None, 0, False, ())


class IllegalBet(IllegalMove):
    """An illegal move of a player, which also tells the range of the raises."""

    def __init__(self, found: object, legal: Legal) -> None:
        long = isinstance(found, int) and found.bit_length() > LONG
        raises = (f"any raise from {legal.bounds[0]} to {legal.bounds[1]}",) if legal.bounds else ()
        super().__init__(f"a number of {LONG} bits or more" if long else found, (*legal, *raises))
        self.found = found
        self.allowed = tuple(legal)
