"""Nodes of a cluster in one process that serve Old Maid and houses with accounts on sockets, and can fail."""

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from random import Random
from typing import Any, Final, Self

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.divided_house import DividedHouse
from croupier.app.divided_table import DividedTable
from croupier.app.open_rooms import open_room
from croupier.app.room_context import OpenRoom, RoomContext
from croupier.cluster.node import Node
from croupier.core.logger import SilentLogger
from croupier.recording.shared_store import SharedStore
from croupier.rooms import ROOMS
from croupier.store.records import StoreUnavailable
from tests.cluster.memory_bus import MemoryHub

COINS: Final[Mapping[str, int]] = {"kuhn": 1000, "sevenhalf": 100_000}
"""The coins of new accounts, which suffice."""

SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "kuhn": {"coins": COINS["kuhn"], "bot": "random"},
    "sevenhalf": {"coins": COINS["sevenhalf"]},
    "oldmaid": {"players": 3, "stuck_seconds": 10.0},
}
"""The rooms of a node."""

PAUSE_SECONDS: Final = 6.0
"""Twice the lease of a node."""


class RoomNode:
    """A node with its rooms, whose ports are in `ports`."""

    def __init__(self, name: str, url: str, hub: MemoryHub) -> None:
        self.ports: dict[str, int] = {}
        self.bus = hub.connect()
        self._node = Node(name, self.bus, SilentLogger())
        self._url = url
        self._exits = AsyncExitStack()
        self._rooms: dict[str, OpenRoom] = {}
        self._shared_store = SharedStore(url)
        self._lost_writes: list[Future[Any]] = []  # kept, because tasks wait for them

    @classmethod
    async def open(cls, name: str, url: str, hub: MemoryHub) -> Self:
        """Start a node."""
        self = cls(name, url, hub)
        await self._node.start()
        config = ServerConfig(accounts="address", store=url, journal="durable")
        context = RoomContext(SilentLogger(), (), None, self._shared_store, self._exits, node=self._node)
        for room_name, settings in SETTINGS.items():
            room = ROOMS[room_name]
            room_config = RoomConfig(room, 0, room.settings(**settings))
            self._rooms[room_name], addresses = await open_room(room_config, config, context)
            self.ports[room_name] = addresses[0][1]
        return self

    async def kill(self) -> None:
        """End the node as a lost process: it writes and says nothing any more, and its sockets are closed."""
        store = self._shared_store.current
        assert store is not None
        store._committer.submit = self._lose_write  # type: ignore[assignment, method-assign]
        store._committer._task.cancel()
        self.bus.is_cut_off = True
        self.bus._handlers.clear()
        for room in self._rooms.values():
            assert isinstance(room, DividedTable | DividedHouse)
            room.stop_accepting()
            for connection in [*room.connections.values()]:
                connection.abort()
            for client in [*room._router._clients]:
                client.transport.abort()
            if isinstance(room, DividedTable):
                room.leave()
        self._node._rooms.clear()
        await self._node.stop()
        await store._engine.close()

    def _lose_write(self, _: object) -> Future[Any]:
        self._lost_writes.append(asyncio.get_running_loop().create_future())
        return self._lost_writes[-1]

    async def stop(self, seconds: float) -> None:
        """End the node in order, as after SIGTERM: running games have some time to finish."""
        for room in self._rooms.values():
            room.halt(final=False)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for room in self._rooms.values():
                    await room.wait_drained()
        for room in self._rooms.values():
            room.halt(final=True)
        for room in self._rooms.values():
            await room.wait_drained()
        await self._exits.aclose()
        await self._node.stop()

    async def pause(self, seconds: float) -> None:
        """Stop the node as if it had not noticed that time has passed: it goes on to serve its clients."""
        for task in self._node._tasks:
            task.cancel()
        await asyncio.sleep(seconds)
        loop = asyncio.get_running_loop()
        self._node._tasks = [loop.create_task(each) for each in (self._node._keep_lease(), self._node._check_forever())]

    async def lose_store(self, seconds: float, random: Random) -> None:
        """Let the store be unavailable, perhaps after a commit whose outcome the node does not learn."""
        store = self._shared_store.current
        assert store is not None
        engine: Any = store._engine
        commit = engine.commit

        async def lose_commit(writes: Any) -> Any:
            if random.random() < 0.5:
                await commit(writes)
            raise StoreUnavailable("lost")

        async def fail(*_: object) -> None:
            raise StoreUnavailable("lost")

        lost = {
            "commit": lambda writes: asyncio.ensure_future(lose_commit(writes)),
            "commit_at_once": lambda _: False,
            "reconnect": fail,
            "fetch": fail,
        }
        working = {name: getattr(engine, name) for name in lost}
        vars(engine).update(lost)
        await asyncio.sleep(seconds)
        vars(engine).update(working)


class RoomCluster:
    """Three nodes, and what can be done to them; each action leaves three."""

    def __init__(self, url: str, random: Random) -> None:
        self._url = url
        self._random = random
        self._hub = MemoryHub()
        self._nodes: dict[str, RoomNode] = {}
        self._killed: list[RoomNode] = []
        self.actions: dict[str, Callable[[str, RoomNode], Awaitable[None]]] = {
            "kill": self._kill,
            "pause": self._pause,
            "cut off": self._cut_off,
            "lose": self._lose,
            "lose store": self._lose_store,
            "drain": self._drain,
        }

    async def start(self) -> None:
        """Start the nodes."""
        for name in ("ada", "bea", "cia"):
            await self._start(name)

    async def stop(self) -> None:
        """Stop the nodes."""
        for node in self._nodes.values():
            await node.stop(0.1)

    def choose_port(self, room: str, random: Random) -> int | None:
        """See `ChoosePort`."""
        ports = [node.ports[room] for node in self._nodes.values()]
        return random.choice(ports) if ports else None

    async def do(self, action: str) -> None:
        """Do this to one of the nodes."""
        name = self._random.choice([*self._nodes])
        await self.actions[action](name, self._nodes[name])

    async def _start(self, name: str) -> None:
        self._nodes[name] = await RoomNode.open(name, self._url, self._hub)

    async def _kill(self, name: str, node: RoomNode) -> None:
        self._killed.append(self._nodes.pop(name))
        await node.kill()
        await asyncio.sleep(self._random.uniform(0.0, 5.0))
        await self._start(name)

    async def _pause(self, _: str, node: RoomNode) -> None:
        await node.pause(PAUSE_SECONDS)

    async def _cut_off(self, _: str, node: RoomNode) -> None:
        node.bus.is_cut_off = True
        await asyncio.sleep(self._random.uniform(0.5, PAUSE_SECONDS))
        node.bus.is_cut_off = False

    async def _lose(self, _: str, node: RoomNode) -> None:
        node.bus.loses = lambda *_: self._random.random() < 0.3
        await asyncio.sleep(2.0)
        node.bus.loses = lambda *_: False

    async def _lose_store(self, _: str, node: RoomNode) -> None:
        await node.lose_store(self._random.uniform(0.1, 3.0), self._random)

    async def _drain(self, name: str, _: RoomNode) -> None:
        await self._nodes.pop(name).stop(3.0)
        await self._start(name)
