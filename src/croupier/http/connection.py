"""HTTP connection: uvicorn's HTTP/1.1 protocol with immediate responses and its own limits."""

import asyncio
import logging
from asyncio import Future
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Protocol

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from croupier.http.deferred import Application, Deferred, RawResponse
from croupier.http.limits import ConnectionLimits
from croupier.http.pipelining import PipeliningProtocol
from croupier.net.client_addresses import address_key
from croupier.observers.counters import RoomCounters

UVICORN_LOGGER = logging.getLogger("croupier.http.uvicorn")
"""Receives uvicorn's own messages and discards them: clients must not be able to fill our log."""
UVICORN_LOGGER.addHandler(logging.NullHandler())
UVICORN_LOGGER.propagate = False
UVICORN_LOGGER.setLevel(logging.CRITICAL)

MAX_REPEATED_REQUEST_BYTES = 4096
"""A repeated request is recognised up to this size."""


class ConnectionOwner(Protocol):
    """What a connection uses of its server."""

    app: Application
    config: Config
    state: ServerState
    loop: asyncio.AbstractEventLoop
    limits: ConnectionLimits
    counts: RoomCounters
    room: str | None
    date_header: bytes

    @property
    def is_flooded(self) -> bool: ...  # noqa: D102 -- as in HttpServer
    def accept(self, connection: "HttpConnection", host: str) -> str | None: ...  # noqa: D102 -- as in HttpServer
    def release(self, connection: "HttpConnection", host: str) -> None: ...  # noqa: D102 -- as in HttpServer


class HttpConnection(PipeliningProtocol):
    """One HTTP connection. The server checks its timeouts once a second, so requests need no timers of their own."""

    def __init__(self, server: ConnectionOwner) -> None:
        super().__init__(server.config, server.state, server.loop)
        self.logger = UVICORN_LOGGER
        self.access_log = False
        self._http_server = server
        self._host = ""
        self._awaits_body = False
        self._messages_begun = 0  # the number of messages that began in the last read
        self._was_answered_at_once = False
        # A whole request that was answered immediately: clients that poll send the same bytes again.
        self._repeated_request: bytes | None = None
        self.response_future: Future[Any] | None = None  # what a response without a task waits for
        self._close_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._last_headers: object = None
        self._last_progress_time = server.loop.time()
        self._write_blocked_since: float | None = None

    def connection_made(self, transport: Any) -> None:
        """Register with the server, or refuse the client."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        self._host = "" if host in self._http_server.limits.trusted_proxies else address_key(host)
        if reason := self._http_server.accept(self, self._host):
            self._http_server.counts.refused[reason] += 1
            if self._http_server.is_flooded:
                transport.abort()  # too many refused clients: do not send a response
                return
            self._refuse_and_close(
                503, "9.10", f"found no free place ({reason}); allowed: to come later", "retry-after: 1"
            )

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the server."""
        if self._close_timer is not None:
            self._close_timer.cancel()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._http_server.release(self, self._host)

    def data_received(self, data: bytes) -> None:
        """Answer a repeated request without parsing it; parse everything else."""
        self._http_server.counts.bytes_received += len(data)
        if self._unparsed_bytes or self._input_is_ignored:
            super().data_received(data)
            return
        if data == self._repeated_request and not (
            self.flow.write_paused or self.response_future or self.transport.is_closing()
        ):
            assert self.cycle is not None, "a repeated request has a previous cycle"
            if response := self._http_server.app.try_get(self.scope):
                self._last_headers = None  # it counts as a message of its own
                self._respond(self.cycle, response)
                return
        self._parse(data, 0)

    def _parse_chunk(self, data: bytes) -> None:
        """Feed the parser, and refuse a request whose head is too large."""
        if self._input_is_ignored or self.transport.is_closing():
            return
        previous_headers, self._repeated_request = self.headers, None
        is_between_messages, self._messages_begun, self._was_answered_at_once = not self._in_message, 0, False
        super()._parse_chunk(data)
        if (
            is_between_messages
            and self._messages_begun == 1
            and self._was_answered_at_once
            and not self._in_message
            and len(data) <= MAX_REPEATED_REQUEST_BYTES
        ):
            self._repeated_request = data
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope:
            self._header_bytes = self._header_bytes + len(data) if self.headers is previous_headers else len(data)
            if self._header_bytes > self._http_server.limits.max_header_bytes and not self._input_is_ignored:
                limit = self._http_server.limits.max_header_bytes
                self._refuse_and_close(431, "1.1", f"found a head of {self._header_bytes} bytes; allowed: {limit}")
        elif self._header_bytes:
            self._header_bytes = 0

    def _on_parsed(self) -> None:
        if self._awaits_body:
            self._awaits_body = False
            self._start_task()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Answer a GET at once if possible, and a command when its body is complete; start a task for the rest."""
        self._current_cycle = cycle
        if cycle.scope["http_version"] == "1.1" and [name for name, _ in cycle.scope["headers"]].count(b"host") != 1:
            self._refuse_host(cycle)
            return
        if self._is_parsing and cycle.keep_alive and not self.flow.write_paused:
            scope = cycle.scope
            if scope["method"] != "GET":
                self._awaits_body = True
                return
            if response := self._http_server.app.try_get(scope):
                self._was_answered_at_once = True
                self._respond(cycle, response)
                return
        super()._start_asgi_task(cycle, app)

    def on_message_begin(self) -> None:
        """Count the request that begins."""
        super().on_message_begin()
        self._messages_begun += 1

    def on_message_complete(self) -> None:
        """Answer a command whose body is complete now, at once if possible."""
        super().on_message_complete()
        if self._awaits_body:
            self._awaits_body = False
            cycle = self.cycle
            assert cycle is not None, "a command has a head"
            if response := self._http_server.app.try_command(cycle.scope, bytes(cycle.body)):
                self._respond(cycle, response)
            else:
                self._start_task()

    def _start_task(self) -> None:
        cycle = self.cycle
        assert cycle is not None, "a task needs a request"
        super()._start_asgi_task(cycle, self.app)

    def _respond(self, cycle: RequestResponseCycle, response: RawResponse | Deferred) -> None:
        """Send a complete response in one write, now or when its future is done."""
        if isinstance(response, Deferred):
            cycle.response_started = cycle.response_complete = False
            self.response_future = response.done
            response.done.add_done_callback(lambda _: self._on_deferred_done(cycle, response))
        else:
            cycle.response_started = cycle.response_complete = True
            self._write(response)
            if self.flow.read_paused:
                self.flow.resume_reading()  # skip the rest of an unused body

    def _on_deferred_done(self, cycle: RequestResponseCycle, deferred: Deferred) -> None:
        """Send a response whose future is done."""
        self.response_future = None
        if cycle.disconnected or self.transport.is_closing():
            return
        if deferred.done.cancelled():
            self.transport.close()  # the server is closing
            return
        response = deferred.then()
        if cycle.keep_alive:
            self._respond(cycle, response)
            if self.pipeline or self._unparsed_bytes or cycle.scope is not self.scope:
                cycle.on_response()
        else:
            cycle.response_started = cycle.response_complete = True
            self._write((response[0], b"connection: close\r\n" + response[1]))
            self.transport.close()

    def _write(self, response: RawResponse) -> None:
        self.transport.write(b"%s%s%s" % (response[0], self._http_server.date_header, response[1]))

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- as uvicorn calls it
        """Refuse bytes that are not HTTP."""
        self._refuse_and_close(400, "1.1", "found what is no HTTP/1.1 request; allowed: that")

    def check_timeouts(self, now: float) -> None:
        """Close the connection if the client sends or reads too slowly."""
        limits = self._http_server.limits
        if not self.flow.write_paused and not self.transport.is_closing():
            self._write_blocked_since = None
        elif self._write_blocked_since is None:
            self._write_blocked_since = now
        elif now - self._write_blocked_since > limits.write_timeout:
            self._http_server.counts.overflows += 1
            self.transport.abort()
            return
        cycle = self.cycle
        if self.headers is not self._last_headers or self._is_responding(cycle):
            # Every message has a list of headers of its own.
            self._last_headers, self._last_progress_time = self.headers, now
        elif not self._input_is_ignored:
            waited = now - self._last_progress_time
            if cycle is not None and cycle.scope is self.scope and cycle.response_complete:
                if waited > limits.keep_alive_timeout:
                    self.transport.close()
            elif waited > limits.request_timeout:
                self._refuse_and_close(
                    408, "1.1", f"found a request that takes longer than {limits.request_timeout:g} s; allowed: less"
                )

    def _is_responding(self, cycle: RequestResponseCycle | None) -> bool:
        """Whether the client waits for a response."""
        if self.pipeline:
            return True
        if cycle is None or cycle.scope is not self.scope:
            return False
        return not cycle.response_complete and not cycle.more_body

    def eof_received(self) -> bool:  # type: ignore[override]  # False closes the connection
        """Answer the pending request, within `close_timeout`, although the client ended its output."""
        if super().eof_received():
            self._abort_later()
            return True
        cycle = self.cycle
        if self.scheme == "https" or cycle is None or not self._is_responding(cycle):
            return False
        cycle.keep_alive = False
        self._abort_later()
        return True

    def _refuse_host(self, cycle: RequestResponseCycle) -> None:
        """Refuse the next request to be answered because it does not name its host (RFC 9112, 3.2)."""
        self._ignore_input()
        cycle.response_started = cycle.response_complete = True
        self._send_and_close(
            self._error_response(400, "1.1", "found a request without a Host, or with several; allowed: one Host")
        )

    def _refuse_and_close(self, status: int, clause: str, found: str, *headers: str) -> None:
        """Send an error as the last response, after all earlier requests are answered."""
        response = self._error_response(status, clause, found, *headers)
        self._ignore_input()
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            self._send_and_close(response)
        elif cycle.scope is not self.scope:
            cycle.on_response = lambda: self._send_and_close(response)
        elif self.pipeline or cycle.response_started:
            self.transport.close()  # a response has begun, or others must come first
        else:
            cycle.disconnected = True
            cycle.message_event.set()
            self._send_and_close(response)

    def _error_response(self, status: int, clause: str, found: str, *headers: str) -> bytes:
        """An error response that ends the connection."""
        body = f"{self._http_server.room}-{clause}: {found}\n" if self._http_server.room else f"{found}\n"
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            *headers,
            "content-type: text/plain; charset=utf-8",
            f"content-length: {len(body)}",
            "connection: close",
        )
        return "\r\n".join((*head, "", body)).encode()

    def _send_and_close(self, response: bytes) -> None:
        """Half-close and keep reading, so that no reset overtakes the response (ruling G2)."""
        transport = self.transport
        if transport.is_closing():
            return
        self._abort_later()
        self.flow.release()
        transport.write(response)
        if transport.is_closing():
            return
        if transport.can_write_eof():
            with suppress(OSError):  # the client has reset the connection
                transport.write_eof()
        else:
            transport.close()

    def _abort_later(self) -> None:
        if self._close_timer is None:
            self._close_timer = self.loop.call_later(self._http_server.limits.close_timeout, self.transport.abort)
