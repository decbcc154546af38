"""The one table of games."""

from croupier.core.room import Room
from croupier.rooms.blackjack import ROOM as BLACKJACK
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.sevenhalf import ROOM as SEVENHALF

ROOMS: dict[str, Room] = {room.name: room for room in (KUHN, SEVENHALF, BLACKJACK)}
