"""Takes the connections of an HTTP service on our own loop."""

import asyncio
from asyncio import Future
from collections import Counter
from email.utils import formatdate
from socket import SO_RCVBUF, SOL_SOCKET
from ssl import SSLContext
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from croupier.core.session import Address
from croupier.http.connection import Line
from croupier.http.deferred import Application
from croupier.http.limits import Reception
from croupier.observers.counters import Counts

RECEIVE_BUFFER_BYTES = 65_536
"""What the kernel keeps of a connection, about, and so what is read from it at once; no request is larger."""


class Listener:
    """An application behind a listening socket. `counts.refused` says who found no place, and why.

    `room` is the one whose clauses refusals cite; without it they cite none.
    """

    def __init__(self, app: Application, reception: Reception, counts: Counts, room: str | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.app = app
        self.room = room
        self.date = b""
        self.reception = reception
        self.counts = counts
        self.state = ServerState()
        self.config = Config(
            app,
            http=HttpToolsProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=max(1, round(reception.idle)),
        )
        self.config.load()
        self.lines: set[Line] = set()
        self._addresses: Counter[str] = Counter()
        self._refused: set[Line] = set()
        self._server: asyncio.Server | None = None
        self._round: asyncio.TimerHandle | None = None
        self._closing = False
        self._empty = asyncio.Event()
        self._empty.set()

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Take connections on an address; port 0 picks a free one. The address that was taken. Raises OSError."""
        if not 0 <= port <= 65535:
            raise OSError(f"found the port {port}; allowed: 0 to 65535")
        self._server = await self.loop.create_server(
            lambda: Line(self),
            host,
            port,
            ssl=ssl,
            backlog=4096,
            ssl_handshake_timeout=10.0 if ssl else None,
            ssl_shutdown_timeout=self.reception.linger if ssl else None,
        )
        for listening in self._server.sockets:  # connections inherit it
            listening.setsockopt(SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        self._go_round()
        found: Address = self._server.sockets[0].getsockname()[:2]
        return found

    def close(self) -> None:
        """Take no more connections, close those that are idle, and the others when they have been answered."""
        self._closing = True
        if self._server is not None:
            self._server.close()
        for line in [*self.lines]:
            line.shutdown()

    async def empty(self, seconds: float) -> None:
        """Let what was asked be answered for so long, then close every connection."""
        if waiting := self._waiting():
            await asyncio.wait(waiting, timeout=seconds)
        for each in self._waiting():
            each.cancel()
        try:
            async with asyncio.timeout(self.reception.linger):
                await self._empty.wait()
        except TimeoutError:
            for line in [*self.lines, *self._refused]:
                line.transport.abort()
            await self._empty.wait()
        if self._round is not None:
            self._round.cancel()

    def _waiting(self) -> set[Future[Any]]:
        """What answers wait for."""
        return {*self.state.tasks, *(line.waits for line in self.lines if line.waits is not None)}

    def seat(self, line: Line, host: str) -> str:
        """Give a new connection its place; why there is none, when there is none."""
        allowed = self.reception
        reason = ""
        if self._closing:
            reason = "closing"
        elif allowed.connections and len(self.lines) >= allowed.connections:
            reason = "connections"
        elif allowed.per_address and host and self._addresses[host] >= allowed.per_address:
            reason = "per_address"
        self._empty.clear()
        if reason:
            self._refused.add(line)
        else:
            self.counts.connections += 1
            self.lines.add(line)
            self._addresses[host] += 1
        return reason

    @property
    def flooded(self) -> bool:
        """Whether there are too many who found no place."""
        return len(self._refused) > self.reception.lingering

    def unseat(self, line: Line, host: str) -> None:
        """Forget a connection that is closed."""
        self._refused.discard(line)
        if line in self.lines:
            self.lines.remove(line)
            self._addresses[host] -= 1
            if not self._addresses[host]:
                del self._addresses[host]
        if not self.lines and not self._refused:
            self._empty.set()

    def _go_round(self) -> None:
        """Once a second: the date of all answers, and a look at every connection."""
        date = formatdate(usegmt=True).encode()
        self.date = b"date: %s\r\n" % date
        self.state.default_headers = [(b"date", date)]
        now = self.loop.time()
        for line in [*self.lines]:
            line.look_after(now)
        self._round = self.loop.call_later(1.0, self._go_round)
