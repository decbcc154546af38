"""The rooms of a server, and who plays in them, as far as their protocols tell strangers."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import NamedTuple

from croupier.clients.identify import probe
from croupier.core.recognition import recognise_room
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import format_address
from croupier.rooms import ROOMS


class OpenTable(NamedTuple):
    """A table that strangers may see: its id, and the names of its players."""

    table: str
    players: Sequence[str]


class OpenRoom(NamedTuple):
    """A room that answers at an address. `tables` is None if its protocol does not list them."""

    room: Room
    address: Address
    tables: Sequence[OpenTable] | None


async def find_open_rooms(host: str, context: SSLContext | None = None) -> Sequence[OpenRoom]:
    """Return the rooms that answer at their default ports of a host, with TLS if there is a context."""
    found = await asyncio.gather(*(_find_room(room, (host, room.port), context) for room in ROOMS.values()))
    return [each for each in found if each is not None]


async def _find_room(room: Room, address: Address, context: SSLContext | None) -> OpenRoom | None:
    """Return a room if its server answers at an address, else None."""
    with suppress(OSError, UnicodeError):
        answer = await probe(room, address, context)
        if answer and recognise_room(answer, [room]) is not None:
            tables = await _list_tables(address, context) if room.name == "holdem" else None
            return OpenRoom(room, address, tables)
    return None


async def _list_tables(address: Address, context: SSLContext | None) -> Sequence[OpenTable]:
    """Return the tables of a hold'em server; none if it does not list them."""
    from croupier.clients.holdem import HoldemClient
    from croupier.clients.holdem_api import Refusal
    from croupier.core.errors import Violation

    scheme = "http" if context is None else "https"
    with suppress(Refusal, Violation, ConnectionError):
        async with HoldemClient(f"{scheme}://{format_address(address)}", "", "", ssl=context, retry_timeout=0.0) as api:
            games = await api.list_games()
            return [OpenTable(game.game_id, [player.handle for player in game.table]) for game in games]
    return []
