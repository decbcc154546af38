"""HTTP/1.1 connection: an explicit state machine on httptools' parser.

Requests are answered one after another in the order of their arrival. While one is being answered, at most one more is
parsed; further bytes are kept unparsed and, above `MAX_UNPARSED_BYTES`, stay in the kernel.
"""

import asyncio
from asyncio import Future
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Any, Final, Protocol, cast

from croupier.http.limits import MAX_BODY_BYTES, ConnectionLimits
from croupier.http.messages import (
    LAST_CHUNK,
    PLAIN_TEXT,
    Answer,
    Application,
    Deferred,
    Header,
    Request,
    Response,
    Stream,
    encode_chunk,
    encode_response,
)
from croupier.http.request_reader import RequestReader
from croupier.net.client_addresses import address_key
from croupier.net.event_loop import call_when_done, resolve
from croupier.observers.counters import RoomCounters

MAX_UNPARSED_BYTES: Final = 16_384

MAX_CHUNKS_PER_TURN: Final = 32
"""Maximum number of chunks parsed in one turn of the event loop; then other connections have their turn."""


class State(Enum):
    """What a connection does about the request whose turn it is."""

    IDLE = auto()
    """There is none: the next one is awaited, or its head is being read."""

    BODY = auto()
    """Its body is being read, because the answer depends on it."""

    ANSWERING = auto()
    """The application has not answered yet."""

    STREAMING = auto()
    """The body of the response is being sent, piece by piece."""

    CLOSING = auto()
    """The last response has been sent, or the connection is lost: all further input is discarded."""


class ConnectionOwner(Protocol):
    """What a connection uses of its server."""

    app: Application
    loop: asyncio.AbstractEventLoop
    limits: ConnectionLimits
    counts: RoomCounters
    room: str | None
    date_header: bytes
    pending: set[Future[Any]]

    @property
    def is_flooded(self) -> bool: ...  # noqa: D102 -- as in HttpServer
    def accept(self, connection: "HttpConnection", host: str) -> str | None: ...  # noqa: D102 -- as in HttpServer
    def release(self, connection: "HttpConnection", host: str) -> None: ...  # noqa: D102 -- as in HttpServer


class HttpConnection(asyncio.Protocol):
    """One HTTP connection. The server checks its timeouts once a second, so requests need no timers of their own."""

    def __init__(self, server: ConnectionOwner) -> None:
        self.state = State.IDLE
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._server = server
        self._app = server.app
        self._host = ""
        self._reader = RequestReader("", server.limits.max_header_bytes)
        self._waiting: Request | None = None  # has been parsed, and comes after the one being answered
        self._request: Request | None = None  # is being answered
        self._input_has_ended = False
        self._is_stopping = False
        self._is_reading_paused = False
        self._is_write_paused = False
        self._stream: Stream | None = None  # the body of the response that is being sent
        self._is_last_response = False
        self._answered: Future[None] | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        # Timeouts.
        self._progress_time = server.loop.time()
        self._was_asked = False
        self._write_paused_since: float | None = None

    # Events of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the server, or refuse the client."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        name = transport.get_extra_info("peername")
        address = name[0] if name else ""
        self._reader = RequestReader(address, self._server.limits.max_header_bytes)
        self._host = "" if address in self._server.limits.trusted_proxies else address_key(address)
        if reason := self._server.accept(self, self._host):
            self._server.counts.refused[reason] += 1
            if self._server.is_flooded:
                self._end()  # too many refused clients: do not send a response
                self.transport.abort()
            else:
                found = f"found no free place ({reason}); allowed: to come later"
                self._send_refusal(503, found, "9.10", (b"retry-after", b"1"))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the signature of a protocol
        """Tell the application that the client has disconnected, and the server that there is a place."""
        self._end()
        if self._close_timer is not None:
            self._close_timer.cancel()
        self._server.release(self, self._host)

    def data_received(self, data: bytes) -> None:
        """Answer a repeated request without parsing it; parse everything else as far as it may be."""
        self._server.counts.bytes_received += len(data)
        reader = self._reader
        if self.state is State.CLOSING or reader.error is not None:
            return
        request = reader.known_requests.get(data)
        if (
            request is not None
            and self.state is State.IDLE
            and self._waiting is None
            and not self._is_write_paused
            and not (reader.is_in_head or reader.body_owner or reader.unparsed)
        ):
            reader.has_begun_request, request.disconnected = True, None
            self._begin(request)
        else:
            reader.unparsed = reader.unparsed[reader.offset :] + data if reader.unparsed else data
            reader.offset = 0
            self._proceed()

    def eof_received(self) -> bool:
        """Answer the pending requests, within `close_timeout`, although the client ended its output."""
        self._input_has_ended = True
        is_pending = self._reader.unparsed or self._waiting or self.state in {State.ANSWERING, State.STREAMING}
        if not is_pending or not self.transport.can_write_eof():  # TLS has no half-close
            return False
        self._abort_later()
        return True

    def pause_writing(self) -> None:
        """Answer nothing more while the client does not read."""
        self._is_write_paused = True

    def resume_writing(self) -> None:
        """Go on: the client has caught up."""
        self._is_write_paused = False
        self._send_pieces()
        self._proceed()

    # Requests.

    def _proceed(self) -> None:
        """Parse and answer what has arrived, in order, as far as possible; then read on, or not."""
        reader, chunks = self._reader, 0
        while not self._is_write_paused:
            if self.state is State.IDLE and self._waiting is not None:
                self._begin(self._waiting)
            elif self.state is State.BODY and (request := self._request_with_body()) is not None:
                self._answer(self._app.respond(request))
            elif reader.unparsed and self._waiting is None and (self.state is State.IDLE or reader.body_owner):
                if chunks == MAX_CHUNKS_PER_TURN:
                    self._server.loop.call_soon(self._proceed)
                    break
                chunks += 1
                self._waiting = reader.read()
                if reader.error is not None and self._request and reader.body_owner is self._request:
                    self._send_refusal(*reader.error)
            else:
                break
        if not reader.unparsed and self._waiting is None and self.state in {State.IDLE, State.BODY}:
            if reader.error is not None:
                self._send_refusal(*reader.error)
            elif self._input_has_ended or (self._is_stopping and self.state is State.IDLE):
                self._close()
        must_pause = len(reader.unparsed) - reader.offset > MAX_UNPARSED_BYTES
        if must_pause is not self._is_reading_paused:
            self._pause_reading(must_pause)

    def _begin(self, request: Request) -> None:
        """Answer a request whose turn it is, or read its body."""
        self._waiting, self._request, self._was_asked = None, request, True
        if not request.has_host:
            self._send_refusal(400, "found a request without a Host, or with several; allowed: one Host")  # RFC 9112
        elif (answer := self._app.open(request)) is not None:
            self._answer(answer)
        else:
            self.state = State.BODY
            if self._reader.expects_continue:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _request_with_body(self) -> Request | None:
        """The request whose body is read, if that is complete or too large."""
        request, body = self._request, self._reader.body
        assert request is not None, "a body belongs to a request"
        if not request.is_complete:
            if len(body) <= MAX_BODY_BYTES:
                return None
            request.body = bytes(body)
        return request

    def _answer(self, answer: Answer) -> None:
        """Send a response now, or when it is known."""
        request, reader = self._request, self._reader
        assert request is not None, "an answer has a request"
        if reader.body_owner is request:  # not the request after it
            reader.wants_body = False
        if isinstance(answer, Deferred):
            self.state, future = State.ANSWERING, answer.future
            self._server.pending.add(future)
            on_answered = partial(self._on_answered, request, answer)
            call_when_done(future, on_answered)
            return
        has_next = reader.unparsed or self._waiting is not None
        is_last = not request.keep_alive or ((self._is_stopping or self._input_has_ended) and not has_next)
        date = self._server.date_header
        self.transport.write(encode_response(answer, date, is_head=request.method == "HEAD", keep_alive=not is_last))
        if answer.stream is None:
            self.state, self._request = State.IDLE, None
            if is_last:
                self._close()
        else:
            self.state, self._stream, self._is_last_response = State.STREAMING, answer.stream, is_last
            answer.stream.open(self._send_pieces)
            self._send_pieces()

    def _on_answered(self, request: Request, deferred: Deferred, _: Future[Any]) -> None:
        """Send a response that is known now, unless the client has disconnected."""
        self._server.pending.discard(deferred.future)
        is_awaited = self._request is request and self.state is State.ANSWERING
        if deferred.future.cancelled():  # the server is closing
            if is_awaited:
                self._close()
            return
        try:
            answer = deferred.answer()
            if is_awaited:
                self._answer(answer)
                self._proceed()
            elif isinstance(answer, Response) and answer.stream is not None:
                answer.stream.close()
        except Exception as error:
            self._report(error)
            self.transport.abort()

    def _send_pieces(self) -> None:
        """Send what is known of the body of a response, no faster than the client reads it."""
        try:
            while self._stream is not None and not self._is_write_paused:
                piece = self._stream.take_piece()
                if piece is None:
                    self._end_stream(self._stream)
                elif piece:
                    self.transport.write(encode_chunk(piece))
                else:
                    break
        except Exception as error:
            self._report(error)
            self._close()

    def _end_stream(self, stream: Stream) -> None:
        self.transport.write(LAST_CHUNK)
        self.state, self._request, self._stream = State.IDLE, None, None
        stream.close()
        if self._is_last_response:
            self._close()
        else:  # the next request is answered later, because the house may be about to show a change
            self._server.loop.call_soon(self._proceed)

    def _report(self, error: Exception) -> None:
        context = {"message": "a response could not be sent", "exception": error}
        self._server.loop.call_exception_handler(context)

    # Refusals and the end.

    def _send_refusal(self, status: int, found: str, clause: str = "1.1", *headers: Header) -> None:
        """Send an error that ends the connection, unless another response has begun."""
        if self.state is State.STREAMING:
            self._close()
            return
        body = (f"{self._server.room}-{clause}: {found}\n" if self._server.room else f"{found}\n").encode()
        content = [*headers, (b"content-type", PLAIN_TEXT), (b"content-length", b"%d" % len(body))]
        self._send_last(encode_response(Response(status, content, body), date=b"", keep_alive=False))

    def _send_last(self, response: bytes) -> None:
        """Half-close and keep reading, so that no reset overtakes the response (ruling G2)."""
        self._end()
        if self.transport.is_closing():
            return
        self._abort_later()
        self._pause_reading(False)
        self.transport.write(response)
        if self.transport.can_write_eof():
            with suppress(OSError):  # the client has reset the connection
                self.transport.write_eof()
        else:
            self.transport.close()

    def _close(self) -> None:
        """Close the connection when everything is sent."""
        self._end()
        self.transport.close()

    def _end(self) -> None:
        """Discard all further input, and what is being done about earlier input."""
        self.state, self._waiting = State.CLOSING, None
        self._reader.discard()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
        disconnected = None if self._request is None else self._request.disconnected
        for waiter in (disconnected, self._answered):
            resolve(waiter)

    def stop(self) -> None:
        """Close the connection when the requests that have arrived are answered."""
        self._is_stopping = True
        self._proceed()

    def pending_answer(self) -> Future[None] | None:
        """A future that is done when the body of a request has been read and answered, or that of a response sent.

        None if neither is going on. Only for a connection that stops: it is closed after the answer.
        """
        if self.state not in {State.BODY, State.STREAMING}:
            return None
        self._answered = self._server.loop.create_future()
        return self._answered

    def _abort_later(self) -> None:
        if self._close_timer is None:
            self._close_timer = self._server.loop.call_later(self._server.limits.close_timeout, self.transport.abort)

    def _pause_reading(self, pause: bool) -> None:
        if pause is not self._is_reading_paused and not self.transport.is_closing():
            self._is_reading_paused = pause
            if pause:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()

    # Timeouts.

    def check_timeouts(self, now: float) -> None:
        """Close the connection if the client sends or reads too slowly."""
        limits = self._server.limits
        if not self._is_write_paused and not self.transport.is_closing():
            self._write_paused_since = None
        elif self._write_paused_since is None:
            self._write_paused_since = now
        elif now - self._write_paused_since > limits.write_timeout:
            self._server.counts.overflows += 1
            self.transport.abort()
            return
        is_sending = self._is_write_paused or self.state in {State.ANSWERING, State.STREAMING}
        if self._reader.has_begun_request or is_sending:
            self._reader.has_begun_request, self._progress_time = False, now
        elif self.state is not State.CLOSING:
            waited = now - self._progress_time
            if self.state is State.IDLE and self._was_asked and not self._reader.is_in_head:
                if waited > limits.keep_alive_timeout:
                    self._close()
            elif waited > limits.request_timeout:
                found = f"found a request that takes longer than {limits.request_timeout:g} s; allowed: less"
                self._send_refusal(408, found)
