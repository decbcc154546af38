"""A bus in memory for tests. Connections can be cut off, and keys survive while the hub is down."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from croupier.cluster.bus import BusUnavailable, KeyChange, NotDelivered, WrongRevision


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject matches a pattern; see `Bus`."""
    wanted, found = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        return len(found) >= len(wanted) and matches(".".join(wanted[:-1]), ".".join(found[: len(wanted) - 1]))
    return len(wanted) == len(found) and all(one in {"*", other} for one, other in zip(wanted, found, strict=True))


class MemoryHub:
    """What the connections of a bus share: who serves what, and the keys."""

    def __init__(self) -> None:
        self.keys: dict[str, KeyChange] = {}
        self.revision = 0
        self.connections: list[MemoryBus] = []

    def connect(self) -> "MemoryBus":
        bus = MemoryBus(self)
        self.connections.append(bus)
        return bus


class MemoryBus:
    """A connection to a hub. While it `is_cut_off`, nothing goes in or out; `loses` says which messages do not come."""

    def __init__(self, hub: MemoryHub) -> None:
        self.is_cut_off = False
        self.loses: Callable[[str, bytes], bool] = lambda _subject, _body: False
        self._hub = hub
        self._handlers: dict[str, Callable[[bytes], Awaitable[bytes]]] = {}
        self._subscriptions: list[tuple[str, Callable[[str, bytes], None]]] = []
        self._watches: list[tuple[str, asyncio.Queue[KeyChange | None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def request(self, subject: str, body: bytes, timeout: float) -> bytes:
        if not self.is_connected:
            raise NotDelivered(subject)
        server = next((bus for bus in self._hub.connections if subject in bus._handlers), None)
        if server is None:
            raise NotDelivered(subject)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def perform() -> None:
            if not server.is_cut_off:
                found = await server._handlers[subject](body)
                if not (answer.done() or server.is_cut_off or self.is_cut_off):
                    answer.set_result(found)

        task = asyncio.get_running_loop().create_task(perform())
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise BusUnavailable(subject) from None

    async def serve(self, subject: str, handler: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._handlers[subject] = handler

    async def publish(self, subject: str, body: bytes) -> None:
        self._check()
        for bus in self._hub.connections:
            for pattern, handler in bus._subscriptions:
                if not bus.is_cut_off and matches(pattern, subject) and not bus.loses(subject, body):
                    asyncio.get_running_loop().call_soon(handler, subject, body)

    async def subscribe(self, pattern: str, handler: Callable[[str, bytes], None]) -> None:
        self._subscriptions.append((pattern, handler))

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int:
        self._check()
        found = self._hub.keys.get(key)
        if (0 if found is None else found.revision) != revision:
            raise WrongRevision(key)
        self._hub.revision += 1
        change = self._hub.keys[key] = KeyChange(key, value, self._hub.revision)
        for bus in self._hub.connections:
            if bus.is_cut_off:
                bus._watches.clear()  # they yield nothing more
            for pattern, queue in bus._watches:
                if matches(pattern, key):
                    queue.put_nowait(change)
        return self._hub.revision

    async def watch(self, pattern: str) -> AsyncIterator[KeyChange]:
        self._check()
        queue: asyncio.Queue[KeyChange | None] = asyncio.Queue()
        for change in self._hub.keys.values():
            if matches(pattern, change.key):
                queue.put_nowait(change)
        entry = (pattern, queue)
        self._watches.append(entry)
        try:
            while (next_change := await queue.get()) is not None:
                yield next_change
        finally:
            if entry in self._watches:
                self._watches.remove(entry)

    async def close(self) -> None:
        for _, queue in self._watches:
            queue.put_nowait(None)
        if self in self._hub.connections:
            self._hub.connections.remove(self)

    @property
    def is_connected(self) -> bool:
        return not self.is_cut_off and self in self._hub.connections

    def _check(self) -> None:
        if not self.is_connected:
            raise BusUnavailable("cut off")

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # a handler that raises gives no answer
