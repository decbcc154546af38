"""A bus between the processes of one machine: the connection of a process to a local hub.

When the process of the hub ends, so do all connections. They cannot be restored; every call then raises BusUnavailable.
"""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count

from croupier.cluster.bus import BusUnavailable, KeyChange, NotDelivered, WrongRevision
from croupier.cluster.local_hub import Frame, FrameKind, decode_frame, encode_frame, matches
from croupier.net.event_loop import start_task
from croupier.net.frame_link import FrameLink

type RequestHandler = Callable[[bytes], Awaitable[bytes]]
type MessageHandler = Callable[[str, bytes], None]


class KeyWatch:
    """The changes that a watch has not yielded yet: the last one of each key."""

    def __init__(self) -> None:
        self.changes: dict[str, KeyChange] = {}
        self.has_news = asyncio.Event()

    def add(self, change: KeyChange) -> None:
        """Add a change; it replaces an earlier one of the key."""
        self.changes.pop(change.key, None)  # so that changes are yielded in the order of their revisions
        self.changes[change.key] = change
        self.has_news.set()


class LocalBus:
    """A process's connection to a local hub. See `Bus`.

    `lost` is done when the connection has ended; without a call of `close`, the process of the hub has ended.
    """

    def __init__(self) -> None:
        self.lost: Future[None] = asyncio.get_running_loop().create_future()
        self._link = FrameLink(lambda data: self._on_frame(decode_frame(data)), self._on_closed)
        self._ids = count(1)
        self._replies: dict[int, Future[Frame]] = {}
        self._handlers: dict[str, RequestHandler] = {}
        self._subscriptions: list[tuple[str, MessageHandler]] = []
        self._watches: dict[int, KeyWatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, descriptor: int) -> "LocalBus":
        """Open the connection of a descriptor from `LocalHub.attach`. Raises OSError."""
        bus = cls()
        await bus._link.open(descriptor)
        return bus

    @property
    def is_connected(self) -> bool:
        """See `Bus`."""
        return not self.lost.done()

    async def request(self, subject: str, body: bytes, timeout: float) -> bytes:
        """See `Bus`."""
        reply = await self._ask(Frame(FrameKind.REQUEST, next(self._ids), subject, body), timeout)
        if reply.kind is FrameKind.UNSERVED:
            raise NotDelivered(f"{subject}: nobody serves it")
        if reply.body is None:
            raise BusUnavailable(f"{subject}: nobody answers")
        return reply.body

    async def serve(self, subject: str, handler: RequestHandler) -> None:
        """See `Bus`. Of several processes that serve a subject, the one that was started first answers."""
        self._handlers[subject] = handler
        await self._ask(Frame(FrameKind.SERVE, next(self._ids), subject), None)

    async def publish(self, subject: str, body: bytes) -> None:
        """See `Bus`."""
        self._send(Frame(FrameKind.MESSAGE, 0, subject, body))

    async def subscribe(self, pattern: str, handler: MessageHandler) -> None:
        """See `Bus`."""
        self._subscriptions.append((pattern, handler))
        await self._ask(Frame(FrameKind.SUBSCRIBE, next(self._ids), pattern), None)

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int:
        """See `Bus`."""
        written = await self._ask(Frame(FrameKind.WRITE, next(self._ids), key, value, revision), None)
        if not written.revision:
            raise WrongRevision(f"{key}: found another revision than {revision}")
        return written.revision

    async def watch(self, pattern: str) -> AsyncIterator[KeyChange]:
        """See `Bus`."""
        number, watch = next(self._ids), KeyWatch()
        self._watches[number] = watch
        self._send(Frame(FrameKind.WATCH, number, pattern))
        try:
            while not self.lost.done():
                while watch.changes:
                    yield watch.changes.pop(next(iter(watch.changes)))
                watch.has_news.clear()
                await watch.has_news.wait()
        finally:
            del self._watches[number]
            if not self.lost.done():
                self._send(Frame(FrameKind.UNWATCH, number))

    async def close(self) -> None:
        """Close the connection; watches end, and requests have no answer."""
        self._link.abort()
        await asyncio.wait([self.lost])

    def _send(self, frame: Frame) -> None:
        if self.lost.done():
            raise NotDelivered("the connection to the bus is lost")
        self._link.send(encode_frame(frame))

    async def _ask(self, frame: Frame, timeout: float | None) -> Frame:
        """Send a frame, and return what answers its number. Raises BusUnavailable."""
        self._send(frame)
        reply: Future[Frame] = asyncio.get_running_loop().create_future()
        self._replies[frame.id] = reply
        try:
            async with asyncio.timeout(timeout):
                return await reply
        except TimeoutError:
            raise BusUnavailable(f"{frame.name}: no answer within {timeout:g} seconds") from None
        finally:
            del self._replies[frame.id]
            if reply.cancelled() and not self.lost.done():
                self._send(Frame(FrameKind.CANCEL, frame.id))

    def _on_frame(self, frame: Frame) -> None:
        match frame.kind:
            case FrameKind.REQUEST:
                start_task(self._tasks, self._answer(frame))
            case FrameKind.REPLY | FrameKind.UNSERVED | FrameKind.WRITTEN:
                if (reply := self._replies.get(frame.id)) is not None and not reply.done():
                    reply.set_result(frame)
            case FrameKind.MESSAGE:
                for pattern, handler in self._subscriptions:
                    if matches(pattern, frame.name):
                        handler(frame.name, frame.body or b"")
            case FrameKind.CHANGE:
                if (watch := self._watches.get(frame.id)) is not None:
                    watch.add(KeyChange(frame.name, frame.body or b"", frame.revision))
            case _:
                raise AssertionError(f"found {frame}; allowed: the frames of a hub")

    async def _answer(self, frame: Frame) -> None:
        body: bytes | None = None
        try:
            body = await self._handlers[frame.name](frame.body or b"")
        finally:
            if not self.lost.done():
                self._send(Frame(FrameKind.REPLY, frame.id, "", body))

    def _on_closed(self) -> None:
        self.lost.set_result(None)
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(BusUnavailable("the connection to the bus is lost"))
        for watch in self._watches.values():
            watch.has_news.set()
