"""The switchboard plugs any session into any wire, for servers, clients and peers alike. The only file with sockets."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from ssl import SSLContext
from sys import intern
from typing import Any, cast

from msgspec import Struct

from croupier.core.codec import Codec
from croupier.core.errors import Violation
from croupier.core.hall import Hall
from croupier.core.talk import (
    Address,
    Call,
    Drop,
    Effect,
    Event,
    Finished,
    Garbled,
    Halted,
    Joined,
    Left,
    Peer,
    Rang,
    Said,
    Say,
    Session,
    Settle,
    Tap,
)
from croupier.shell.logs import Log
from croupier.taps.meter import Counts


class Limits(Struct, frozen=True):
    """What the switchboard allows. `connections` and `per_address` count those that are seated, 0 means no limit.

    `buffer` is how many bytes may wait for one peer that does not read; `linger` is how many seconds a dropped peer has
    to close its side, and `lingering` how many of them that were refused are waited for at the same time; `connect` is
    how many seconds a call, or the handshake of TLS, may take.
    """

    connections: int = 20_000
    per_address: int = 2_000
    buffer: int = 1 << 20
    linger: float = 2.0
    lingering: int = 1000
    connect: float = 10.0


class Unmoored(Exception):
    """The system lets nobody connect from this address. Nothing has been told to anybody."""


class Switchboard:
    """Carries events to a session and performs its effects, one write a read.

    Messages of one read are handled one after another; what they have to say leaves together. Taps hear every event
    with its effects before the effects are performed.
    """

    def __init__(
        self,
        session: Session[Any, Any],
        codec: Callable[[], Codec[Any, Any]],
        log: Log,
        *,
        taps: Sequence[Tap] = (),
        limits: Limits = Limits(),
        refusal: Sequence[Any] = (),
    ) -> None:
        self.counts = Counts()
        self.limits = limits
        self.log = log
        self.codec = codec
        self.lines: dict[Peer, Line] = {}
        self.session = session
        self.taps = tuple(taps)
        self._refusal_words = tuple(refusal)
        self._loop = asyncio.get_running_loop()
        self.clock = self._loop.time
        self._joined = 0
        self._addresses: Counter[str] = Counter()
        self.dirty: list[Line] = []
        self._armed = inf
        self._timer: asyncio.TimerHandle | None = None
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._lingering: set[Line] = set()
        self._halted = False
        self._idle = asyncio.Event()
        self._idle.set()

    # Connections.

    @property
    def connected(self) -> int:
        """How many peers are seated."""
        return len(self.lines)

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Take connections on an address; port 0 picks a free one. The address that was taken. Raises OSError."""
        _check_port(port)
        self._server = await self._loop.create_server(
            lambda: Line(self),
            host,
            port,
            ssl=ssl,
            backlog=4096,
            ssl_handshake_timeout=self.limits.connect if ssl else None,
            ssl_shutdown_timeout=self.limits.linger if ssl else None,
        )
        found: Address = self._server.sockets[0].getsockname()[:2]
        return found

    async def dial(
        self, peer: Peer, address: Address, ssl: SSLContext | None = None, *, local: Address | None = None
    ) -> None:
        """Connect to an address, and from a local one if that is given: Joined follows, or Left with the reason.

        The local address may be the one that is listened on. Raises Unmoored where the system does not allow that.
        """
        try:
            _check_port(address[1])
            async with asyncio.timeout(self.limits.connect):
                end: dict[str, Any] = {"host": address[0], "port": address[1]}
                if local is not None:
                    end = {"sock": await self._connected(local, address)}
                await self._loop.create_connection(
                    lambda: Line(self, peer),
                    **end,
                    ssl=ssl,
                    server_hostname=address[0] if ssl else None,
                    ssl_shutdown_timeout=self.limits.linger if ssl else None,
                )
        except TimeoutError:
            self.hear(Left(peer, f"no answer within {self.limits.connect:g} seconds"))
        except (OSError, UnicodeError, ValueError) as error:  # a name that no resolver takes is no OSError
            self.hear(Left(peer, str(error)))

    async def _connected(self, local: Address, address: Address) -> socket.socket:
        """A socket that is connected to an address from a local one."""
        family, _, _, _, here = (await self._loop.getaddrinfo(*local, type=socket.SOCK_STREAM))[0]
        _, _, _, _, there = (await self._loop.getaddrinfo(*address, family=family, type=socket.SOCK_STREAM))[0]
        connected = socket.socket(family, socket.SOCK_STREAM)
        connected.setblocking(False)
        try:
            if local[1]:
                # Who listens was alone at this port when he began to; only then does he share it.
                for sock in (connected, *(self._server.sockets if self._server is not None else ())):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                connected.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            connected.bind(here)
            await self._loop.sock_connect(connected, there)
        except (OSError, AttributeError) as error:  # Windows has no SO_REUSEPORT
            connected.close()
            if isinstance(error, ConnectionError):
                raise
            raise Unmoored(str(error)) from error
        except asyncio.CancelledError:
            connected.close()
            raise
        return connected

    def halt(self, *, final: bool) -> None:
        """Take no more connections, and tell the session that the room closes."""
        self._halted = True
        if self._server is not None:
            # A connection that asyncio has just accepted is never closed if the server is, before it becomes a line.
            for listening in self._server.sockets:
                with suppress(NotImplementedError):  # Windows
                    self._loop.remove_reader(listening.fileno())
            self._loop.call_soon(self._server.close)
        self.hear(Halted(final))

    async def empty(self) -> None:
        """Wait until nobody is connected any more."""
        await self._idle.wait()

    # Events and effects.

    def hear(self, event: Event[Any]) -> None:
        """Hand one event to the session, and let what it says leave."""
        self.handle(event, self.clock())
        self.flush()

    def handle(self, event: Event[Any], now: float) -> None:
        """Hand one event to the session and perform its effects; what it says waits for `flush`."""
        effects = self.session.on(event, now)
        for tap in self.taps:
            tap(event, effects, now)
        for effect in effects:
            self.perform(effect)
        self.attend()

    def perform(self, effect: Effect[Any]) -> None:
        """Perform an effect; what is to be said waits for `flush`."""
        if type(effect) is Say:
            line = self.lines.get(effect.peer)
            if line is None or line.dropped:
                self.counts.undeliverable += 1
                self.log.error("nobody hears this", peer=effect.peer, message=str(effect.message))
                return
            if not line.outbox:
                self.dirty.append(line)
            line.outbox.append(line.codec.encode(effect.message))
        elif type(effect) is Settle or type(effect) is Finished:
            self.counts.games += 1
        elif type(effect) is Drop:
            line = self.lines.get(effect.peer)
            if line is not None:
                self._drop(line)
        elif type(effect) is Call:
            call = self._loop.create_task(self.dial(effect.peer, effect.address))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)

    def attend(self) -> None:
        """See to it that the session's alarm rings in time."""
        alarm = self.session.alarm
        if alarm is not None and alarm < self._armed:
            self._arm(alarm)

    def flush(self) -> None:
        """Write what was said."""
        while self.dirty:
            self.dirty.pop().flush()

    def _arm(self, alarm: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = alarm
        self._timer = self._loop.call_at(alarm, self._rang)

    def _rang(self) -> None:
        self._timer = None
        self._armed = inf
        alarm = self.session.alarm
        if alarm is None:
            return
        if alarm <= self.clock():
            self.hear(Rang())
        elif alarm < self._armed:
            self._arm(alarm)

    def after(self, seconds: float, deed: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something later."""
        return self._loop.call_later(seconds, deed)

    # Lines.

    def _drop(self, line: "Line") -> None:
        line.dropped = True
        if not line.outbox:
            self.dirty.append(line)

    def seat(self, line: "Line", address: Address | None) -> bool:
        """Give a new connection its number and tell the session; False when there is no room for it."""
        host = address[0] if address else ""
        if reason := self._refusal(host, called=line.peer is not None):
            peer, line.peer = line.peer, None
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._idle.clear()
            self._lingering.add(line)
            line.outbox += [line.codec.encode(word) for word in self._refusal_words]
            line.dropped = True
            if len(self._lingering) > self.limits.lingering:
                line.cut_off()  # a flood is not seen off politely
            else:
                line.flush()
            if peer is not None:
                self.hear(Left(peer, f"refused: {reason}"))
            return False
        self.counts.connections += 1
        self._addresses[host] += 1
        self._idle.clear()
        if line.peer is None:
            self._joined += 1
            line.peer = self._joined
        self.lines[line.peer] = line
        self.log.debug("joined", peer=line.peer, address=address)
        self.hear(Joined(line.peer, address))
        if isinstance(self.session, Hall):
            line.session = self.session.table(line.peer)
        return True

    def _refusal(self, host: str, *, called: bool) -> str:
        """Why a connection is not taken; the limits are for those that come, not for those that were called."""
        limits = self.limits
        if self._halted:
            return "closing"
        if called:
            return ""
        if limits.connections and len(self.lines) >= limits.connections:
            return "connections"
        if limits.per_address and self._addresses[host] >= limits.per_address:
            return "per_address"
        return ""

    def unseat(self, line: "Line", reason: str) -> None:
        """Tell the session that a peer has left."""
        assert line.peer is not None, "only who was seated can leave"
        self.log.debug("left", peer=line.peer, reason=reason)
        del self.lines[line.peer]
        self._lingering.add(line)
        self.hear(Left(line.peer, reason))

    def gone(self, line: "Line", host: str) -> None:
        """Forget a line whose connection is closed."""
        self._lingering.discard(line)
        if line.peer is not None:
            self._addresses[host] -= 1
            if not self._addresses[host]:
                del self._addresses[host]
        if not self.lines and not self._lingering:
            self._idle.set()


async def outward(address: Address) -> list[str]:
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


class Line(asyncio.Protocol):
    """One connection: its codec, what waits to be written to it, and how far its end has come."""

    __slots__ = (
        "_board",
        "_counts",
        "_host",
        "_left",
        "_linger",
        "_paused",
        "_transport",
        "codec",
        "dropped",
        "outbox",
        "peer",
        "session",
    )

    def __init__(self, board: Switchboard, peer: Peer | None = None) -> None:
        self.peer = peer
        self.codec = board.codec()
        self.session = board.session
        self.outbox: list[bytes] = []
        self.dropped = False
        self._board = board
        self._counts = board.counts
        self._host = ""
        self._left = True
        self._paused = False
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a seat."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        name = transport.get_extra_info("peername")
        address = (intern(name[0]), name[1]) if name else None
        self._host = address[0] if address else ""
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
        if peer is None:
            return  # refused
        messages = () if self.dropped else self.codec.feed(data)
        session, encode, now = self.session, self.codec.encode, board.clock()
        said: list[bytes] = []
        for message in messages:
            event: Event[Any] = Said(peer, message)
            if type(message) is Violation:
                counts.violations += 1
                event = Garbled(peer, message)
            effects = session.on(event, now)
            for tap in board.taps:
                tap(event, effects, now)
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

    def _write(self, said: Sequence[bytes]) -> None:
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
        """Write what was said; behind the last of it, close our direction."""
        transport = self._transport
        if self.outbox:
            self._write(self.outbox)
            self.outbox.clear()
        if self.dropped and self._linger is None:
            # A half-close, and then reading on, so that no reset overtakes the farewell. TLS does that by itself.
            self._cut_off_later()
            if not transport.is_closing():
                if transport.can_write_eof():
                    with suppress(OSError):  # it may be gone already
                        transport.write_eof()
                else:
                    transport.close()

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
        self._transport.resume_reading()

    def eof_received(self) -> bool:
        """The peer has said all it had to say; what was answered is still sent."""
        self._cut_off_later()
        self._leave("hung up")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
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
