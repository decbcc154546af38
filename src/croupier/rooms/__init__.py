"""The one table of games."""

from croupier.core.room import Room
from croupier.rooms.kuhn import ROOM as KUHN

ROOMS: dict[str, Room] = {room.name: room for room in (KUHN,)}
