"""One connection of an HTTP service: uvicorn's HTTP/1.1, with answers that need no task, and limits of our own."""

import asyncio
import logging
from asyncio import Future
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from croupier.http.deferred import Later, Response
from croupier.http.pipelining import PipeliningProtocol
from croupier.net.client_addresses import counted

if TYPE_CHECKING:
    from croupier.http.server import Listener

UNHEARD = logging.getLogger("croupier.http.unheard")
"""Where uvicorn's own words go: whoever connects should not be able to fill our log."""
UNHEARD.addHandler(logging.NullHandler())
UNHEARD.propagate = False
UNHEARD.setLevel(logging.CRITICAL)

AGAIN = 4096
"""A request of so many bytes at most is recognized when it is said again."""


class Line(PipeliningProtocol):
    """One connection. A round every second looks after its patience, so that requests need no timers of their own."""

    def __init__(self, listener: "Listener") -> None:
        super().__init__(listener.config, listener.state, listener.loop)
        self.logger = UNHEARD
        self.access_log = False
        self._listener = listener
        self._host = ""
        self._deferred = False
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
        host = self.client[0] if self.client else ""
        self._host = "" if host in self._listener.reception.proxies else counted(host)
        if reason := self._listener.seat(self, self._host):
            self._listener.counts.refused[reason] += 1
            if self._listener.flooded:
                transport.abort()  # a flood is not seen off politely
                return
            self._end(503, "9.10", f"found no free place ({reason}); allowed: to come later", "retry-after: 1")

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        if self._linger is not None:
            self._linger.cancel()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._listener.unseat(self, self._host)

    def data_received(self, data: bytes) -> None:
        """Answer what is said again, and parse the rest."""
        self._listener.counts.bytes_received += len(data)
        if self._unparsed or self._over:
            super().data_received(data)
            return
        if data == self._again and not (self.flow.write_paused or self.waits or self.transport.is_closing()):
            assert self.cycle is not None, "what is said again was said before"
            if answer := self._listener.app.at_hand(self.scope):
                self._seen = None  # it is a message of its own
                self._say(self.cycle, answer)
                return
        self._parse(data, 0)

    def _parse_piece(self, data: bytes) -> None:
        """Feed the parser; a request whose head has no end is not kept."""
        if self._over or self.transport.is_closing():
            return
        before, self._again = self.headers, None
        between, self._begun, self._at_hand = not self._in_message, 0, False
        super()._parse_piece(data)
        if between and self._begun == 1 and self._at_hand and not self._in_message and len(data) <= AGAIN:
            self._again = data
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope:
            self._head = self._head + len(data) if self.headers is before else len(data)
            if self._head > self._listener.reception.head and not self._over:
                most = self._listener.reception.head
                self._end(431, "1.1", f"found a head of {self._head} bytes; allowed: {most}")
        elif self._head:
            self._head = 0

    def _parsed(self) -> None:
        if self._deferred:
            self._deferred = False
            self._begin()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Answer a request: what is at hand goes at once, a command when all of it is there; the rest gets a task."""
        self._answering = cycle
        if cycle.scope["http_version"] == "1.1" and [name for name, _ in cycle.scope["headers"]].count(b"host") != 1:
            self._refuse(cycle)
            return
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

    def on_message_complete(self) -> None:
        """All of a request is there."""
        super().on_message_complete()
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
            if self.flow.read_paused:
                self.flow.resume_reading()  # of a body that nobody wants

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
            if cycle.response_complete and (self.pipeline or self._unparsed or cycle.scope is not self.scope):
                cycle.on_response()
        else:
            cycle.response_started = cycle.response_complete = True
            self._write((answer[0], b"connection: close\r\n" + answer[1]))
            self.transport.close()

    def _write(self, answer: Response) -> None:
        self.transport.write(b"%s%s%s" % (answer[0], self._listener.date, answer[1]))

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- as uvicorn calls it
        """What is no HTTP is told so."""
        self._end(400, "1.1", "found what is no HTTP/1.1 request; allowed: that")

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
                self._end(408, "1.1", f"found a request that takes longer than {allowed.arrive:g} s; allowed: less")

    def _works(self, cycle: RequestResponseCycle | None) -> bool:
        """Whether the next word is ours."""
        if self.pipeline:
            return True
        if cycle is None or cycle.scope is not self.scope:
            return False
        return not cycle.response_complete and not cycle.more_body

    def eof_received(self) -> bool:  # type: ignore[override]  # False closes the connection
        """Nothing more will be asked; what was asked is still answered, if that does not take long."""
        if super().eof_received():
            self._cut_off_later()
            return True
        cycle = self.cycle
        if self.scheme == "https" or cycle is None or not self._works(cycle):
            return False
        cycle.keep_alive = False
        self._cut_off_later()
        return True

    def _refuse(self, cycle: RequestResponseCycle) -> None:
        """Refuse a request that does not name its host, which is the next to be answered (RFC 9112, 3.2)."""
        self._discard()
        cycle.response_started = cycle.response_complete = True
        self._part(self._word(400, "1.1", "found a request without a Host, or with several; allowed: one Host"))

    def _end(self, status: int, clause: str, found: str, *headers: str) -> None:
        """The last word, as soon as everything that was asked before has been answered."""
        word = self._word(status, clause, found, *headers)
        self._discard()
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

    def _word(self, status: int, clause: str, found: str, *headers: str) -> bytes:
        """A refusal after which the connection ends."""
        body = f"{self._listener.room}-{clause}: {found}\n" if self._listener.room else f"{found}\n"
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            *headers,
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        )
        return "\r\n".join((*head, "", body)).encode()

    def _part(self, word: bytes) -> None:
        """A half-close, and then reading on, so that no reset overtakes what was said (ruling G2)."""
        transport = self.transport
        if transport.is_closing():
            return
        self._cut_off_later()
        self.flow.release()
        transport.write(word)
        if transport.is_closing():
            return
        if transport.can_write_eof():
            with suppress(OSError):  # the peer has reset the connection
                transport.write_eof()
        else:
            transport.close()

    def _cut_off_later(self) -> None:
        if self._linger is None:
            self._linger = self.loop.call_later(self._listener.reception.linger, self.transport.abort)
