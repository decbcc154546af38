"""Sets of seats as bit masks, with look-up tables for their members and for the next seat clockwise.

Bit s of a set stands for seat s. The tables have an entry for each of the 1,024 sets of up to 10 seats, so that the
engine finds the next player with one look-up.
"""

from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.stakes import MAX_SEATS

type SeatSet = int
"""A set of seats: bit s is set for seat s."""

ALL_SEATS: Final[SeatSet] = (1 << MAX_SEATS) - 1

SEAT_BITS: Final[tuple[SeatSet, ...]] = tuple(1 << seat for seat in range(MAX_SEATS))
"""The one-element set of each seat."""


def _subsets() -> tuple[tuple[Seat, ...], ...]:
    subsets: list[tuple[Seat, ...]] = [()]
    for seat in range(MAX_SEATS):
        subsets += [(*seats, seat) for seats in subsets]
    return tuple(subsets)


SEATS_IN_SET: Final = _subsets()
"""The seats of each set, in ascending order."""

HAS_SEVERAL: Final = tuple(len(seats) > 1 for seats in SEATS_IN_SET)
"""Whether each set has two or more seats."""


def _next_by_seat(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    following: list[Seat] = []
    for seat in seats:
        following += [seat] * (seat - len(following))
    first = seats[0] if seats else 0
    return (*following, *[first] * (MAX_SEATS - len(following)))


NEXT_IN_SET: Final = tuple(_next_by_seat(seats) for seats in SEATS_IN_SET)
"""`NEXT_IN_SET[seats][seat]` is the first seat of the set clockwise after `seat`. Meaningless for the empty set."""
