"""Servers of every room in the loop of a test, for clients that have the wrong address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from croupier.app.open_rooms import RoomConfig, RoomContext, ServerConfig, open_room
from croupier.core.session import Address
from croupier.logs import silent_logger
from croupier.recording.shared_store import SharedStore
from croupier.rooms import ROOMS


@asynccontextmanager
async def serving(
    name: str, context: SSLContext | None = None, *, port: int = 0, document_port: int | None = None
) -> AsyncIterator[list[Address]]:
    """A server of a room that keeps nothing: where it listens."""
    opening = RoomConfig(ROOMS[name], port, ROOMS[name].settings(), document_port=document_port)
    fittings = RoomContext(silent_logger(), [], context, SharedStore(None))
    room, addresses = await open_room(opening, ServerConfig(journal="off"), fittings)
    try:
        yield [*addresses]
    finally:
        room.halt(final=True)
        await room.wait_drained()
