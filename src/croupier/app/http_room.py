"""The hold'em room: an HTTP server, its houses and its shutdown, behind the interface of an open room."""

import asyncio
from collections.abc import Sequence
from ssl import SSLContext
from typing import Any

from croupier.cluster.holdem_houses import HoldemHouses
from croupier.cluster.lease import HOLDEM
from croupier.cluster.node import Node
from croupier.core.logger import Logger
from croupier.core.session import Address, Effect, Event, Observer
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import TablesApp
from croupier.http.house_group import HouseGroup
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.local_houses import HouseSource, LocalHouses
from croupier.net.client_addresses import TrustedProxies
from croupier.net.count_limit import ConnectionCounts
from croupier.recording.promises import Promises
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.places import user_guid


class HttpRoom(TablesApp):
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
