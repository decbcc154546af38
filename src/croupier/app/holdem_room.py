"""Opens the hold'em room: the houses, in memory or from a store, and the HTTP server."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from croupier.app.config import RoomConfig, ServerConfig, is_stored, wanted_seeds
from croupier.app.http_room import HttpRoom
from croupier.app.room_context import RoomContext
from croupier.cluster.bus import BusUnavailable
from croupier.core.session import Address
from croupier.http.auth import Authenticator
from croupier.http.house_group import HouseGroup
from croupier.http.limits import ConnectionLimits
from croupier.http.local_houses import LoadedHouse, Loader, stored_house_loader
from croupier.http.stored_users import StoredUsers
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.recording.holdem_journal import ROOM_NAME, JournalStart, open_store_of_houses
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem.engine.ranks import load_tables
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.table.places import check_houses, user_guid
from croupier.store.store import Store


class HouseSource(NamedTuple):
    """Where the houses come from: what loads them, the secret of their GUIDs, their number, and the store if any."""

    load: Loader
    secret: bytes
    houses: int = 1
    store: Store | None = None


async def open_holdem(
    room_config: RoomConfig,
    server_config: ServerConfig,
    context: RoomContext,
) -> tuple[HttpRoom, Sequence[Address]]:
    """Open the room.

    Raises ValueError if a setting is invalid or contradicts the stored houses, OSError if the store or the address
    cannot be used.
    """
    load_tables()  # now, because loading them at the first showdown would block all tables
    settings = room_config.settings
    settings.check()
    if server_config.houses is not None:
        check_houses(server_config.houses)
    seeds = wanted_seeds(room_config, server_config)
    if not is_stored(room_config, server_config):
        if server_config.houses not in {None, 1}:
            raise ValueError(f"found --houses {server_config.houses} without a store; allowed: 1, or a store")
        source = _memory_source(room_config, seeds.with_secret())
        room = await _open_room(source, room_config, server_config, context)
    else:
        wanted = JournalStart(seeds.seed, client_seed=seeds.client_seed, decks=seeds.decks, settings=settings)
        async with _stored_source(wanted, room_config, server_config, context) as source:
            room = await _open_room(source, room_config, server_config, context)
    return room, [room.address]


def _memory_source(room_config: RoomConfig, seeds: Seeds) -> HouseSource:
    secret, dealers = seeds.server_seed(ROOM_NAME, 0), seeds.dealers(room_config.room)

    async def load(number: int) -> LoadedHouse:  # noqa: ARG001 -- there is only one
        clock = asyncio.get_running_loop().time
        now = clock()
        return LoadedHouse(House(room_config.settings, dealers, secret, time.time() - now, now), clock)

    return HouseSource(load, secret)


@asynccontextmanager
async def _stored_source(
    wanted: JournalStart, room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> AsyncIterator[HouseSource]:
    """Open the store; it is closed if the context raises."""

    def build(start: JournalStart) -> House:
        dealers = start.dealers(room_config.room)
        return House(start.settings, dealers, start.server_seed(ROOM_NAME, 0), place=start.place)

    async with context.shared_store.open_for(ROOM_NAME, shared=context.node is not None) as store:
        await store.watch_accounts()
        start = await open_store_of_houses(store, wanted, server_config.houses)
        load = stored_house_loader(store, start, wanted, build, context.log)
        yield HouseSource(load, start.server_seed(ROOM_NAME, 0), start.houses, store)


async def _open_room(
    source: HouseSource, room_config: RoomConfig, server_config: ServerConfig, context: RoomContext
) -> HttpRoom:
    proxies = parse_trusted_proxies(server_config.trusted_proxies)
    connection_limits = ConnectionLimits(
        server_config.max_connections,
        server_config.max_per_address,
        keep_alive_timeout=server_config.idle_seconds,
        trusted_proxies=proxies,
    )
    settings, clock = room_config.settings, asyncio.get_running_loop().time
    group = HouseGroup(source.houses, settings, lambda user: user_guid(source.secret, user), clock)
    authenticator = Authenticator(None if source.store is None else StoredUsers(source.store))
    context.exits.callback(authenticator.close)
    room = HttpRoom(
        group,
        source.load,
        settings,
        authenticator,
        context.log,
        observers=context.observers,
        store=source.store,
        promises=context.promises,
        proxies=proxies,
        node=context.node,
    )
    if context.tracer is not None:
        from croupier.http.traced_app import TracedApp

        room.application = TracedApp(room, context.tracer, ROOM_NAME)
    address = server_config.host, room_config.port
    try:
        await room.start(address, context.tls_context, connection_limits, context.counts)
    except BusUnavailable as error:
        raise OSError(str(error)) from error
    return room
