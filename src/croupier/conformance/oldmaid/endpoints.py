"""All connections of a player under test: the table that it joins, the players that it calls, and who calls it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final, Protocol, cast

from croupier.conformance.conversation import Line
from croupier.conformance.oldmaid.answers import Heard
from croupier.conformance.oldmaid.dialect import Spelling
from croupier.conformance.oldmaid.findings import line
from croupier.conformance.oldmaid.reader import Ear
from croupier.conformance.program import free_port
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.rooms.oldmaid.wire import Dialect

HOST: Final = "127.0.0.1"

KEPT: Final = 500
"""So many lines of a dialogue are kept, at least: a program may talk for ever."""


class Running(Protocol):
    """A program under test that was started: see `Program`."""

    @property
    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        ...

    @property
    def stderr(self) -> bytes:
        """What it has written as its errors."""
        ...

    def complaint(self) -> str:
        """The end of its errors, for a sentence."""
        ...

    async def stop(self) -> None:
        """End it."""
        ...


type Start = Callable[[Mapping[str, object]], Awaitable[Running]]
"""Starts the program under test; it is told host, port and nick."""


class Link(asyncio.Protocol):
    """A connection with the program. `name` is who is at our end of it; the table is called so.

    `heard` has what the program has said and nobody has looked at, and `ended` says that it has hung up.
    """

    def __init__(self, harbour: "Harbour", name: str, *, called: bool) -> None:
        self.name = name
        self.called = called
        self.heard: deque[Heard] = deque()
        self.ended = False
        self.closed = False
        self.address: Address = (HOST, 0)
        self.ear = Ear("table" if name == "table" else "player", spelling=harbour.spelling)
        self._harbour = harbour
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.address = (name[0], name[1]) if name else (HOST, 0)
        self._harbour.came(self)

    def data_received(self, data: bytes) -> None:
        """The program says something."""
        for heard in self.ear.feed(data):
            self._harbour.note(CLIENT, self, heard.data)
            self.heard.append(heard)
        self._harbour.stir()

    def eof_received(self) -> bool:
        """The program hangs up."""
        self._end()
        return False

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- however it ends, it has ended
        """The connection is closed."""
        self._end()

    def _end(self) -> None:
        self.ended = True
        self._harbour.stir()

    def say(self, data: bytes) -> None:
        """Say something to the program."""
        self._harbour.note(HOUSE, self, data)
        self._harbour.send(self, data)

    def close(self) -> None:
        """Hang up, behind all that was said."""
        self._harbour.send(self, None)

    def write(self, data: bytes | None) -> None:
        """Let these bytes leave; None is the end of the connection."""
        if data is None:
            self.closed = True
            self._transport.close()
        elif not self.closed:
            self._transport.write(data)


class Harbour:
    """Listens for the program as the table and as players, and calls it; `me` is its nick, None before it has joined.

    When it is `sealed` no more is added to the dialogue: what is wrong with the program is in its last line.
    `arrived` is told of every connection, `moved` whenever the program has done anything, and then `stirred` is set.
    What we say leaves in pieces of `chop` bytes (0: whole) with `delay` seconds before each. We list players in the
    `dialect`, and what the program says is read by the `spelling`, if there is one.
    """

    def __init__(self, *, dialect: Dialect = "document", spelling: Spelling | None = None) -> None:
        self.chop = 0
        self.delay = 0.0
        self.dialect: Dialect = dialect
        self.spelling = spelling
        self.me: str | None = None
        self.sealed = False
        self.dialogue: list[Line] = []
        self.arrived: Callable[[Link], None] = lambda _: None
        self.moved: Callable[[], None] = lambda: None
        self.stirred = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._servers: dict[str, asyncio.Server] = {}
        self._links: list[Link] = []
        self._leaving: deque[tuple[Link, bytes | None]] = deque()

    async def open(self, name: str) -> Address:
        """Listen as the table, or as a player: where."""
        server = await self._loop.create_server(lambda: Link(self, name, called=False), HOST, 0)
        self._servers[name] = server
        address: Address = server.sockets[0].getsockname()[:2]
        return address

    async def nowhere(self) -> Address:
        """An address at which nobody listens."""
        return HOST, await free_port(HOST)

    async def call(self, name: str, address: Address, seconds: float) -> Link | None:
        """Call the program as a player; None when it does not answer. It may not listen yet, so it is tried again."""
        end = self._loop.time() + seconds
        while True:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(max(0.05, end - self._loop.time())):
                    _, link = await self._loop.create_connection(lambda: Link(self, name, called=True), *address)
                    return link
            if self._loop.time() >= end:
                return None
            await asyncio.sleep(0.05)

    def shut(self, name: str) -> None:
        """Somebody does not listen any more."""
        if name in self._servers:
            self._servers.pop(name).close()

    async def close(self) -> None:
        """Hang up on everybody, and listen no more."""
        for server in self._servers.values():
            server.close()
        self._leaving.clear()
        for link in self._links:
            link.write(None)
        await asyncio.sleep(0)

    # What happens.

    def came(self, link: Link) -> None:
        """A connection is there."""
        self._links.append(link)
        self.arrived(link)
        self.stir()

    def stir(self) -> None:
        """The program has said something, or hung up, or come."""
        self.stirred.set()
        self.moved()

    def note(self, side: int, link: Link, data: bytes) -> None:
        """Something was said, or with no bytes somebody of ours has hung up."""
        if self.sealed:
            return
        ends = (self.me or "player", link.name)
        sender, receiver = ends if side == CLIENT else ends[::-1]
        self.dialogue.append(line(side, sender, receiver, data, self._loop.time()))
        if len(self.dialogue) > 2 * KEPT:
            del self.dialogue[:KEPT]

    def send(self, link: Link, data: bytes | None) -> None:
        """Send bytes in pieces, in the order in which they were said to whomever; None is the end of a connection."""
        if not (self.chop or self.delay):
            link.write(data)
            return
        idle = not self._leaving
        step = self.chop or len(data or b"")
        pieces = [None] if data is None else [data[at : at + step] for at in range(0, len(data), step)]
        self._leaving += ((link, piece) for piece in pieces)
        if idle:
            self._loop.call_later(self.delay, self._go)

    def _go(self) -> None:
        """The next piece leaves, unless all is over."""
        if not self._leaving:
            return
        link, piece = self._leaving.popleft()
        link.write(piece)
        if self._leaving:
            self._loop.call_later(self.delay, self._go)
