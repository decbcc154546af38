"""All connections of a player under test: the table that it joins, the players that it calls, and who calls it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol, cast

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.outcomes import dialogue_line
from croupier.conformance.oldmaid.reader import MessageReader
from croupier.conformance.program import free_port
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.rooms.oldmaid.wire import Dialect

HOST: Final = "127.0.0.1"

MIN_DIALOGUE_LINES: Final = 500
"""So many lines of a dialogue are kept, at least: a program may talk for ever."""


class RunningProgram(Protocol):
    """A program under test that was started: see `Program`."""

    @property
    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        ...

    @property
    def stderr(self) -> bytes:
        """What it has written as its errors."""
        ...

    def stderr_excerpt(self) -> str:
        """The end of its errors, for a sentence."""
        ...

    async def stop(self) -> None:
        """End it."""
        ...


type StartProgram = Callable[[Mapping[str, object]], Awaitable[RunningProgram]]
"""Starts the program under test; it is told host, port and nick."""


class ProgramConnection(asyncio.Protocol):
    """A connection with the program. `name` is who is at our end of it; the table is called so.

    `heard` has what the program has said and nobody has looked at, and `ended` says that it has hung up.
    """

    def __init__(self, endpoints: "ProgramEndpoints", name: str, *, called: bool) -> None:
        self.name = name
        self.is_outgoing = called
        self.on_datad: deque[ReceivedMessage] = deque()
        self.has_ended = False
        self.is_closed = False
        self.address: Address = (HOST, 0)
        self.reader = MessageReader(
            "table" if name == "table" else "player", detected_dialect=endpoints.detected_dialect
        )
        self._endpoints = endpoints
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.address = (name[0], name[1]) if name else (HOST, 0)
        self._endpoints.add_connection(self)

    def data_received(self, data: bytes) -> None:
        """The program says something."""
        for heard in self.reader.feed(data):
            self._endpoints.add_line(CLIENT, self, heard.data)
            self.on_datad.append(heard)
        self._endpoints.notify()

    def eof_received(self) -> bool:
        """The program hangs up."""
        self._set_ended()
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- however it ends, it has ended
        """The connection is closed."""
        self._set_ended()

    def _set_ended(self) -> None:
        self.has_ended = True
        self._endpoints.notify()

    def send(self, data: bytes) -> None:
        """Say something to the program."""
        self._endpoints.add_line(HOUSE, self, data)
        self._endpoints.send(self, data)

    def close(self) -> None:
        """Hang up, behind all that was said."""
        self._endpoints.send(self, None)

    def write(self, data: bytes | None) -> None:
        """Let these bytes leave; None is the end of the connection."""
        if data is None:
            self.is_closed = True
            self._transport.close()
        elif not self.is_closed:
            self._transport.write(data)


class ProgramEndpoints:
    """Listens for the program as the table and as players, and calls it; `me` is its nick, None before it has joined.

    When it is `sealed` no more is added to the dialogue: what is wrong with the program is in its last line.
    `arrived` is told of every connection, `moved` whenever the program has done anything, and then `stirred` is set.
    What we say leaves in pieces of `chop` bytes (0: whole) with `delay` seconds before each. We list players in the
    `dialect`, and what the program says is read by the `spelling`, if there is one.
    """

    def __init__(self, *, dialect: Dialect = "document", detected_dialect: JsonDialect | None = None) -> None:
        self.piece_bytes = 0
        self.delay_seconds = 0.0
        self.dialect: Dialect = dialect
        self.detected_dialect = detected_dialect
        self.nick: str | None = None
        self.is_dialogue_closed = False
        self.dialogue: list[DialogueLine] = []
        self.on_connection: Callable[[ProgramConnection], None] = lambda _: None
        self.on_activity: Callable[[], None] = lambda: None
        self.activity = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._servers: dict[str, asyncio.Server] = {}
        self._connections: list[ProgramConnection] = []
        self._outbox: deque[tuple[ProgramConnection, bytes | None]] = deque()

    async def listen(self, name: str) -> Address:
        """Listen as the table, or as a player: where."""
        server = await self._loop.create_server(lambda: ProgramConnection(self, name, called=False), HOST, 0)
        self._servers[name] = server
        address: Address = server.sockets[0].getsockname()[:2]
        return address

    async def unused_address(self) -> Address:
        """An address at which nobody listens."""
        return HOST, await free_port(HOST)

    async def connect(self, name: str, address: Address, seconds: float) -> ProgramConnection | None:
        """Call the program as a player; None when it does not answer. It may not listen yet, so it is tried again."""
        end = self._loop.time() + seconds
        while True:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(max(0.05, end - self._loop.time())):
                    _, link = await self._loop.create_connection(
                        lambda: ProgramConnection(self, name, called=True), *address
                    )
                    return link
            if self._loop.time() >= end:
                return None
            await asyncio.sleep(0.05)

    def stop_listening(self, name: str) -> None:
        """Somebody does not listen any more."""
        if name in self._servers:
            self._servers.pop(name).close()

    async def close(self) -> None:
        """Hang up on everybody, and listen no more."""
        for server in self._servers.values():
            server.close()
        self._outbox.clear()
        for link in self._connections:
            link.write(None)
        await asyncio.sleep(0)

    # What happens.

    def add_connection(self, connection: ProgramConnection) -> None:
        """A connection is there."""
        self._connections.append(connection)
        self.on_connection(connection)
        self.notify()

    def notify(self) -> None:
        """The program has said something, or hung up, or come."""
        self.activity.set()
        self.on_activity()

    def add_line(self, side: int, connection: ProgramConnection, data: bytes) -> None:
        """Something was said, or with no bytes somebody of ours has hung up."""
        if self.is_dialogue_closed:
            return
        ends = (self.nick or "player", connection.name)
        sender, receiver = ends if side == CLIENT else ends[::-1]
        self.dialogue.append(dialogue_line(side, sender, receiver, data, self._loop.time()))
        if len(self.dialogue) > 2 * MIN_DIALOGUE_LINES:
            del self.dialogue[:MIN_DIALOGUE_LINES]

    def send(self, connection: ProgramConnection, data: bytes | None) -> None:
        """Send bytes in pieces, in the order in which they were said to whomever; None is the end of a connection."""
        if not (self.piece_bytes or self.delay_seconds):
            connection.write(data)
            return
        idle = not self._outbox
        step = self.piece_bytes or len(data or b"")
        pieces = [None] if data is None else [data[at : at + step] for at in range(0, len(data), step)]
        self._outbox += ((connection, piece) for piece in pieces)
        if idle:
            self._loop.call_later(self.delay_seconds, self._send_next)

    def _send_next(self) -> None:
        """The next piece leaves, unless all is over."""
        if not self._outbox:
            return
        link, piece = self._outbox.popleft()
        link.write(piece)
        if self._outbox:
            self._loop.call_later(self.delay_seconds, self._send_next)
