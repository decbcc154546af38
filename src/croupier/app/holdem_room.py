"""The hold'em room: opens its houses, in memory or from a store, serves them over HTTP, and closes them."""

import asyncio
import time
from collections.abc import Sequence
from ssl import SSLContext
from typing import Any

from croupier.app.config import RoomConfig, ServerConfig, is_stored, wanted_seeds
from croupier.app.room_context import RoomContext
from croupier.cluster.bus import BusUnavailable
from croupier.cluster.holdem_houses import HoldemHouses
from croupier.cluster.lease import HOLDEM
from croupier.cluster.node import Node
from croupier.core.logger import Logger
from croupier.core.session import Address, Effect, Event, Observer
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import TablesApp
from croupier.http.house_group import HouseGroup
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.local_houses import HouseSource, LoadedHouse, LocalHouses, stored_houses
from croupier.http.stored_users import StoredUsers
from croupier.net.client_addresses import TrustedProxies, parse_trusted_proxies
from croupier.net.count_limit import ConnectionCounts
from croupier.recording.holdem_journal import ROOM_NAME, JournalStart, open_store_of_houses
from croupier.recording.promises import Promises
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.engine.ranks import load_tables
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.places import check_houses, user_guid


class HoldemRoom(TablesApp):
    """The hold'em houses of a `source` served over HTTP. Their store, if they have one, is closed with the room.

    During a shutdown it observes its houses: that is how it notices that the last hand has ended.
    """

    def __init__(
        self,
        source: HouseSource,
        settings: Settings,
        authenticator: Authenticator,
        log: Logger,
        *,
        observers: Sequence[Observer] = (),
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
        node: Node | None = None,
    ) -> None:
        clock = asyncio.get_running_loop().time
        group = HouseGroup(source.houses, settings, lambda user: user_guid(source.secret, user), clock)
        super().__init__(
            group,
            authenticator,
            log=log,
            limits=ServiceLimits(max_requests=settings.requests_per_minute),
            proxies=proxies,
        )
        self.houses = LocalHouses(
            group,
            source.load,
            authenticator,
            log,
            observers=observers,
            counts=self.counts,
            promises=promises,
        )
        self.node = node
        self._store = source.store
        self._idle = asyncio.Event()
        self._stop_task: asyncio.Task[None] | None = None
        self._drain_task: asyncio.Task[None] | None = None

    async def start(
        self,
        address: Address,
        ssl: SSLContext | None,
        connection_limits: ConnectionLimits,
        hosts: ConnectionCounts | None = None,
    ) -> None:
        """Open all houses, unless they are divided among nodes, and listen on an address.

        A store that is down then does not prevent the start: requests that need it are answered with an error until it
        is back. Raises OSError if the address cannot be used, ValueError and StoreUnavailable if a house cannot be
        loaded, and BusUnavailable.
        """
        if self.node is not None:
            await HoldemHouses(self.node, self.service, self.houses, self.log).join()
            await self.listen(*address, ssl=ssl, limits=connection_limits, hosts=hosts)
            return
        try:
            for house in range(1, self.service.houses + 1):
                await self.houses.open(house)
            await self.listen(*address, ssl=ssl, limits=connection_limits, hosts=hosts)
        except BaseException:
            self.houses.abandon_all()
            raise

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- the signature of an Observer
        """Observe an event during a shutdown: note when no hand is running any more."""
        if not self.service.is_playing:
            self._idle.set()

    def halt(self, *, final: bool) -> None:
        """Start no new hands; if `final`, also void the running hands and disconnect all clients."""
        if final:
            self.houses.stop_monitors()
            self._idle.set()
            self._stop_task = asyncio.get_running_loop().create_task(self.stop())
        elif self.node is not None:
            self._drain_task = asyncio.get_running_loop().create_task(self._drain(self.node))
        else:
            self._end_hands()

    async def _drain(self, node: Node) -> None:
        """Hand over all houses to other nodes; if there are none, end their hands."""
        if await node.drain(HOLDEM):
            self._idle.set()
        else:
            self._end_hands()

    def _end_hands(self) -> None:
        """Start no new hands, and notice when the last one has ended."""
        self.houses.observe(self)
        super().halt(final=False)

    async def wait_drained(self) -> None:
        """Wait until no hand is running, and after the final halt until all connections and the store are closed."""
        await self._idle.wait()
        if self._stop_task is not None:
            await self._stop_task
            if self._drain_task is not None:
                self._drain_task.cancel()
            if self.node is not None:
                self.node.remove(HOLDEM)
                await self.node.announce()
            if self._store is not None:
                await self.houses.finish_all()
                await self._store.close()


async def open_holdem(
    room_config: RoomConfig,
    server_config: ServerConfig,
    context: RoomContext,
) -> tuple[HoldemRoom, Sequence[Address]]:
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
) -> HoldemRoom:
    proxies = parse_trusted_proxies(server_config.trusted_proxies)
    connection_limits = ConnectionLimits(
        server_config.max_connections,
        server_config.max_per_address,
        keep_alive_timeout=server_config.idle_seconds,
        trusted_proxies=proxies,
    )
    authenticator = Authenticator(None if source.store is None else StoredUsers(source.store))
    context.exits.callback(authenticator.close)
    room = HoldemRoom(
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
