"""Opens the rooms of a server."""

from collections.abc import Sequence

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.house_room import open_house
from croupier.app.room_context import OpenRoom, RoomContext
from croupier.core.room import HouseRoom
from croupier.core.session import Address
from croupier.rooms.holdem import ROOM as HOLDEM


async def open_room(
    room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> tuple[OpenRoom, Sequence[Address]]:
    """Open a room; return it and the addresses on which it listens.

    Raises ValueError if a setting is invalid, OSError if a file, the store or an address cannot be used.
    """
    if isinstance(room_config.room, HouseRoom):
        return await open_house(room_config, server_config, context)
    if room_config.room is HOLDEM:  # each room with shared tables is imported only by servers that have it
        from croupier.app.holdem_room import open_holdem

        return await open_holdem(room_config, server_config, context)
    from croupier.app.oldmaid_room import open_oldmaid

    return await open_oldmaid(room_config, server_config, context)
