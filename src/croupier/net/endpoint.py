"""Endpoint: connects a session to its peers over TCP or TLS, as a server, a client or both."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any

from croupier.core.codec import Codec
from croupier.core.hall import Hall
from croupier.core.logger import Logger
from croupier.core.private_table import PrivateTable
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
from croupier.net.addresses import check_port, connect_error_reason
from croupier.net.client_addresses import address_key
from croupier.net.connection import Connection
from croupier.net.count_limit import ConnectionCounts, CountLimit
from croupier.net.event_loop import start_task
from croupier.net.limits import EndpointLimits
from croupier.net.listening_socket import LISTEN_BACKLOG, bind_sockets, bound_address
from croupier.net.outgoing import connect_from
from croupier.net.prompt_connection import PromptConnection
from croupier.net.proxy_listener import ProxyListener
from croupier.net.recorder import Recorder
from croupier.net.stop_listening import stop_listening
from croupier.net.timer import DeadlineTimer
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut


class Endpoint:
    """Delivers events to a session and performs its effects.

    The messages of one read are handled one after another; the replies leave in one write. Observers are called with
    each event and its effects before the effects are performed. With a `recorder`, peers receive nothing about a game
    before it is recorded. Clients that are refused receive the messages of `refusal`. `clock` gives the time of events
    in seconds (default: the time of the event loop). `hosts` counts the connections for the limits, if other
    processes serve the room as well; `first_peer` numbers the first connection. Connect effects use `connect_ssl`, the
    TLS context.
    """

    def __init__(
        self,
        session: Session[Any, Any],
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        *,
        observers: Sequence[Observer] = (),
        limits: EndpointLimits = EndpointLimits(),
        refusal: Sequence[Any] = (),
        recorder: Recorder | None = None,
        clock: Callable[[], float] | None = None,
        hosts: ConnectionCounts | None = None,
        first_peer: Peer = 1,
        connect_ssl: SSLContext | None = None,
    ) -> None:
        self.counts = RoomCounters()
        self.limits = limits
        self.log = log
        self.codec_factory = codec_factory
        self.connections: dict[Peer, Connection] = {}
        self.session = session
        self.observers = ObserverFanOut(observers, log, self.counts)
        self.refusal_messages = tuple(refusal)
        self._recorder = recorder
        self._connect_ssl = connect_ssl
        self._suspend_reason: str | None = None
        self._pending_admission: set[Peer] = set()
        self._loop = asyncio.get_running_loop()
        self.clock = clock or self._loop.time
        self._last_peer = first_peer - 1
        self._hosts = hosts or CountLimit(limits.max_connections_per_address, limits.max_connections)
        self.connections_to_flush: list[Connection] = []
        self.timer = DeadlineTimer(self.clock, self.process_deadline)
        self._servers: list[asyncio.Server | ProxyListener] = []
        self._connect_tasks: set[asyncio.Task[None]] = set()
        self._lingering_connections: set[Connection] = set()
        self._halted = False
        self._idle = asyncio.Event()
        self._idle.set()

    # Connections.

    @property
    def connection_count(self) -> int:
        """The number of accepted connections that are open."""
        return len(self.connections)

    @property
    def server_connection_count(self) -> int:
        """The number of open connections to this room in all processes of the server."""
        return self._hosts.total

    @property
    def unavailable_reason(self) -> str | None:
        """Why new connections are refused for now; None if they are accepted."""
        return self._suspend_reason

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Listen on an address and return the address in use; port 0 picks a free port. Raises OSError."""
        limits, sockets = self.limits, await bind_sockets(host, port)
        tls: dict[str, Any] = {
            "ssl": ssl,
            "ssl_handshake_timeout": limits.connect_timeout if ssl else None,
            "ssl_shutdown_timeout": limits.close_timeout if ssl else None,
        }
        if limits.trusted_proxies:
            listener = ProxyListener(
                self.make_connection,
                limits.trusted_proxies,
                counts=self.counts,
                log=self.log,
                header_timeout=limits.proxy_header_timeout,
                max_pending_headers=limits.max_lingering_connections,
                tls_options=tls,
            )
            self._servers.append(listener)
            listener.listen(sockets)
        else:
            for bound in sockets:
                server = await self._loop.create_server(
                    self.make_connection, sock=bound, backlog=LISTEN_BACKLOG, start_serving=False, **tls
                )
                self._servers.append(server)  # before the next await: `halt` closes it if this is cancelled there
                await server.start_serving()
        return bound_address(sockets[0])

    async def connect(
        self,
        peer: Peer,
        address: Address,
        ssl: SSLContext | None = None,
        *,
        local_address: Address | None = None,
        acknowledges_at_once: bool = False,
    ) -> None:
        """Connect to an address, optionally from a local one. The session receives Joined, or Left with the reason.

        `local_address` may be an address that this endpoint listens on. `acknowledges_at_once`: from the beginning; see
        `Acknowledger`. Raises LocalAddressError if the operating system does not allow that.
        """
        connection = PromptConnection(self, peer, prompt=acknowledges_at_once)
        try:
            check_port(address[1])
            async with asyncio.timeout(self.limits.connect_timeout):
                target: dict[str, Any] = {"host": address[0], "port": address[1]}
                if local_address is not None:
                    listening = [sock for server in self._servers for sock in server.sockets]
                    target = {"sock": await connect_from(local_address, address, listening, self._loop)}
                await self._loop.create_connection(
                    lambda: connection,
                    **target,
                    ssl=ssl,
                    server_hostname=address[0] if ssl else None,
                    ssl_shutdown_timeout=self.limits.close_timeout if ssl else None,
                )
        except asyncio.CancelledError:
            self._lose_if_made(connection, peer, "cancelled")
            raise
        except TimeoutError:
            reason = f"no answer within {self.limits.connect_timeout:g} seconds"
            if not self._lose_if_made(connection, peer, reason):
                self.handle_and_flush(Left(peer, reason))
        except (OSError, UnicodeError, ValueError) as error:  # a name that no resolver takes is no OSError
            self.handle_and_flush(Left(peer, connect_error_reason(error)))

    def _lose_if_made(self, connection: Connection, peer: Peer, reason: str) -> bool:
        """Whether the connection was made just as it was given up: uvloop then does not report that it is closed."""
        if self.connections.get(peer) is not connection:
            return False
        connection.connection_lost(TimeoutError(reason))
        return True

    def make_connection(self, address: Address | None = None) -> asyncio.Protocol:
        """Make what handles a connection that has been accepted.

        `address` is the client's address if that is not the address of the other end.
        """
        return Connection(self, address=address)

    def stop_accepting(self) -> None:
        """Accept no more connections. Those that are open, or have just been accepted, go on."""
        while self._servers:
            stop_listening(self._servers.pop())

    def halt(self, *, final: bool) -> None:
        """Accept no more connections and deliver Closing to the session.

        If `final`, clients that still wait for admission are disconnected.
        """
        self._halted = True
        self.stop_accepting()
        self.handle_and_flush(Closing(final))
        if final:
            for peer in [*self._pending_admission]:
                self.disconnect(peer)

    def suspend(self, reason: str) -> None:
        """Refuse new connections for now, and deliver Closing to the session so that it starts no games."""
        self._suspend_reason = reason
        self.handle_and_flush(Closing())

    def resume(self) -> None:
        """Accept new connections again."""
        self._suspend_reason = None

    def disconnect(self, peer: Peer, *, resets: bool = False) -> None:
        """Close, or reset, the connection of a peer at once; messages that are queued for it are discarded."""
        connection = self.connections.get(peer)
        if connection is not None:
            connection.outbox.clear()
            connection.dropped = True
            connection.abort(resets=resets)

    async def wait_drained(self) -> None:
        """Wait until all connections are closed, and after `halt` the listening sockets."""
        await asyncio.sleep(0)  # they are closed in the next iteration of the loop
        await self._idle.wait()

    async def close(self) -> None:
        """Close all connections and stop listening.

        Peers have twice the limit `close_timeout` to close their side; then, or if this is cancelled, the connections
        are aborted.
        """
        self.halt(final=True)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * self.limits.close_timeout):
                    await self.wait_drained()
        finally:
            for connection in [*self.connections.values(), *self._lingering_connections]:
                connection.abort()
        await self.wait_drained()

    # Events and effects.

    def handle_and_flush(self, event: Event[Any]) -> None:
        """Deliver one event to the session and write the messages that result."""
        self.handle(event, self.clock())
        self.flush()

    def handle(self, event: Event[Any], now: float) -> None:
        """Deliver one event to the session and perform its effects; messages wait for `flush`."""
        effects = self.session.on(event, now)
        self.observers(event, effects, now)
        for effect in effects:
            self.perform(effect)
        self.timer.set(self.session.deadline)

    def perform(self, effect: Effect[Any]) -> None:
        """Perform an effect; messages wait for `flush`."""
        if type(effect) is Send:
            connection = self.connections.get(effect.peer)
            if connection is None or connection.dropped:
                self.counts.undeliverable += 1
                self.log.error("the recipient is not connected", peer=effect.peer, message=str(effect.message))
                return
            if not connection.outbox:
                self.connections_to_flush.append(connection)
            connection.outbox.append(connection.codec.encode(effect.message))
        elif type(effect) is Settle or type(effect) is HandFinished:
            self.counts.games += 1
            if self._recorder is not None and type(effect) is Settle and (ticket := self._recorder.settle(effect)):
                connection = self.connections.get(effect.peer)
                if connection is not None:
                    connection.hold_until(ticket)
        elif type(effect) is Drop or type(effect) is EndOutput:
            connection = self.connections.get(effect.peer)
            if connection is not None:
                self._end_connection(connection, is_drop=type(effect) is Drop)
        elif type(effect) is Commit:
            if (
                self._recorder is not None
                and (ticket := self._recorder.sync_promises())
                and effect.peer in self.connections
            ):
                self.connections[effect.peer].hold_until(ticket)
        elif type(effect) is Connect:
            start_task(self._connect_tasks, self.connect(effect.peer, effect.address, self._connect_ssl))

    def flush(self) -> None:
        """Write all queued messages, in the order of their first ones."""
        while self.connections_to_flush:
            connections, self.connections_to_flush = self.connections_to_flush, []
            for connection in connections:
                connection.flush()

    def process_deadline(self) -> None:
        """Deliver TimedOut to the session if its deadline has passed, and set the timer for the next deadline."""
        self.timer.cancel()
        deadline = self.session.deadline
        if deadline is not None and deadline <= self.clock():
            self.handle_and_flush(TimedOut())
        else:
            self.timer.set(deadline)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call a function after `seconds`."""
        return self._loop.call_later(seconds, callback)

    # Lifecycle of connections.

    def _end_connection(self, connection: Connection, *, is_drop: bool) -> None:
        connection.output_ended, connection.dropped = True, connection.dropped or is_drop
        if not connection.outbox:
            self.connections_to_flush.append(connection)

    def accept(self, connection: Connection, address: Address | None) -> bool:
        """Number a new connection and deliver Joined to the session once it is admitted; False if it is refused."""
        host = address_key(address[0]) if address else ""
        if reason := self._refusal_reason(host, is_outgoing=connection.peer is not None):
            peer, connection.peer = connection.peer, None
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._idle.clear()
            self._lingering_connections.add(connection)
            self._refuse(connection)
            if len(self._lingering_connections) > self.limits.max_lingering_connections:
                connection.abort()  # too many refused clients: do not wait for this one to close
            else:
                connection.flush()
            if peer is not None:
                self.handle_and_flush(Left(peer, f"refused: {reason}"))
            return False
        self.counts.connections += 1
        self._hosts.add(host)
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
            table = self.session.table(peer)
            connection.table = table if isinstance(table, PrivateTable) else None

    def _on_admitted(
        self, connection: Connection, peer: Peer, address: Address | None, done: Future[str | None]
    ) -> None:
        """Deliver Joined, or refuse the client, after the recorder has looked it up."""
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
        connection.outbox += [connection.codec.encode(message) for message in self.refusal_messages]
        connection.dropped = True

    def _refusal_reason(self, host: str, *, is_outgoing: bool) -> str | None:
        """Why a connection is refused, or None. Limits apply to incoming connections only."""
        if self._halted:
            return "closing"
        if is_outgoing:
            return None
        if self._suspend_reason:
            return self._suspend_reason
        return self._hosts.connection_refusal(host)

    def release(self, connection: Connection, reason: str, *, was_reset: bool) -> None:
        """Deliver Left to the session and start waiting for the connection to close."""
        assert connection.peer is not None, "a connection that leaves was accepted"
        self.log.debug("left", peer=connection.peer, reason=reason)
        del self.connections[connection.peer]
        self._lingering_connections.add(connection)
        try:
            if connection.peer in self._pending_admission:
                self._pending_admission.discard(connection.peer)
            else:
                self.handle_and_flush(Left(connection.peer, reason, was_reset))
        finally:
            if self._recorder is not None:
                self._recorder.leave(connection.peer)

    def forget(self, connection: Connection, host: str) -> None:
        """Forget a connection that is closed."""
        self._lingering_connections.discard(connection)
        if connection.peer is not None:
            connection.peer = None  # some loops report the close twice
            self._hosts.remove(host)
        if not self.connections and not self._lingering_connections:
            self._idle.set()


__all__ = ["Connection", "Endpoint", "EndpointLimits"]
