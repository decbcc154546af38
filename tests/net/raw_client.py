"""Small sessions to plug into a switchboard, and clients that call it with a bare socket."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.session import Address, Closing, Drop, Effect, Event, Joined, Left, Received, Send, Timeouts
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import loop_factory
from croupier.rooms import HOUSE_ROOMS

LOOPS = {"asyncio": asyncio.new_event_loop} | (
    {"uvloop": loop_factory()} if loop_factory() is not asyncio.new_event_loop else {}
)
PATIENCE = 5.0
"""Seconds after which a wait has failed."""


class Run:
    """Runs a test's coroutine on a new loop; `faults` are the errors that the loop was told of and nobody has taken."""

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self.faults: list[BaseException | str] = []
        self._factory = loop_factory

    def __call__[T](self, main: Coroutine[Any, Any, T]) -> T:
        async def watched() -> T:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, told: self.faults.append(told.get("exception") or told["message"]))
            async with asyncio.timeout(3 * PATIENCE):
                return await main

        with asyncio.Runner(loop_factory=self._factory) as runner:
            return runner.run(watched())


class Words:
    """A codec for tests: a word a line; a line that begins with `?` breaks clause test-1, with `!` for good."""

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


class Notes:
    """A session that writes down what it hears and answers as the test says; by default it says every word back.

    When the room closes it drops everybody.
    """

    def __init__(self, answer: Callable[[Event[Any], float], Sequence[Effect[Any]]] | None = None) -> None:
        self.deadline: float | None = None
        self.events: list[Event[Any]] = []
        self.here: set[int] = set()
        self._answer = answer or (
            lambda event, now: [Send(event.peer, event.message)] if type(event) is Received else []
        )
        self._news = asyncio.Event()

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        self.events.append(event)
        self._news.set()
        match event:
            case Joined(peer):
                self.here.add(peer)
            case Left(peer):
                self.here.discard(peer)
            case Closing():
                return [Drop(peer) for peer in sorted(self.here)]
            case _:
                pass
        return self._answer(event, now)

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def hears(self, kind: type[Any], times: int = 1) -> list[Any]:
        """Wait until events of this kind have come so many times."""
        async with asyncio.timeout(PATIENCE):
            while len(self.told(kind)) < times:
                self._news.clear()
                await self._news.wait()
        return self.told(kind)


@asynccontextmanager
async def opened(session: Any, **options: Any) -> AsyncIterator[tuple[Endpoint, Address]]:
    """A switchboard that listens on a free port; at the end the room closes, and everybody has to leave."""
    options = {"codec": Words, "log": silent_logger()} | options
    board = Endpoint(session, **options)
    address = await board.listen("127.0.0.1", 0)
    try:
        yield board, address
    finally:
        board.halt(final=True)
        async with asyncio.timeout(PATIENCE):
            await board.wait_drained()


def kuhn(**settings: Any) -> dict[str, Any]:
    """What to open a Kuhn room with: `session` and the options of a switchboard. Luck is that of seed 1."""
    room = HOUSE_ROOMS["kuhn"]
    seating = room.house(room.settings(**settings), Timeouts(), False)
    return {
        "session": Hall(seating, dealer_factory(lambda table: derive_server_seed(1, room.name, table))),
        "codec": lambda: room.codec(False, None),
        "refusal": room.refusal_messages,
    }


class Caller:
    """A client's bare socket. `buffer` limits what its kernel buffers hold."""

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

    async def say(self, data: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._loop.sock_sendall(self.socket, data)

    async def hear(self, length: int) -> bytes:
        """So many bytes, or fewer when the connection ends before."""
        found = bytearray()
        async with asyncio.timeout(PATIENCE):
            while len(found) < length and (data := await self._loop.sock_recv(self.socket, length - len(found))):
                found += data
        return bytes(found)

    async def rest(self) -> bytes:
        """Everything until the other side closes its direction. Raises ConnectionResetError on a reset."""
        found = bytearray()
        async with asyncio.timeout(PATIENCE):
            while data := await self._loop.sock_recv(self.socket, 1 << 16):
                found += data
        return bytes(found)

    async def ask(self, data: bytes, answer: bytes) -> None:
        """Say this, and hear that."""
        await self.say(data)
        assert await self.hear(len(answer)) == answer

    def stop_talking(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def hang_up(self) -> None:
        self.socket.close()

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Wire(asyncio.Transport):
    """A transport without a socket that writes down what is done to it."""

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


__all__ = ["LOOPS", "PATIENCE", "Caller", "EndpointLimits", "Notes", "Run", "Wire", "Words", "kuhn", "opened"]
