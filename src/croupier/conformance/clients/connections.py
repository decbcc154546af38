"""The connections of a client under test in one case: it may open a new one for every game."""

import asyncio
from collections.abc import Callable

from croupier.conformance.clients.test_server import HouseTestServer
from croupier.core.session import Drop, Effect, Event, Joined, TimedOut


class ClientConnections:
    """Serves a client that connects again after it has left, as long as the state under test was not reached.

    See `Session`. `server` has the connection to be judged: the last one in which the client has sent a message.
    `new_server` returns the test server for a connection, which is counted from 0. A client that has left may take
    `reconnect_seconds` to connect again, and may do so until it has `max_connections`. `closed` is set while no
    connection is observed, `finished` when no further one is expected; the next one is closed at once then.
    """

    def __init__(
        self, new_server: Callable[[int], HouseTestServer], *, reconnect_seconds: float, max_connections: int
    ) -> None:
        self.closed = asyncio.Event()
        self.finished = asyncio.Event()
        self._new_server = new_server
        self._reconnect_seconds = reconnect_seconds
        self._max_connections = max_connections
        self._reconnect_deadline: float | None = None
        self._servers = [new_server(0)]

    @property
    def server(self) -> HouseTestServer:
        """The test server of the connection to be judged."""
        return next((server for server in reversed(self._servers) if server.has_spoken), self._servers[0])

    @property
    def deadline(self) -> float | None:
        """When the current connection, or the wait for the next one, times out."""
        return self._servers[-1].deadline if self._reconnect_deadline is None else self._reconnect_deadline

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """Process an event; return its effects."""
        if isinstance(event, Joined) and self.finished.is_set():
            return [Drop(event.peer)]
        current = self._servers[-1]
        if isinstance(event, TimedOut) and self._reconnect_deadline is not None:
            self._reconnect_deadline = None
            self.finished.set()
            return []
        if isinstance(event, Joined) and self._may_reconnect:
            current = self._new_server(len(self._servers))
            self._servers.append(current)
            self._reconnect_deadline = None
            self.closed.clear()
        effects = current.on(event, now)
        if current.is_over and not self.closed.is_set():
            self.closed.set()
            if self._may_reconnect:
                self._reconnect_deadline = now + self._reconnect_seconds
            else:
                self.finished.set()
        return effects

    @property
    def _may_reconnect(self) -> bool:
        """Whether another connection of the client is served."""
        may_come = len(self._servers) < self._max_connections and not self.finished.is_set()
        return may_come and self._servers[-1].has_been_left
