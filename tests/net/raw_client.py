"""Test sessions for endpoints, and a client that is a plain socket."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Closing, Drop, Effect, Event, Joined, Left, Received, Send, Timeouts
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import loop_factory
from croupier.rooms import HOUSE_ROOMS

LOOPS = {"asyncio": asyncio.new_event_loop} | (
    {"uvloop": loop_factory()} if loop_factory() is not asyncio.new_event_loop else {}
)
TIMEOUT_SECONDS = 60.0
"""Seconds after which a wait fails the test."""


class Run:
    """Runs a test's coroutine on a new event loop. `faults` are the unhandled errors that the loop reported."""

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self.faults: list[BaseException | str] = []
        self._factory = loop_factory

    def __call__[T](self, main: Coroutine[Any, Any, T]) -> T:
        async def run_with_timeout() -> T:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(
                lambda _, context: self.faults.append(context.get("exception") or context["message"])
            )
            async with asyncio.timeout(3 * TIMEOUT_SECONDS):
                return await main

        with asyncio.Runner(loop_factory=self._factory) as runner:
            return runner.run(run_with_timeout())


class WordCodec:
    """A codec with one word per line. A line that begins with `?` violates clause test-1; with `!`, fatally."""

    def __init__(self) -> None:
        self.tolerated: set[str] = set()
        self._rest = b""

    def feed(self, data: bytes) -> Sequence[str | Violation]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [
            Violation("test-1", line.decode(), "a word", fatal=line[:1] == b"!")
            if line[:1] in b"?!" and line
            else line.decode()
            for line in lines
        ]

    def encode(self, message: str) -> bytes:
        return message.encode() + b"\n"


class RecordingSession:
    """A session that records its events and answers with `answer`; by default it echoes every message.

    On Closing it drops every peer.
    """

    def __init__(self, answer: Callable[[Event[Any], float], Sequence[Effect[Any]]] | None = None) -> None:
        self.deadline: float | None = None
        self.events: list[Event[Any]] = []
        self.peers: set[int] = set()
        self._answer = answer or (
            lambda event, now: [Send(event.peer, event.message)] if type(event) is Received else []
        )
        self._news = asyncio.Event()

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        self.events.append(event)
        self._news.set()
        match event:
            case Joined(peer):
                self.peers.add(peer)
            case Left(peer):
                self.peers.discard(peer)
            case Closing():
                return [Drop(peer) for peer in sorted(self.peers)]
            case _:
                pass
        return self._answer(event, now)

    def events_of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[Any], times: int = 1) -> list[Any]:
        """Wait until at least `times` events of this type have been received, and return all of them."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while len(self.events_of(kind)) < times:
                self._news.clear()
                await self._news.wait()
        return self.events_of(kind)


@asynccontextmanager
async def opened(session: Any, **options: Any) -> AsyncIterator[tuple[Endpoint, Address]]:
    """An endpoint that listens on a free port; at the end it halts, and all connections have to close."""
    options = {"codec_factory": WordCodec, "log": SilentLogger()} | options
    endpoint = Endpoint(session, **options)
    address = await endpoint.listen("127.0.0.1", 0)
    try:
        yield endpoint, address
    finally:
        endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()


def kuhn(**settings: Any) -> dict[str, Any]:
    """Arguments of `opened` for a Kuhn room whose deals are those of seed 1."""
    room = HOUSE_ROOMS["kuhn"]
    house = room.house(room.settings(**settings), Timeouts(), False)
    return {
        "session": Hall(
            house, dealer_factory(lambda table: derive_server_seed(1, room.name, table)), Timeouts().shortest
        ),
        "codec_factory": lambda: room.codec(False, None),
        "refusal": room.refusal_messages,
    }


class RawClient:
    """A client that is a plain socket. `buffer` limits its kernel buffers, in bytes."""

    def __init__(self, address: Address, buffer: int | None = None) -> None:
        self._address = address
        self._loop = asyncio.get_running_loop()
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)

    async def __aenter__(self) -> Self:
        await self._loop.sock_connect(self.socket, self._address)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.socket.close()

    async def send(self, data: bytes) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self._loop.sock_sendall(self.socket, data)

    async def receive(self, length: int) -> bytes:
        """Receive `length` bytes, or fewer if the connection ends before."""
        received = bytearray()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while len(received) < length and (data := await self._loop.sock_recv(self.socket, length - len(received))):
                received += data
        return bytes(received)

    async def read_to_end(self) -> bytes:
        """Receive everything until the other side ends its output. Raises ConnectionResetError on a reset."""
        received = bytearray()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while data := await self._loop.sock_recv(self.socket, 1 << 16):
                received += data
        return bytes(received)

    async def exchange(self, data: bytes, answer: bytes) -> None:
        """Send data and expect this answer."""
        await self.send(data)
        assert await self.receive(len(answer)) == answer

    def end_output(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class MemoryTransport(asyncio.Transport):
    """A transport without a socket that records what is done to it."""

    def __init__(self, host: str = "192.0.2.1", port: int = 1) -> None:
        super().__init__({"peername": (host, port)})
        self.writes: list[bytes] = []
        self.ended = False
        self.aborted = False

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def write_eof(self) -> None:
        self.ended = True

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.aborted = True


__all__ = [
    "LOOPS",
    "TIMEOUT_SECONDS",
    "EndpointLimits",
    "MemoryTransport",
    "RawClient",
    "RecordingSession",
    "Run",
    "WordCodec",
    "kuhn",
    "opened",
]
