"""Who is next at a round table, for every set of seats that are still asked.

A set of seats is a number: bit s is set for seat s. One word tells who is left, and a look-up who is next.
"""

from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.blinds import MAX_SEATS

type SeatSet = int
"""A set of seats: bit s is set for seat s."""

ALL_SEATS: Final[SeatSet] = (1 << MAX_SEATS) - 1

SEAT_BITS: Final[tuple[SeatSet, ...]] = tuple(1 << seat for seat in range(MAX_SEATS))
"""The set of each seat alone."""


def _subsets() -> tuple[tuple[Seat, ...], ...]:
    found: list[tuple[Seat, ...]] = [()]
    for seat in range(MAX_SEATS):
        found += [(*seats, seat) for seats in found]
    return tuple(found)


SEATS_IN_SET: Final = _subsets()
"""The seats of each set, in rising order."""

HAS_SEVERAL: Final = tuple(len(seats) > 1 for seats in SEATS_IN_SET)
"""Whether there are two or more in each set."""


def _next_by_seat(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    found: list[Seat] = []
    for seat in seats:
        found += [seat] * (seat - len(found))
    first = seats[0] if seats else 0
    return (*found, *[first] * (MAX_SEATS - len(found)))


NEXT_IN_SET: Final = tuple(_next_by_seat(seats) for seats in SEATS_IN_SET)
"""By set and by seat: the next one clockwise who is in the set. Of the empty set it tells nothing."""
