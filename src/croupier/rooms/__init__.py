"""The registry of rooms, by name."""

from croupier.core.room import HouseRoom, Room
from croupier.rooms.blackjack import ROOM as BLACKJACK
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.sevenhalf import ROOM as SEVENHALF

HOUSE_ROOMS: dict[str, HouseRoom] = {room.name: room for room in (KUHN, SEVENHALF, BLACKJACK)}
"""The rooms in which each client plays alone against the house."""

ROOMS: dict[str, Room] = {**HOUSE_ROOMS, HOLDEM.name: HOLDEM, OLDMAID.name: OLDMAID}
"""All rooms."""


def find_room(name: str) -> Room:
    """The room of a name. Raises ValueError on an unknown name."""
    if name not in ROOMS:
        raise ValueError(f"found the room {name!r}; allowed: {', '.join(ROOMS)}")
    return ROOMS[name]
