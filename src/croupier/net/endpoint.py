"""The switchboard plugs any session into any wire, for servers, clients and peers alike. The only file with sockets."""

import asyncio
import socket
from asyncio import Future
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from ssl import SSLContext
from typing import Any

from msgspec import Struct

from croupier.core.codec import Codec
from croupier.core.hall import Hall
from croupier.core.session import (
    Address,
    Closing,
    Commit,
    Connect,
    Drop,
    Effect,
    EndOutput,
    Event,
    HandFinished,
    Joined,
    Left,
    Observer,
    Peer,
    Send,
    Session,
    Settle,
    TimedOut,
)
from croupier.logs import Logger
from croupier.net.addresses import connect_error_reason
from croupier.net.client_addresses import TrustedProxies, address_key
from croupier.net.connection import Connection
from croupier.net.proxy_listener import ProxyListener
from croupier.net.recorder import Recorder
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut


class EndpointLimits(Struct, frozen=True):
    """What the switchboard allows. `connections` and `per_address` count those that are seated, 0 means no limit.

    `buffer` is how many bytes may wait for one peer that does not read; `linger` is how many seconds a dropped peer has
    to close its side, and `lingering` how many of them that were refused are waited for at the same time; `connect` is
    how many seconds a call, or the handshake of TLS, may take. With `half_closed` the session is told of a peer that
    has said all it will say, and may answer it still; without, such a peer is gone. TLS has no half-close.

    Connections from `proxies` begin with a header of the PROXY protocol, which names the address that counts.
    """

    max_connections: int = 20_000
    max_connections_per_address: int = 2_000
    max_write_buffer_bytes: int = 1 << 20
    close_timeout: float = 2.0
    max_lingering_connections: int = 1000
    connect_timeout: float = 10.0
    allow_half_close: bool = False
    trusted_proxies: TrustedProxies = TrustedProxies()


class LocalAddressError(Exception):
    """The system lets nobody connect from this address. Nothing has been told to anybody."""


class Endpoint:
    """Carries events to a session and performs its effects, one write a read.

    Messages of one read are handled one after another; what they have to say leaves together. Taps hear every event
    with its effects before the effects are performed. Where there are books, a peer hears nothing of a game that they
    do not hold yet.
    """

    def __init__(
        self,
        session: Session[Any, Any],
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        *,
        taps: Sequence[Observer] = (),
        limits: EndpointLimits = EndpointLimits(),
        refusal: Sequence[Any] = (),
        recorder: Recorder | None = None,
    ) -> None:
        self.counts = RoomCounters()
        self.limits = limits
        self.log = log
        self.codec_factory = codec_factory
        self.connections: dict[Peer, Connection] = {}
        self.session = session
        self.observers = ObserverFanOut(taps, log, self.counts)
        self._refusal_messages = tuple(refusal)
        self._recorder = recorder
        self._suspend_reason = ""
        self._pending_admission: set[Peer] = set()
        self._loop = asyncio.get_running_loop()
        self.clock = self._loop.time
        self._last_peer = 0
        self._address_counts: Counter[str] = Counter()
        self.connections_to_flush: list[Connection] = []
        self._timer_deadline = inf
        self._timer: asyncio.TimerHandle | None = None
        self._servers: list[asyncio.Server | ProxyListener] = []
        self._connect_tasks: set[asyncio.Task[None]] = set()
        self._lingering_connections: set[Connection] = set()
        self._halted = False
        self._idle = asyncio.Event()
        self._idle.set()

    # Connections.

    @property
    def connection_count(self) -> int:
        """How many peers are seated."""
        return len(self.connections)

    @property
    def unavailable_reason(self) -> str | None:
        """Why nobody is seated for now; None if they are."""
        return self._suspend_reason or None

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Take connections on an address; port 0 picks a free one. The address that was taken. Raises OSError."""
        _check_port(port)
        limits = self.limits
        tls: dict[str, Any] = {
            "ssl": ssl,
            "ssl_handshake_timeout": limits.connect_timeout if ssl else None,
            "ssl_shutdown_timeout": limits.close_timeout if ssl else None,
        }
        server: asyncio.Server | ProxyListener
        if limits.trusted_proxies:
            server = ProxyListener(
                lambda address: Connection(self, address=address),
                limits.trusted_proxies,
                counts=self.counts,
                log=self.log,
                header_timeout=limits.connect_timeout,
                max_pending_headers=limits.max_lingering_connections,
                tls_options=tls,
            )
            await server.listen(host, port)
        else:
            server = await self._loop.create_server(lambda: Connection(self), host, port, backlog=4096, **tls)
        self._servers.append(server)
        found: Address = server.sockets[0].getsockname()[:2]
        return found

    async def connect(
        self, peer: Peer, address: Address, ssl: SSLContext | None = None, *, local_address: Address | None = None
    ) -> None:
        """Connect to an address, and from a local one if that is given: Joined follows, or Left with the reason.

        The local address may be the one that is listened on. Raises Unmoored where the system does not allow that.
        """
        line = Connection(self, peer)
        try:
            _check_port(address[1])
            async with asyncio.timeout(self.limits.connect_timeout):
                end: dict[str, Any] = {"host": address[0], "port": address[1]}
                if local_address is not None:
                    end = {"sock": await self._connect_from(local_address, address)}
                await self._loop.create_connection(
                    lambda: line,
                    **end,
                    ssl=ssl,
                    server_hostname=address[0] if ssl else None,
                    ssl_shutdown_timeout=self.limits.close_timeout if ssl else None,
                )
        except TimeoutError:
            reason = f"no answer within {self.limits.connect_timeout:g} seconds"
            if self.connections.get(peer) is line:
                # It was made in the moment in which it was given up; uvloop never tells that it is closed then.
                line.connection_lost(TimeoutError(reason))
            else:
                self.handle_and_flush(Left(peer, reason))
        except (OSError, UnicodeError, ValueError) as error:  # a name that no resolver takes is no OSError
            self.handle_and_flush(Left(peer, connect_error_reason(error)))

    async def _connect_from(self, local: Address, address: Address) -> socket.socket:
        """A socket that is connected to an address from a local one."""
        family, _, _, _, here = (await self._loop.getaddrinfo(*local, type=socket.SOCK_STREAM))[0]
        _, _, _, _, there = (await self._loop.getaddrinfo(*address, family=family, type=socket.SOCK_STREAM))[0]
        connected = socket.socket(family, socket.SOCK_STREAM)
        connected.setblocking(False)
        try:
            if local[1]:
                # Who listens was alone at this port when he began to; only then does he share it.
                for sock in (connected, *(sock for server in self._servers for sock in server.sockets)):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            connected.bind(here)
            await self._loop.sock_connect(connected, there)
        except (OSError, AttributeError) as error:  # Windows has no SO_REUSEPORT
            connected.close()
            if isinstance(error, ConnectionError):
                raise
            raise LocalAddressError(str(error)) from error
        except asyncio.CancelledError:
            connected.close()
            raise
        return connected

    def halt(self, *, final: bool) -> None:
        """Take no more connections, and tell the session that the room closes."""
        self._halted = True
        for server in self._servers:
            # A connection that asyncio has just accepted is never closed if the server is, before it becomes a line.
            for listening in server.sockets:
                with suppress(NotImplementedError):  # Windows
                    self._loop.remove_reader(listening.fileno())
            self._loop.call_soon(server.close)
        self.handle_and_flush(Closing(final))
        if final:
            for peer in [*self._pending_admission]:
                self.disconnect(peer)

    def suspend(self, reason: str) -> None:
        """For now, seat nobody, and let the session begin no games: it is told that the room closes."""
        self._suspend_reason = reason
        self.handle_and_flush(Closing())

    def resume(self) -> None:
        """Seat whoever comes, again."""
        self._suspend_reason = ""

    def disconnect(self, peer: Peer) -> None:
        """End the connection of a peer, who hears nothing of what still waits for it."""
        line = self.connections.get(peer)
        if line is not None:
            line.outbox.clear()
            line.dropped = True
            line.abort()

    async def wait_drained(self) -> None:
        """Wait until nobody is connected any more."""
        await self._idle.wait()

    # Events and effects.

    def handle_and_flush(self, event: Event[Any]) -> None:
        """Hand one event to the session, and let what it says leave."""
        self.handle(event, self.clock())
        self.flush()

    def handle(self, event: Event[Any], now: float) -> None:
        """Hand one event to the session and perform its effects; what it says waits for `flush`."""
        effects = self.session.on(event, now)
        self.observers(event, effects, now)
        for effect in effects:
            self.perform(effect)
        self.schedule_deadline()

    def perform(self, effect: Effect[Any]) -> None:
        """Perform an effect; what is to be said waits for `flush`."""
        if type(effect) is Send:
            line = self.connections.get(effect.peer)
            if line is None or line.dropped:
                self.counts.undeliverable += 1
                self.log.error("nobody hears this", peer=effect.peer, message=str(effect.message))
                return
            if not line.outbox:
                self.connections_to_flush.append(line)
            line.outbox.append(line.codec.encode(effect.message))
        elif type(effect) is Settle or type(effect) is HandFinished:
            self.counts.games += 1
            if self._recorder is not None and type(effect) is Settle and (ticket := self._recorder.settle(effect)):
                line = self.connections.get(effect.peer)
                if line is not None:
                    line.hold_until(ticket)
        elif type(effect) is Drop or type(effect) is EndOutput:
            line = self.connections.get(effect.peer)
            if line is not None:
                self._end_connection(line, is_drop=type(effect) is Drop)
        elif type(effect) is Commit:
            if (
                self._recorder is not None
                and (ticket := self._recorder.sync_promises())
                and effect.peer in self.connections
            ):
                self.connections[effect.peer].hold_until(ticket)
        elif type(effect) is Connect:
            call = self._loop.create_task(self.connect(effect.peer, effect.address))
            self._connect_tasks.add(call)
            call.add_done_callback(self._connect_tasks.discard)

    def schedule_deadline(self) -> None:
        """See to it that the session's alarm rings in time."""
        alarm = self.session.deadline
        if alarm is not None and alarm < self._timer_deadline:
            self._set_timer(alarm)

    def flush(self) -> None:
        """Write what was said."""
        while self.connections_to_flush:
            self.connections_to_flush.pop().flush()

    def _set_timer(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_deadline = deadline
        self._timer = self._loop.call_at(deadline, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._timer_deadline = inf
        alarm = self.session.deadline
        if alarm is None:
            return
        if alarm <= self.clock():
            self.handle_and_flush(TimedOut())
        elif alarm < self._timer_deadline:
            self._set_timer(alarm)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something later."""
        return self._loop.call_later(seconds, callback)

    # Lines.

    def _end_connection(self, connection: Connection, *, is_drop: bool) -> None:
        connection.output_ended, connection.dropped = True, connection.dropped or is_drop
        if not connection.outbox:
            self.connections_to_flush.append(connection)

    def accept(self, connection: Connection, address: Address | None) -> bool:
        """Give a new connection its number and tell the session; False when there is no room for it."""
        host = address_key(address[0]) if address else ""
        if reason := self._refusal_reason(host, is_outgoing=connection.peer is not None):
            peer, connection.peer = connection.peer, None
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._idle.clear()
            self._lingering_connections.add(connection)
            self._refuse(connection)
            if len(self._lingering_connections) > self.limits.max_lingering_connections:
                connection.abort()  # a flood is not seen off politely
            else:
                connection.flush()
            if peer is not None:
                self.handle_and_flush(Left(peer, f"refused: {reason}"))
            return False
        self.counts.connections += 1
        self._address_counts[host] += 1
        self._idle.clear()
        if connection.peer is None:
            self._last_peer += 1
            connection.peer = self._last_peer
        self.connections[connection.peer] = connection
        ticket = (
            self._recorder.admit(connection.peer, address, connection.certificate)
            if self._recorder is not None
            else None
        )
        if ticket is None:
            self._join(connection, connection.peer, address)
        else:
            peer = connection.peer
            self._pending_admission.add(peer)
            ticket.add_done_callback(lambda done: self._on_admitted(connection, peer, address, done))
            connection.hold_until(ticket)
        return True

    def _join(self, connection: Connection, peer: Peer, address: Address | None) -> None:
        self.log.debug("joined", peer=peer, address=address)
        self.handle_and_flush(Joined(peer, address))
        if isinstance(self.session, Hall):
            connection.session = self.session.table(peer)

    def _on_admitted(self, connection: Connection, peer: Peer, address: Address | None, done: Future[str]) -> None:
        """It is known who this is; if it is still there, it joins, or hears that it cannot."""
        if peer not in self._pending_admission or done.cancelled():
            return
        if reason := done.result() or self._refusal_reason("", is_outgoing=True) or self._suspend_reason:
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._refuse(connection)
        else:
            self._pending_admission.discard(peer)
            self._join(connection, peer, address)

    def _refuse(self, connection: Connection) -> None:
        connection.outbox += [connection.codec.encode(word) for word in self._refusal_messages]
        connection.dropped = True

    def _refusal_reason(self, host: str, *, is_outgoing: bool) -> str:
        """Why a connection is not taken; the limits are for those that come, not for those that were called."""
        limits = self.limits
        if self._halted:
            return "closing"
        if is_outgoing:
            return ""
        if self._suspend_reason:
            return self._suspend_reason
        if limits.max_connections and len(self.connections) >= limits.max_connections:
            return "connections"
        if limits.max_connections_per_address and self._address_counts[host] >= limits.max_connections_per_address:
            return "per_address"
        return ""

    def release(self, connection: Connection, reason: str) -> None:
        """Tell the session that a peer has left."""
        assert connection.peer is not None, "only who was seated can leave"
        self.log.debug("left", peer=connection.peer, reason=reason)
        del self.connections[connection.peer]
        self._lingering_connections.add(connection)
        try:
            if connection.peer in self._pending_admission:
                self._pending_admission.discard(connection.peer)
            else:
                self.handle_and_flush(Left(connection.peer, reason))
        finally:
            if self._recorder is not None:
                self._recorder.leave(connection.peer)

    def forget(self, connection: Connection, host: str) -> None:
        """Forget a line whose connection is closed."""
        self._lingering_connections.discard(connection)
        if connection.peer is not None:
            connection.peer = None  # some loops tell of it once more
            self._address_counts[host] -= 1
            if not self._address_counts[host]:
                del self._address_counts[host]
        if not self.connections and not self._lingering_connections:
            self._idle.set()


async def outgoing_addresses(address: Address) -> list[str]:
    """The addresses of this machine from which another address is reached, one a family. Raises OSError."""
    found: dict[int, str] = {}
    for family, _, _, _, there in await asyncio.get_running_loop().getaddrinfo(*address, type=socket.SOCK_STREAM):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(there)  # it sends nothing
            found.setdefault(family, probe.getsockname()[0])
    return [*found.values()]


def _check_port(port: int) -> None:
    """Loops differ in what they make of a port that cannot be: one of them takes it modulo 65,536."""
    if not 0 <= port <= 65535:
        raise OSError(f"found the port {port}; allowed: 0 to 65535")


__all__ = ["Connection", "Endpoint", "EndpointLimits", "LocalAddressError", "outgoing_addresses"]
