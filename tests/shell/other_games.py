"""Servers of every room in the loop of a test, for clients that have the wrong address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext

from croupier.core.talk import Address
from croupier.rooms import ROOMS
from croupier.shell.logs import silence
from croupier.shell.opening import Fittings, Hosting, Opening, open_room
from croupier.shell.shelf import Shelf


@asynccontextmanager
async def serving(
    name: str, context: SSLContext | None = None, *, port: int = 0, document_port: int | None = None
) -> AsyncIterator[list[Address]]:
    """A server of a room that keeps nothing: where it listens."""
    opening = Opening(ROOMS[name], port, ROOMS[name].settings(), document_port=document_port)
    fittings = Fittings(silence(), [], context, Shelf(None))
    room, addresses = await open_room(opening, Hosting(journal="off"), fittings)
    try:
        yield [*addresses]
    finally:
        room.halt(final=True)
        await room.empty()
