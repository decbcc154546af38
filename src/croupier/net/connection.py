"""Connection: one peer of an endpoint, with its codec and its queues of input and output."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Sequence
from contextlib import suppress
from sys import intern
from typing import Any, Final, Protocol, cast

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.logger import Logger
from croupier.core.private_table import PrivateTable
from croupier.core.session import (
    CLOSED,
    HUNG_UP,
    Address,
    Effect,
    EndOfInput,
    Event,
    Malformed,
    Peer,
    Received,
    Send,
)
from croupier.net.client_addresses import address_key
from croupier.net.limits import EndpointLimits
from croupier.net.reset_connection import reset_connection
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import ObserverFanOut

MAX_BYTES_PER_TURN: Final = 4096
"""Input that one connection has handled in one turn of the event loop, so that a flood delays others only shortly."""


class ConnectionOwner(Protocol):
    """What a connection uses of its endpoint."""

    codec_factory: Callable[[], Codec[Any, Any]]
    counts: RoomCounters
    observers: ObserverFanOut
    limits: EndpointLimits
    log: Logger
    clock: Callable[[], float]
    connections_to_flush: "list[Connection]"

    def accept(self, connection: "Connection", address: Address | None) -> bool: ...  # noqa: D102 -- as in Endpoint
    def release(  # noqa: D102 -- as in Endpoint
        self, connection: "Connection", reason: str, *, was_reset: bool
    ) -> None: ...
    def forget(self, connection: "Connection", host: str) -> None: ...  # noqa: D102 -- as in Endpoint
    def handle_and_flush(self, event: Event[Any]) -> None: ...  # noqa: D102 -- as in Endpoint
    def handle(self, event: Event[Any], now: float) -> None: ...  # noqa: D102 -- as in Endpoint
    def perform(self, effect: Effect[Any]) -> None: ...  # noqa: D102 -- as in Endpoint
    def flush(self) -> None: ...  # noqa: D102 -- as in Endpoint
    def call_later(  # noqa: D102 -- as in Endpoint
        self, seconds: float, callback: Callable[[], None]
    ) -> asyncio.TimerHandle: ...


class Connection(asyncio.Protocol):
    """One connection of an endpoint.

    While the connection is held (`hold_until`), nothing is written to it, and its input waits. Much input at once is
    handled in several turns of the event loop, and no more is read meanwhile. `table` is the peer's private table, if
    it has one.
    """

    __slots__ = (
        "_address",
        "_close_timer",
        "_counts",
        "_endpoint",
        "_eof_while_held",
        "_has_left",
        "_held_until",
        "_host",
        "_input_backlog",
        "_input_ended",
        "_transport",
        "_write_paused",
        "codec",
        "dropped",
        "outbox",
        "output_ended",
        "peer",
        "table",
    )

    def __init__(self, endpoint: ConnectionOwner, peer: Peer | None = None, address: Address | None = None) -> None:
        """An incoming connection, or an outgoing one to `peer`.

        `address` is the client's address if that is not the address of the other end, as behind a proxy.
        """
        self.peer = peer
        self.table: PrivateTable[Any, Any] | None = None
        self.codec = endpoint.codec_factory()
        self.outbox: list[bytes] = []
        self.dropped = False
        self.output_ended = False
        self._endpoint = endpoint
        self._counts = endpoint.counts
        self._address = address
        self._host = ""
        self._has_left = True
        self._write_paused = False
        self._input_ended = False
        self._close_timer: asyncio.TimerHandle | None = None
        self._held_until: Future[Any] | None = None
        self._input_backlog = b""
        self._eof_while_held = False

    @property
    def certificate(self) -> dict[str, Any]:
        """The peer's verified TLS certificate in the format of `ssl`; empty if it presented none."""
        return self._transport.get_extra_info("peercert") or {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the endpoint to accept this connection."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        name = transport.get_extra_info("peername")
        address = self._address or ((intern(name[0]), name[1]) if name else None)
        self._host = address_key(address[0]) if address else ""
        self._has_left = False
        try:
            self._has_left = not self._endpoint.accept(self, address)
        except BaseException:
            self._transport.abort()
            raise

    def data_received(self, data: bytes) -> None:
        """Handle every message of this read, then write all replies at once.

        Messages to a private table that nobody observes are the hot path: they need no events, and nearly all effects
        are replies.
        """
        if self._held_until is not None or self._input_backlog:
            self._input_backlog += data
            self._transport.pause_reading()
            return
        if len(data) > MAX_BYTES_PER_TURN and not self.dropped:
            data = self._first_of_much(data)
        messages = () if self.dropped else self.codec.feed(data)
        counts, endpoint, table = self._counts, self._endpoint, self.table
        counts.bytes_received += len(data)
        counts.messages_received += len(messages)
        if table is None or endpoint.observers.observers:
            self._handle(messages)
            return
        table.last_received = endpoint.clock()
        encode = self.codec.encode
        replies: list[bytes] = []
        for message in messages:
            if type(message) is Violation:
                counts.violations += 1
                effects = table.on_malformed(message)
            else:
                effects = table.on_received(message)
            for effect in effects:
                if type(effect) is Send:
                    replies.append(encode(effect.message))
                else:
                    endpoint.perform(effect)
            if self.dropped:
                break
        if replies:
            self._write(replies)
        if endpoint.connections_to_flush:
            endpoint.flush()

    def _handle(self, messages: Sequence[Any]) -> None:
        """Pass messages and violations to the session of the endpoint as events."""
        endpoint, peer = self._endpoint, cast(Peer, self.peer)
        now = endpoint.clock()
        for message in messages:
            if type(message) is Violation:
                self._counts.violations += 1
                endpoint.handle(Malformed(peer, message), now)
            else:
                endpoint.handle(Received(peer, message), now)
            if self.dropped:
                break
        endpoint.flush()

    def _first_of_much(self, data: bytes) -> bytes:
        """Return the beginning of much input. The rest waits for the next turn of the event loop."""
        self._input_backlog = data[MAX_BYTES_PER_TURN:]
        self._transport.pause_reading()
        self._endpoint.call_later(0.0, self._handle_backlog)
        return data[:MAX_BYTES_PER_TURN]

    def _handle_backlog(self) -> None:
        """Handle the input that waits, unless it has to wait longer; then read on."""
        if self._is_held or self._write_paused or self._has_left or self._transport.is_closing():
            return
        if self._input_backlog:
            data, self._input_backlog = self._input_backlog, b""
            self.data_received(data)
        self._read_on()

    def _read_on(self) -> None:
        """Read again, unless there is a reason to wait."""
        if not (self._input_backlog or self._is_held or self._write_paused or self._input_ended):
            self._transport.resume_reading()

    def _handle_whole_backlog(self) -> None:
        """Handle the input that waits before its end."""
        while self._input_backlog and not self._is_held and not self._has_left:
            data, self._input_backlog = self._input_backlog, b""
            self.data_received(data)

    def _write(self, messages: Sequence[bytes]) -> None:
        if self._held_until is not None:
            self.outbox += messages
            return
        counts = self._counts
        data = b"".join(messages)
        counts.messages_sent += len(messages)
        counts.bytes_sent += len(data)
        self._transport.write(data)
        if (
            self._write_paused
            and self._transport.get_write_buffer_size() > self._endpoint.limits.max_write_buffer_bytes
        ):
            counts.overflows += 1
            self._endpoint.log.warning("a peer does not read what it is sent", peer=self.peer)
            self.abort()

    def flush(self) -> None:
        """Write queued messages unless the connection is held; after the last one, end the output."""
        if self._held_until is not None:
            return
        transport = self._transport
        if self.outbox:
            self._write(self.outbox)
            self.outbox.clear()
        if self.dropped and self._close_timer is None:
            # Half-close and keep reading, so that no reset overtakes the last message. TLS does that by itself.
            self._abort_later()
            if not transport.is_closing():
                if transport.can_write_eof() and not self._input_ended:
                    with suppress(OSError, RuntimeError):  # the peer is gone; uvloop: connecting was cancelled
                        transport.write_eof()
                else:
                    transport.close()
        elif self.output_ended and not self.dropped and not transport.is_closing():
            with suppress(OSError):  # as above
                transport.write_eof()

    def hold_until(self, future: Future[Any]) -> None:
        """Hold output and input until a future is done; if it is cancelled, close the connection.

        A later future replaces an earlier one: they complete in order.
        """
        if future is not self._held_until:
            self._held_until = future
            future.add_done_callback(self._on_hold_done)

    @property
    def _is_held(self) -> bool:
        return self._held_until is not None

    def _on_hold_done(self, future: Future[Any]) -> None:
        if future is not self._held_until:
            return
        self._held_until = None
        if future.cancelled():
            self.abort()
            return
        self.flush()
        if self._eof_while_held:
            self._handle_whole_backlog()
            if not self._is_held:
                self.eof_received()
                self._transport.close()
        else:
            self._handle_backlog()

    def abort(self, *, resets: bool = False) -> None:
        """Close, or reset, the connection at once; unsent data is lost."""
        if resets:
            reset_connection(self._transport)
        else:
            self._transport.abort()

    def _abort_later(self) -> None:
        """Give the peer `close_timeout` to read the last messages, then close the connection."""
        if self._close_timer is None:
            self._close_timer = self._endpoint.call_later(self._endpoint.limits.close_timeout, self.abort)

    def pause_writing(self) -> None:
        """Stop reading while the peer does not read."""
        self._write_paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again: the peer has caught up."""
        self._write_paused = False
        self._handle_backlog()

    def eof_received(self) -> bool:
        """Handle the end of the peer's input; replies are still sent."""
        self._handle_whole_backlog()
        if self._held_until is not None and self._transport.can_write_eof():
            self._eof_while_held = True
            return True
        if self._endpoint.limits.allow_half_close and self.peer is not None and not self.dropped:
            if not self._input_ended:
                self._input_ended = True
                self._endpoint.handle_and_flush(EndOfInput(self.peer))
            return True
        self._abort_later()
        self._release(HUNG_UP)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection at the endpoint: it is closed."""
        self._held_until = None
        if self._close_timer is not None:
            self._close_timer.cancel()
        try:
            self._release(str(exc) if exc else CLOSED, was_reset=isinstance(exc, ConnectionError))
        finally:
            self._endpoint.forget(self, self._host)

    def _release(self, reason: str, *, was_reset: bool = False) -> None:
        if not self._has_left:
            self._has_left = True
            self._endpoint.release(self, reason, was_reset=was_reset)
