"""Takes the connections of an HTTP service: uvicorn's HTTP/1.1 on our own loop, with limits of our own."""

import asyncio
import logging
from asyncio import Future
from collections import Counter
from email.utils import formatdate
from http import HTTPStatus
from ssl import SSLContext
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from croupier.core.talk import Address
from croupier.shell.answers import Application, Later, Response
from croupier.shell.limits import Reception
from croupier.taps.counts import Counts

UNHEARD = logging.getLogger("croupier.shell.unheard")
"""Where uvicorn's own words go: whoever connects should not be able to fill our log."""
UNHEARD.addHandler(logging.NullHandler())
UNHEARD.propagate = False
UNHEARD.setLevel(logging.CRITICAL)

PIECE = 16_384
"""How many bytes are looked at together; what came together in more is taken piece by piece."""


AGAIN = 4096
"""A request of so many bytes at most is recognized when it is said again."""


class Line(HttpToolsProtocol):
    """One connection. A round every second looks after its patience, so that requests need no timers of their own."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # there is none before the first request

    def __init__(self, listener: "Listener") -> None:
        super().__init__(listener.config, listener.state, {}, listener.loop)
        self.logger = UNHEARD
        self.access_log = False
        self._listener = listener
        self._host = ""
        self._reading = False
        self._deferred = False
        self._over = False
        self._amid = False  # in a message
        self._begun = 0  # how many messages have begun in what was read last
        self._at_hand = False
        self._again: bytes | None = None  # a whole request that was answered at hand: whoever polls says the very same
        self.waits: Future[Any] | None = None  # what the next response waits for, if that is no task
        self._linger: asyncio.TimerHandle | None = None
        self._head = 0
        self._seen: object = None
        self._since = listener.loop.time()
        self._stuck: float | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a place, or be told that there is none."""
        super().connection_made(transport)
        self._host = self.client[0] if self.client else ""
        if reason := self._listener.seat(self, self._host):
            self._listener.counts.refused[reason] += 1
            if self._listener.flooded:
                transport.abort()  # a flood is not seen off politely
                return
            self._end(503, "holdem-9.10", f"found no free place ({reason}); allowed: to come later", "retry-after: 1")

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._listener.unseat(self, self._host)

    def data_received(self, data: bytes) -> None:
        """Hand on what came; a request whose head has no end is not kept."""
        self._listener.counts.bytes_received += len(data)
        if len(data) <= PIECE:
            self._piece(data)
            return
        for start in range(0, len(data), PIECE):
            self._piece(data[start : start + PIECE])

    def _piece(self, data: bytes) -> None:
        if self._over or self.transport.is_closing():
            return
        if data == self._again and not self.flow.write_paused and self.waits is None:
            assert self.cycle is not None, "what is said again was said before"
            if answer := self._listener.app.at_hand(self.scope):
                self._seen = None  # it is a message of its own
                self._say(self.cycle, answer)
                return
        before, self._again = self.headers, None
        between, self._begun, self._at_hand = not self._amid, 0, False
        self._reading = True
        super().data_received(data)
        self._reading = False
        if between and self._begun == 1 and self._at_hand and not self._amid and len(data) <= AGAIN:
            self._again = data
        if self._deferred:
            self._deferred = False
            self._begin()
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope:
            self._head = self._head + len(data) if self.headers is before else len(data)
            if self._head > self._listener.reception.head and not self._over:
                most = self._listener.reception.head
                self._end(431, "holdem-1.1", f"found a head of {self._head} bytes; allowed: {most}")
        elif self._head:
            self._head = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Answer a request: what is at hand goes at once, a command when all of it is there; the rest gets a task."""
        if self._reading and cycle.keep_alive and not self.flow.write_paused:
            scope = cycle.scope
            if scope["method"] != "GET":
                self._deferred = True
                return
            if answer := self._listener.app.at_hand(scope):
                self._at_hand = True
                self._say(cycle, answer)
                return
        super()._start_asgi_task(cycle, app)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._begun += 1
        self._amid = True

    def on_message_complete(self) -> None:
        """All of a request is there."""
        super().on_message_complete()
        self._amid = False
        if self._deferred:
            self._deferred = False
            cycle = self.cycle
            assert cycle is not None, "a deferred request has a head"
            if answer := self._listener.app.promptly(cycle.scope, bytes(cycle.body)):
                self._say(cycle, answer)
            else:
                self._begin()

    def _begin(self) -> None:
        cycle = self.cycle
        assert cycle is not None, "there is nothing to begin with"
        super()._start_asgi_task(cycle, self.app)

    def _say(self, cycle: RequestResponseCycle, answer: Response | Later) -> None:
        """A whole response in one write, now or later."""
        if isinstance(answer, Later):
            cycle.response_started = cycle.response_complete = False
            self.waits = answer.done
            answer.done.add_done_callback(lambda _: self._go_on(cycle, answer))
        else:
            cycle.response_started = cycle.response_complete = True
            self._write(answer)

    def _go_on(self, cycle: RequestResponseCycle, later: Later) -> None:
        """What a response has waited for is done."""
        self.waits = None
        if cycle.disconnected or self.transport.is_closing():
            return
        if later.done.cancelled():
            self.transport.close()  # nobody waits any longer
        elif (answer := later.then()) is None:
            self._again = None
            cycle.default_headers = self._listener.state.default_headers
            super()._start_asgi_task(cycle, self.app)
        elif isinstance(answer, Later) or cycle.keep_alive:
            self._say(cycle, answer)
            if cycle.response_complete and (self.pipeline or cycle.scope is not self.scope):
                cycle.on_response()
        else:
            cycle.response_started = cycle.response_complete = True
            self._write((answer[0], b"connection: close\r\n" + answer[1]))
            self.transport.close()

    def _write(self, answer: Response) -> None:
        self.transport.write(b"%s%s%s" % (answer[0], self._listener.date, answer[1]))

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- as uvicorn calls it
        """What is no HTTP is told so."""
        self._end(400, "holdem-1.1", "found what is no HTTP/1.1 request; allowed: that")

    def look_after(self, now: float) -> None:
        """Part with somebody who sends, or reads, too slowly."""
        allowed = self._listener.reception
        if not self.flow.write_paused and not self.transport.is_closing():
            self._stuck = None
        elif self._stuck is None:
            self._stuck = now
        elif now - self._stuck > allowed.stuck:
            self._listener.counts.overflows += 1
            self.transport.abort()
            return
        cycle = self.cycle
        if self.headers is not self._seen or self._works(cycle):
            self._seen, self._since = self.headers, now  # every message has a list of headers of its own
        elif not self._over:
            waited = now - self._since
            if cycle is not None and cycle.scope is self.scope and cycle.response_complete:
                if waited > allowed.idle:
                    self.transport.close()
            elif waited > allowed.arrive:
                self._end(
                    408, "holdem-1.1", f"found a request that takes longer than {allowed.arrive:g} s; allowed: less"
                )

    def _works(self, cycle: RequestResponseCycle | None) -> bool:
        """Whether the next word is ours."""
        if self.pipeline:
            return True
        if cycle is None or cycle.scope is not self.scope:
            return False
        return not cycle.response_complete and not cycle.more_body

    def eof_received(self) -> bool:  # type: ignore[override]  # False closes the connection
        """Nothing more will be asked; what was asked is still answered, if that does not take long."""
        cycle = self.cycle
        if self.scheme == "https" or cycle is None or not self._works(cycle):
            return False
        cycle.keep_alive = False
        self._cut_off_later()
        return True

    def _end(self, status: int, clause: str, told: str, *headers: str) -> None:
        """The last word, as soon as everything that was asked before has been answered."""
        body = f"{clause}: {told}\n"
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            *headers,
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        )
        word = "\r\n".join((*head, "", body)).encode()
        self._over = True
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._part(word)
        elif cycle.scope is not self.scope:
            cycle.on_response = lambda: self._part(word)
        elif self.pipeline or cycle.response_started:
            self.transport.close()  # there is no place for a word
        else:
            cycle.disconnected = True
            cycle.message_event.set()
            self._part(word)

    def _part(self, word: bytes) -> None:
        """A half-close, and then reading on, so that no reset overtakes what was said (ruling G2)."""
        transport = self.transport
        if transport.is_closing():
            return
        self._cut_off_later()
        self.flow.resume_reading()
        transport.write(word)
        if transport.can_write_eof():
            transport.write_eof()
        else:
            transport.close()

    def _cut_off_later(self) -> None:
        if self._linger is None:
            self._linger = self.loop.call_later(self._listener.reception.linger, self.transport.abort)


class Listener:
    """An application behind a listening socket. `counts.refused` says who found no place, and why."""

    def __init__(self, app: Application, reception: Reception, counts: Counts) -> None:
        self.loop = asyncio.get_running_loop()
        self.app = app
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
        elif allowed.per_address and self._addresses[host] >= allowed.per_address:
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
