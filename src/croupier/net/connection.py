"""One connection at the switchboard: what is heard and said on it, and when neither may be yet."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from contextlib import suppress
from sys import intern
from typing import TYPE_CHECKING, Any, cast

from croupier.core.errors import Violation
from croupier.core.session import Address, Ceased, Event, Garbled, Peer, Said, Say
from croupier.net.client_addresses import counted

if TYPE_CHECKING:
    from croupier.net.endpoint import Switchboard


class Line(asyncio.Protocol):
    """One connection: its codec, what waits to be written to it, and how far its end has come.

    While it holds a ticket nothing is written to it, and what it says waits until the ticket is redeemed.
    """

    __slots__ = (
        "_address",
        "_backlog",
        "_board",
        "_counts",
        "_ended",
        "_host",
        "_left",
        "_linger",
        "_paused",
        "_quiet",
        "_ticket",
        "_transport",
        "ceased",
        "codec",
        "dropped",
        "outbox",
        "peer",
        "session",
    )

    def __init__(self, board: "Switchboard", peer: Peer | None = None, address: Address | None = None) -> None:
        """A connection that comes, or one to a `peer`. `address` is the client's where that is not the other end's."""
        self.peer = peer
        self.codec = board.codec()
        self.session = board.session
        self.outbox: list[bytes] = []
        self.dropped = False
        self.ceased = False
        self._board = board
        self._counts = board.counts
        self._address = address
        self._host = ""
        self._left = True
        self._paused = False
        self._quiet = False
        self._linger: asyncio.TimerHandle | None = None
        self._ticket: Future[Any] | None = None
        self._backlog = b""
        self._ended = False

    @property
    def certificate(self) -> dict[str, Any]:
        """What TLS has verified of the peer, as `ssl` tells it; empty where it has shown no certificate."""
        return self._transport.get_extra_info("peercert") or {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a seat."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        name = transport.get_extra_info("peername")
        address = self._address or ((intern(name[0]), name[1]) if name else None)
        self._host = counted(address[0]) if address else ""
        self._left = False
        try:
            self._left = not self._board.seat(self, address)
        except BaseException:
            self._transport.abort()
            raise

    def data_received(self, data: bytes) -> None:
        """Hand on every message of this read, then write all answers at once.

        What `Switchboard.handle` does for any event stands here once more for the peer's own talk, which is the hot
        path: nearly all that is said to a table is answered to the same peer.
        """
        board, counts, peer = self._board, self._counts, self.peer
        if self._ticket is not None or peer is None:
            self._put_off(data)
            return
        messages = () if self.dropped else self.codec.feed(data)
        session, encode, now = self.session, self.codec.encode, board.clock()
        observers = board.observers if board.observers.taps else None
        said: list[bytes] = []
        for message in messages:
            event: Event[Any] = Said(peer, message)
            if type(message) is Violation:
                counts.violations += 1
                event = Garbled(peer, message)
            effects = session.on(event, now)
            if observers is not None:
                observers(event, effects, now)
            for effect in effects:
                if type(effect) is Say and effect.peer == peer and not self.dropped:
                    said.append(encode(effect.message))
                else:
                    board.perform(effect)
            if self.dropped:
                break
        counts.bytes_received += len(data)
        counts.messages_received += len(messages)
        if said:
            self._write(said)
        if board.dirty:
            board.flush()
        if session is board.session:
            board.attend()  # a table of the peer's own has a hall that sees to its alarm

    def _put_off(self, data: bytes) -> None:
        """Whoever was refused is not heard, whoever has to wait is heard later."""
        if self._ticket is not None:
            self._backlog += data
            self._transport.pause_reading()

    def _write(self, said: Sequence[bytes]) -> None:
        if self._ticket is not None:
            self.outbox += said
            return
        counts = self._counts
        data = said[0] if len(said) == 1 else b"".join(said)
        counts.messages_sent += len(said)
        counts.bytes_sent += len(data)
        self._transport.write(data)
        if self._paused and self._transport.get_write_buffer_size() > self._board.limits.buffer:
            counts.overflows += 1
            self._board.log.warning("a peer does not read what it is sent", peer=self.peer)
            self.cut_off()

    def flush(self) -> None:
        """Write what was said, unless it has to wait; behind the last of it, close our direction."""
        if self._ticket is not None:
            return
        transport = self._transport
        if self.outbox:
            self._write(self.outbox)
            self.outbox.clear()
        if self.dropped and self._linger is None:
            # A half-close, and then reading on, so that no reset overtakes the farewell. TLS does that by itself.
            self._cut_off_later()
            if not transport.is_closing():
                if transport.can_write_eof() and not self._quiet:
                    with suppress(OSError):  # it may be gone already
                        transport.write_eof()
                else:
                    transport.close()
        elif self.ceased and not self.dropped and not transport.is_closing():
            with suppress(OSError):  # as above
                transport.write_eof()

    def hold(self, ticket: Future[Any]) -> None:
        """Say and hear nothing more until this is done; if it is cancelled, the connection ends there.

        Who holds a ticket already waits for the later one: tickets are redeemed in order.
        """
        if ticket is not self._ticket:
            self._ticket = ticket
            ticket.add_done_callback(self._redeemed)

    @property
    def _waits(self) -> bool:
        return self._ticket is not None

    def _redeemed(self, ticket: Future[Any]) -> None:
        if ticket is not self._ticket:
            return
        self._ticket = None
        if ticket.cancelled():
            self.cut_off()
            return
        self.flush()
        if self._backlog:
            data, self._backlog = self._backlog, b""
            self.data_received(data)
        if self._waits:
            return
        if self._ended:
            self.eof_received()
            self._transport.close()
        elif not self._paused and not self._transport.is_closing():
            self._transport.resume_reading()

    def cut_off(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        self._transport.abort()

    def _cut_off_later(self) -> None:
        """The conversation is over: give the peer a moment to read what was said."""
        if self._linger is None:
            self._linger = self._board.after(self._board.limits.linger, self.cut_off)

    def pause_writing(self) -> None:
        """The peer reads too slowly: stop reading from it."""
        self._paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self._paused = False
        if self._ticket is None and not self._quiet:
            self._transport.resume_reading()

    def eof_received(self) -> bool:
        """The peer has said all it had to say; what was answered is still sent."""
        if self._ticket is not None and self._transport.can_write_eof():
            self._ended = True
            return True
        if self._board.limits.half_closed and self.peer is not None and not self.dropped:
            if not self._quiet:
                self._quiet = True
                self._board.hear(Ceased(self.peer))
            return True
        self._cut_off_later()
        self._leave("hung up")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._ticket = None
        if self._linger is not None:
            self._linger.cancel()
        try:
            self._leave(str(exc) if exc else "closed")
        finally:
            self._board.gone(self, self._host)

    def _leave(self, reason: str) -> None:
        if not self._left:
            self._left = True
            self._board.unseat(self, reason)
