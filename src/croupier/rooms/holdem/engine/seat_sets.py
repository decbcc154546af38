"""Who is next at a round table, for every set of seats that are still asked.

A set of seats is a number: bit s is set for seat s. One word tells who is left, and a look-up who is next.
"""

from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.blinds import MOST_SEATS

type Seats = int
"""A set of seats: bit s is set for seat s."""

EVERYBODY: Final[Seats] = (1 << MOST_SEATS) - 1

ALONE: Final[tuple[Seats, ...]] = tuple(1 << seat for seat in range(MOST_SEATS))
"""The set of each seat alone."""


def _rising() -> tuple[tuple[Seat, ...], ...]:
    found: list[tuple[Seat, ...]] = [()]
    for seat in range(MOST_SEATS):
        found += [(*seats, seat) for seats in found]
    return tuple(found)


SEATS: Final = _rising()
"""The seats of each set, in rising order."""

SEVERAL: Final = tuple(len(seats) > 1 for seats in SEATS)
"""Whether there are two or more in each set."""


def _next(seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    found: list[Seat] = []
    for seat in seats:
        found += [seat] * (seat - len(found))
    first = seats[0] if seats else 0
    return (*found, *[first] * (MOST_SEATS - len(found)))


NEXT: Final = tuple(_next(seats) for seats in SEATS)
"""By set and by seat: the next one clockwise who is in the set. Of the empty set it tells nothing."""
