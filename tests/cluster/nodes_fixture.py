"""Nodes of a cluster in one process, with a store that they share, on a bus in memory or on that of a test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from croupier.cluster.bus import Bus
from croupier.cluster.holdem_houses import HoldemHouses
from croupier.cluster.lease import Timing, preferred_owner
from croupier.cluster.node import Node
from croupier.core.logger import SilentLogger
from tests.app.houses_fixture import StoredRoom, stored_room
from tests.cluster.bus_contract import Connect
from tests.cluster.memory_bus import MemoryBus, MemoryHub
from tests.net.raw_client import TIMEOUT_SECONDS

QUICK_TIMING = Timing(renew=0.05, lease=1.0, judge=0.4, wait=0.1, settle=0.2, check=0.01)
"""Long enough that a node is not fenced by the work of this process."""


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


class ClusterNode:
    """A node with its room; requests to the room are as to a server."""

    def __init__(self, web: StoredRoom, node: Node, bus: Bus) -> None:
        self.web = web
        self.node = node
        self.bus = bus

    @property
    def houses(self) -> list[int]:
        """The houses that run here."""
        return sorted(self.web.group.services)

    def kill(self) -> None:
        """End the node as a lost process: it says nothing any more."""
        for task in self.node._tasks:
            task.cancel()
        self.web.room.houses.abandon_all()
        self.web.group.trouble = "killed"
        assert isinstance(self.bus, MemoryBus)
        self.bus.is_cut_off = True
        self.bus._handlers.clear()


class Cluster:
    """Nodes that can be added, cut off and killed. Each connects to the hub in memory, or with `connect`."""

    def __init__(
        self,
        url: str,
        houses: int,
        stack: AsyncExitStack,
        settings: dict[str, Any],
        connect: Connect | None = None,
        timing: Timing = QUICK_TIMING,
    ) -> None:
        self.hub = MemoryHub()
        self.nodes: list[ClusterNode] = []
        self._connect = connect
        self._timing = timing
        self._url = url
        self._houses = houses
        self._stack = stack
        self._settings = settings

    async def add(self, name: str) -> ClusterNode:
        web = await self._stack.enter_async_context(stored_room(self._url, self._houses, **self._settings))
        bus = self.hub.connect() if self._connect is None else await self._connect()
        node = Node(name, bus, SilentLogger(), timing=self._timing)
        self._stack.push_async_callback(node.stop)
        await node.start()
        await HoldemHouses(node, web.group, web.room.houses, SilentLogger()).join()
        self.nodes.append(ClusterNode(web, node, bus))
        return self.nodes[-1]

    async def settled(self, nodes: Sequence[ClusterNode] = ()) -> None:
        """Wait until every house runs at its preferred owner among these nodes, or all, and all of them show it."""
        await until(lambda: self._is_settled(nodes or self.nodes), "settled")

    def _is_settled(self, nodes: Sequence[ClusterNode]) -> bool:
        names = {node.node.name for node in nodes}
        is_running = all(
            [node.node.name for node in nodes if house in node.houses] == [preferred_owner(house, names)]
            for house in range(1, self._houses + 1)
        )
        shown = [{game.guid for game in node.web.group.views.games.tables} for node in nodes]
        return is_running and all(games == shown[0] and len(games) >= self._houses for games in shown)


@asynccontextmanager
async def cluster_of(
    url: str,
    houses: int,
    *names: str,
    connect: Connect | None = None,
    timing: Timing = QUICK_TIMING,
    **settings: Any,
) -> AsyncIterator[Cluster]:
    """A cluster with these nodes, among which the houses are divided."""
    async with AsyncExitStack() as stack:
        found = Cluster(url, houses, stack, settings, connect, timing)
        for name in names:
            await found.add(name)
        await found.settled()
        yield found
