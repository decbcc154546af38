"""HTTP server: accepts connections, limits them and closes them."""

import asyncio
from asyncio import Future
from email.utils import formatdate
from ssl import SSLContext
from typing import Any

from croupier.core.session import Address
from croupier.http.connection import HttpConnection
from croupier.http.limits import ConnectionLimits
from croupier.http.messages import Application
from croupier.net.count_limit import ConnectionCounts, CountLimit
from croupier.net.event_loop import wait_set
from croupier.net.listening_socket import LISTEN_BACKLOG, bind_sockets, bound_address
from croupier.net.stop_listening import stop_listening
from croupier.net.timer import Timer
from croupier.observers.counters import RoomCounters


class HttpServer:
    """An application behind a listening socket. `counts.refused` counts refused connections by reason.

    Error responses cite clauses of `room`, or none without a room. `pending` are the futures that answers wait for.
    `hosts` counts the connections for the limits, if other processes serve the room as well.
    """

    def __init__(
        self,
        app: Application,
        limits: ConnectionLimits,
        counts: RoomCounters,
        room: str | None = None,
        hosts: ConnectionCounts | None = None,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.app = app
        self.room = room
        self.date_header = b""
        self.limits = limits
        self.counts = counts
        self.pending: set[Future[Any]] = set()
        self.connections: set[HttpConnection] = set()
        self._hosts = hosts or CountLimit(limits.max_connections_per_address, limits.max_connections)
        self._refused_connections: set[HttpConnection] = set()
        self._servers: list[asyncio.Server] = []
        self._tick_timer = Timer()
        self._closing = False
        self._all_closed = asyncio.Event()
        self._all_closed.set()

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Listen on an address and return the address in use; port 0 picks a free port. Raises OSError."""
        sockets = await bind_sockets(host, port)
        for bound in sockets:
            server = await self.loop.create_server(
                lambda: HttpConnection(self),
                sock=bound,
                ssl=ssl,
                backlog=LISTEN_BACKLOG,
                ssl_handshake_timeout=10.0 if ssl else None,
                ssl_shutdown_timeout=self.limits.close_timeout if ssl else None,
            )
            self._servers.append(server)
        self._tick()
        return bound_address(sockets[0])

    def stop_accepting(self) -> None:
        """Accept no more connections; those that are open go on."""
        while self._servers:
            stop_listening(self._servers.pop())

    def close(self) -> None:
        """Accept no more connections; close idle ones now, and the others when their requests are answered."""
        self._closing = True
        self.stop_accepting()
        for connection in [*self.connections]:
            connection.stop()

    async def drain(self, timeout: float) -> None:
        """Wait at most `timeout` seconds for pending responses, then close every connection."""
        bodies = [answer for connection in self.connections if (answer := connection.pending_answer()) is not None]
        if pending := {*self.pending, *bodies}:
            await asyncio.wait(pending, timeout=timeout)
        for answer in [*self.pending]:
            answer.cancel()
        if not await wait_set(self._all_closed, self.limits.close_timeout):
            for connection in [*self.connections, *self._refused_connections]:
                connection.transport.abort()
            await self._all_closed.wait()
        self._tick_timer.cancel()

    def accept(self, connection: HttpConnection, host: str) -> str | None:
        """Register a new connection, or return the reason to refuse it: "closing", "connections" or "per_address"."""
        reason = "closing" if self._closing else self._hosts.connection_refusal(host)
        self._all_closed.clear()
        if reason:
            self._refused_connections.add(connection)
        else:
            self.counts.connections += 1
            self.connections.add(connection)
            self._hosts.add(host)
        return reason

    @property
    def is_flooded(self) -> bool:
        """Whether too many refused connections are still open."""
        return len(self._refused_connections) > self.limits.max_lingering_connections

    def release(self, connection: HttpConnection, host: str) -> None:
        """Forget a connection that is closed."""
        self._refused_connections.discard(connection)
        if connection in self.connections:
            self.connections.remove(connection)
            self._hosts.remove(host)
        if not self.connections and not self._refused_connections:
            self._all_closed.set()

    def _tick(self) -> None:
        """Once a second, update the Date header and check the timeouts of every connection."""
        self.date_header = b"date: %s\r\n" % formatdate(usegmt=True).encode()
        now = self.loop.time()
        for connection in [*self.connections]:
            connection.check_timeouts(now)
        self._tick_timer.set(1.0, self._tick)
