"""Opens the hold'em room: the houses, in memory or from a store, and the HTTP server."""

import asyncio
import time
from collections.abc import Sequence

from croupier.app.config import RoomConfig, ServerConfig, is_stored, wanted_seeds
from croupier.app.http_room import HttpRoom
from croupier.app.room_context import RoomContext
from croupier.cluster.bus import BusUnavailable
from croupier.core.session import Address
from croupier.http.auth import Authenticator
from croupier.http.limits import ConnectionLimits
from croupier.http.local_houses import HouseSource, LoadedHouse, stored_houses
from croupier.http.stored_users import StoredUsers
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.recording.holdem_journal import ROOM_NAME, JournalStart, open_store_of_houses
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.engine.ranks import load_tables
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.places import check_houses


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
        source = _memory_source(settings, seeds.with_secret())
        room = await _open_room(source, room_config, server_config, context)
    else:
        wanted = JournalStart(seeds.seed, client_seed=seeds.client_seed, decks=seeds.decks, settings=settings)
        async with context.shared_store.open_for(ROOM_NAME, shared=context.node is not None) as store:
            await store.watch_accounts()
            first = await open_store_of_houses(store, wanted, server_config.houses)
            source = stored_houses(store, first, settings, context.log)
            room = await _open_room(source, room_config, server_config, context)
    return room, [room.address]


def _memory_source(settings: Settings, seeds: Seeds) -> HouseSource:
    secret, dealers = seeds.server_seed(ROOM_NAME, 0), seeds.dealers(ROOM)

    async def load(number: int) -> LoadedHouse:  # noqa: ARG001 -- there is only one
        clock = asyncio.get_running_loop().time
        now = clock()
        return LoadedHouse(House(settings, dealers, secret, time.time() - now, now), clock)

    return HouseSource(load, secret)


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
    authenticator = Authenticator(None if source.store is None else StoredUsers(source.store))
    context.exits.callback(authenticator.close)
    room = HttpRoom(
        source,
        room_config.settings,
        authenticator,
        context.log,
        observers=context.observers,
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
