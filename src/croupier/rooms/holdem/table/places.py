"""The houses that share a hold'em room: what each of them numbers, and which house a game belongs to.

A server has one house, or a fixed number of them, so that several machines can each run some of them. All derive their
cards and GUIDs from the same secret; because their numbers differ, so do the cards and GUIDs.
"""

import hmac
from typing import Final
from uuid import UUID

from msgspec import Struct

from croupier.rooms.holdem.wire import Guid

MAX_HOUSES: Final = 255
"""The last byte of a game's GUID is the number of its house."""


class Place(Struct, frozen=True):
    """The place of a house among `houses`: its number, from 1. A lone house is 1 of 1."""

    house: int = 1
    houses: int = 1

    def nth(self, count: int) -> int:
        """Return the number of the n-th game, or hand, of this house, from 1: no other house has it.

        >>> [Place(2, 3).nth(count) for count in (1, 2, 3)]
        [2, 5, 8]
        """
        return (count - 1) * self.houses + self.house

    def game_guid(self, secret: bytes, number: int) -> Guid:
        """Return the GUID of the game with a number. With several houses its last two digits name the house."""
        guid = derive_guid(secret, f"game/{number}")
        return guid if self.houses == 1 else f"{guid[:-2]}{self.house:02x}"


def derive_guid(secret: bytes, label: str) -> Guid:
    """Derive a UUID (RFC 9562, version 4) that looks random without knowledge of the secret."""
    return str(UUID(bytes=hmac.digest(secret, label.encode(), "sha256")[:16], version=4))


def user_guid(secret: bytes, user: str) -> Guid:
    """Return the GUID of a user, which is also the GUID of their players (holdem-2.3)."""
    return derive_guid(secret, f"user/{user}")


def house_of(game: Guid, houses: int) -> int | None:
    """Return the number of the house of a game, None if no house can have a game with this GUID.

    >>> [house_of(f"00000000-0000-4000-8000-0000000000{digits}", 3) for digits in ("02", "04", "0x")]
    [2, None, None]
    """
    if houses == 1:
        return 1
    try:
        house = int(game[-2:], 16)
    except ValueError:
        return None
    return house if 1 <= house <= houses else None


def check_houses(houses: int) -> None:
    """Raise ValueError for an impossible number of houses."""
    if not 1 <= houses <= MAX_HOUSES:
        raise ValueError(f"found --houses {houses}; allowed: 1 to {MAX_HOUSES}")
