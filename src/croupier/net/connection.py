"""One connection at the switchboard: what is heard and said on it, and when neither may be yet."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from contextlib import suppress
from sys import intern
from typing import TYPE_CHECKING, Any, cast

from croupier.core.errors import Violation
from croupier.core.session import Address, EndOfInput, Event, Malformed, Peer, Received, Send
from croupier.net.client_addresses import address_key

if TYPE_CHECKING:
    from croupier.net.endpoint import Endpoint


class Connection(asyncio.Protocol):
    """One connection: its codec, what waits to be written to it, and how far its end has come.

    While it holds a ticket nothing is written to it, and what it says waits until the ticket is redeemed.
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
        "session",
    )

    def __init__(self, endpoint: "Endpoint", peer: Peer | None = None, address: Address | None = None) -> None:
        """A connection that comes, or one to a `peer`. `address` is the client's where that is not the other end's."""
        self.peer = peer
        self.codec = endpoint.codec_factory()
        self.session = endpoint.session
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
        """What TLS has verified of the peer, as `ssl` tells it; empty where it has shown no certificate."""
        return self._transport.get_extra_info("peercert") or {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a seat."""
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
        """Hand on every message of this read, then write all answers at once.

        What `Switchboard.handle` does for any event stands here once more for the peer's own talk, which is the hot
        path: nearly all that is said to a table is answered to the same peer.
        """
        board, counts, peer = self._endpoint, self._counts, self.peer
        if self._held_until is not None or peer is None:
            self._buffer_input(data)
            return
        messages = () if self.dropped else self.codec.feed(data)
        session, encode, now = self.session, self.codec.encode, board.clock()
        observers = board.observers if board.observers.observers else None
        said: list[bytes] = []
        for message in messages:
            event: Event[Any] = Received(peer, message)
            if type(message) is Violation:
                counts.violations += 1
                event = Malformed(peer, message)
            effects = session.on(event, now)
            if observers is not None:
                observers(event, effects, now)
            for effect in effects:
                if type(effect) is Send and effect.peer == peer and not self.dropped:
                    said.append(encode(effect.message))
                else:
                    board.perform(effect)
            if self.dropped:
                break
        counts.bytes_received += len(data)
        counts.messages_received += len(messages)
        if said:
            self._write(said)
        if board.connections_to_flush:
            board.flush()
        if session is board.session:
            board.schedule_deadline()  # a table of the peer's own has a hall that sees to its alarm

    def _buffer_input(self, data: bytes) -> None:
        """Whoever was refused is not heard, whoever has to wait is heard later."""
        if self._held_until is not None:
            self._input_backlog += data
            self._transport.pause_reading()

    def _write(self, messages: Sequence[bytes]) -> None:
        if self._held_until is not None:
            self.outbox += messages
            return
        counts = self._counts
        data = messages[0] if len(messages) == 1 else b"".join(messages)
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
        """Write what was said, unless it has to wait; behind the last of it, close our direction."""
        if self._held_until is not None:
            return
        transport = self._transport
        if self.outbox:
            self._write(self.outbox)
            self.outbox.clear()
        if self.dropped and self._close_timer is None:
            # A half-close, and then reading on, so that no reset overtakes the farewell. TLS does that by itself.
            self._abort_later()
            if not transport.is_closing():
                if transport.can_write_eof() and not self._input_ended:
                    with suppress(OSError):  # it may be gone already
                        transport.write_eof()
                else:
                    transport.close()
        elif self.output_ended and not self.dropped and not transport.is_closing():
            with suppress(OSError):  # as above
                transport.write_eof()

    def hold_until(self, future: Future[Any]) -> None:
        """Say and hear nothing more until this is done; if it is cancelled, the connection ends there.

        Who holds a ticket already waits for the later one: tickets are redeemed in order.
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
        if self._input_backlog:
            data, self._input_backlog = self._input_backlog, b""
            self.data_received(data)
        if self._is_held:
            return
        if self._eof_while_held:
            self.eof_received()
            self._transport.close()
        elif not self._write_paused and not self._transport.is_closing():
            self._transport.resume_reading()

    def abort(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        self._transport.abort()

    def _abort_later(self) -> None:
        """The conversation is over: give the peer a moment to read what was said."""
        if self._close_timer is None:
            self._close_timer = self._endpoint.call_later(self._endpoint.limits.close_timeout, self.abort)

    def pause_writing(self) -> None:
        """The peer reads too slowly: stop reading from it."""
        self._write_paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._write_paused = False
        if self._held_until is None and not self._input_ended:
            self._transport.resume_reading()

    def eof_received(self) -> bool:
        """The peer has said all it had to say; what was answered is still sent."""
        if self._held_until is not None and self._transport.can_write_eof():
            self._eof_while_held = True
            return True
        if self._endpoint.limits.allow_half_close and self.peer is not None and not self.dropped:
            if not self._input_ended:
                self._input_ended = True
                self._endpoint.handle_and_flush(EndOfInput(self.peer))
            return True
        self._abort_later()
        self._release("hung up")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._held_until = None
        if self._close_timer is not None:
            self._close_timer.cancel()
        try:
            self._release(str(exc) if exc else "closed")
        finally:
            self._endpoint.forget(self, self._host)

    def _release(self, reason: str) -> None:
        if not self._has_left:
            self._has_left = True
            self._endpoint.release(self, reason)
