"""Servers of all rooms in the event loop of a test, for clients that connect to the wrong address."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ssl import SSLContext

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.open_rooms import open_room
from croupier.app.room_context import RoomContext
from croupier.core.logger import SilentLogger
from croupier.core.session import Address
from croupier.recording.shared_store import SharedStore
from croupier.rooms import ROOMS


@asynccontextmanager
async def serving(
    name: str, tls_context: SSLContext | None = None, *, port: int = 0, document_port: int | None = None
) -> AsyncIterator[list[Address]]:
    """A server of a room that stores nothing; yields the addresses on which it listens."""
    room_config = RoomConfig(ROOMS[name], port, ROOMS[name].settings(), document_port=document_port)
    async with AsyncExitStack() as exits:
        context = RoomContext(SilentLogger(), [], tls_context, SharedStore(None), exits)
        room, addresses = await open_room(room_config, ServerConfig(journal="off"), context)
        try:
            yield [*addresses]
        finally:
            room.halt(final=True)
            await room.wait_drained()
