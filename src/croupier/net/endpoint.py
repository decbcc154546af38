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
    Call,
    Cease,
    Commit,
    Drop,
    Effect,
    Event,
    Finished,
    Halted,
    Joined,
    Left,
    Peer,
    Rang,
    Say,
    Session,
    Settle,
    Tap,
)
from croupier.logs import Log
from croupier.net.addresses import reason_of
from croupier.net.client_addresses import TrustedProxies, counted
from croupier.net.connection import Line
from croupier.net.proxy_listener import ProxiedServer
from croupier.net.recorder import Books
from croupier.observers.counters import Counts
from croupier.observers.fan_out import Observers


class Limits(Struct, frozen=True):
    """What the switchboard allows. `connections` and `per_address` count those that are seated, 0 means no limit.

    `buffer` is how many bytes may wait for one peer that does not read; `linger` is how many seconds a dropped peer has
    to close its side, and `lingering` how many of them that were refused are waited for at the same time; `connect` is
    how many seconds a call, or the handshake of TLS, may take. With `half_closed` the session is told of a peer that
    has said all it will say, and may answer it still; without, such a peer is gone. TLS has no half-close.

    Connections from `proxies` begin with a header of the PROXY protocol, which names the address that counts.
    """

    connections: int = 20_000
    per_address: int = 2_000
    buffer: int = 1 << 20
    linger: float = 2.0
    lingering: int = 1000
    connect: float = 10.0
    half_closed: bool = False
    proxies: TrustedProxies = TrustedProxies()


class Unmoored(Exception):
    """The system lets nobody connect from this address. Nothing has been told to anybody."""


class Switchboard:
    """Carries events to a session and performs its effects, one write a read.

    Messages of one read are handled one after another; what they have to say leaves together. Taps hear every event
    with its effects before the effects are performed. Where there are books, a peer hears nothing of a game that they
    do not hold yet.
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
        books: Books | None = None,
    ) -> None:
        self.counts = Counts()
        self.limits = limits
        self.log = log
        self.codec = codec
        self.lines: dict[Peer, Line] = {}
        self.session = session
        self.observers = Observers(taps, log, self.counts)
        self._refusal_words = tuple(refusal)
        self._books = books
        self._shut = ""
        self._unadmitted: set[Peer] = set()
        self._loop = asyncio.get_running_loop()
        self.clock = self._loop.time
        self._joined = 0
        self._addresses: Counter[str] = Counter()
        self.dirty: list[Line] = []
        self._armed = inf
        self._timer: asyncio.TimerHandle | None = None
        self._servers: list[asyncio.Server | ProxiedServer] = []
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

    @property
    def trouble(self) -> str | None:
        """Why nobody is seated for now; None if they are."""
        return self._shut or None

    async def listen(self, host: str, port: int, ssl: SSLContext | None = None) -> Address:
        """Take connections on an address; port 0 picks a free one. The address that was taken. Raises OSError."""
        _check_port(port)
        limits = self.limits
        tls: dict[str, Any] = {
            "ssl": ssl,
            "ssl_handshake_timeout": limits.connect if ssl else None,
            "ssl_shutdown_timeout": limits.linger if ssl else None,
        }
        server: asyncio.Server | ProxiedServer
        if limits.proxies:
            server = ProxiedServer(
                lambda address: Line(self, address=address),
                limits.proxies,
                counts=self.counts,
                log=self.log,
                seconds=limits.connect,
                most=limits.lingering,
                tls=tls,
            )
            await server.listen(host, port)
        else:
            server = await self._loop.create_server(lambda: Line(self), host, port, backlog=4096, **tls)
        self._servers.append(server)
        found: Address = server.sockets[0].getsockname()[:2]
        return found

    async def dial(
        self, peer: Peer, address: Address, ssl: SSLContext | None = None, *, local: Address | None = None
    ) -> None:
        """Connect to an address, and from a local one if that is given: Joined follows, or Left with the reason.

        The local address may be the one that is listened on. Raises Unmoored where the system does not allow that.
        """
        line = Line(self, peer)
        try:
            _check_port(address[1])
            async with asyncio.timeout(self.limits.connect):
                end: dict[str, Any] = {"host": address[0], "port": address[1]}
                if local is not None:
                    end = {"sock": await self._connected(local, address)}
                await self._loop.create_connection(
                    lambda: line,
                    **end,
                    ssl=ssl,
                    server_hostname=address[0] if ssl else None,
                    ssl_shutdown_timeout=self.limits.linger if ssl else None,
                )
        except TimeoutError:
            reason = f"no answer within {self.limits.connect:g} seconds"
            if self.lines.get(peer) is line:
                # It was made in the moment in which it was given up; uvloop never tells that it is closed then.
                line.connection_lost(TimeoutError(reason))
            else:
                self.hear(Left(peer, reason))
        except (OSError, UnicodeError, ValueError) as error:  # a name that no resolver takes is no OSError
            self.hear(Left(peer, reason_of(error)))

    async def _connected(self, local: Address, address: Address) -> socket.socket:
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
            raise Unmoored(str(error)) from error
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
        self.hear(Halted(final))
        if final:
            for peer in [*self._unadmitted]:
                self.expel(peer)

    def shut(self, reason: str) -> None:
        """For now, seat nobody, and let the session begin no games: it is told that the room closes."""
        self._shut = reason
        self.hear(Halted())

    def reopen(self) -> None:
        """Seat whoever comes, again."""
        self._shut = ""

    def expel(self, peer: Peer) -> None:
        """End the connection of a peer, who hears nothing of what still waits for it."""
        line = self.lines.get(peer)
        if line is not None:
            line.outbox.clear()
            line.dropped = True
            line.cut_off()

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
        self.observers(event, effects, now)
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
            if self._books is not None and type(effect) is Settle and (ticket := self._books.settle(effect)):
                line = self.lines.get(effect.peer)
                if line is not None:
                    line.hold(ticket)
        elif type(effect) is Drop or type(effect) is Cease:
            line = self.lines.get(effect.peer)
            if line is not None:
                self._end(line, wholly=type(effect) is Drop)
        elif type(effect) is Commit:
            if self._books is not None and (ticket := self._books.promised()) and effect.peer in self.lines:
                self.lines[effect.peer].hold(ticket)
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

    def _end(self, line: Line, *, wholly: bool) -> None:
        line.ceased, line.dropped = True, line.dropped or wholly
        if not line.outbox:
            self.dirty.append(line)

    def seat(self, line: Line, address: Address | None) -> bool:
        """Give a new connection its number and tell the session; False when there is no room for it."""
        host = counted(address[0]) if address else ""
        if reason := self._refusal(host, called=line.peer is not None):
            peer, line.peer = line.peer, None
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._idle.clear()
            self._lingering.add(line)
            self._turn_away(line)
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
        ticket = self._books.admit(line.peer, address, line.certificate) if self._books is not None else None
        if ticket is None:
            self._join(line, line.peer, address)
        else:
            peer = line.peer
            self._unadmitted.add(peer)
            ticket.add_done_callback(lambda done: self._admitted(line, peer, address, done))
            line.hold(ticket)
        return True

    def _join(self, line: Line, peer: Peer, address: Address | None) -> None:
        self.log.debug("joined", peer=peer, address=address)
        self.hear(Joined(peer, address))
        if isinstance(self.session, Hall):
            line.session = self.session.table(peer)

    def _admitted(self, line: Line, peer: Peer, address: Address | None, done: Future[str]) -> None:
        """It is known who this is; if it is still there, it joins, or hears that it cannot."""
        if peer not in self._unadmitted or done.cancelled():
            return
        if reason := done.result() or self._refusal("", called=True) or self._shut:
            self.counts.refused[reason] += 1
            self.log.warning("refused", address=address, reason=reason)
            self._turn_away(line)
        else:
            self._unadmitted.discard(peer)
            self._join(line, peer, address)

    def _turn_away(self, line: Line) -> None:
        line.outbox += [line.codec.encode(word) for word in self._refusal_words]
        line.dropped = True

    def _refusal(self, host: str, *, called: bool) -> str:
        """Why a connection is not taken; the limits are for those that come, not for those that were called."""
        limits = self.limits
        if self._halted:
            return "closing"
        if called:
            return ""
        if self._shut:
            return self._shut
        if limits.connections and len(self.lines) >= limits.connections:
            return "connections"
        if limits.per_address and self._addresses[host] >= limits.per_address:
            return "per_address"
        return ""

    def unseat(self, line: Line, reason: str) -> None:
        """Tell the session that a peer has left."""
        assert line.peer is not None, "only who was seated can leave"
        self.log.debug("left", peer=line.peer, reason=reason)
        del self.lines[line.peer]
        self._lingering.add(line)
        try:
            if line.peer in self._unadmitted:
                self._unadmitted.discard(line.peer)
            else:
                self.hear(Left(line.peer, reason))
        finally:
            if self._books is not None:
                self._books.leave(line.peer)

    def gone(self, line: Line, host: str) -> None:
        """Forget a line whose connection is closed."""
        self._lingering.discard(line)
        if line.peer is not None:
            line.peer = None  # some loops tell of it once more
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


__all__ = ["Limits", "Line", "Switchboard", "Unmoored", "outward"]
