"""Connections of browsers: those of uvicorn, with limits on their number, and on what slow or greedy ones can use."""

import asyncio
from collections.abc import MutableMapping
from ssl import SSLContext
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from croupier.http.limits import ConnectionLimits
from croupier.http.request_reader import MAX_HEADERS
from croupier.net.client_addresses import address_key
from croupier.net.count_limit import CountLimit
from croupier.net.timer import Timer

CONNECTION: Final = "connection"
"""The key of the connection in the state of a request (ASGI)."""

REFUSAL: Final = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BrowserConfig(Config):
    """The configuration of uvicorn, with the limits on the number of connections, and a TLS context that is ready."""

    def __init__(self, app: ASGIApp, limits: ConnectionLimits, tls_context: SSLContext | None, **options: Any) -> None:
        super().__init__(app, http=BrowserConnection, **options)
        self._tls_context = tls_context
        self.trusted_proxies = limits.trusted_proxies
        self.open_connections = CountLimit(limits.max_connections_per_address, limits.max_connections)

    def load(self) -> None:
        """Complete the configuration; uvicorn itself would make its TLS context from files."""
        super().load()
        self.ssl = self._tls_context


class BrowserConnection(HttpToolsProtocol):
    """A connection of a browser.

    It is refused while there are too many connections, in all or from its address. It is closed if it brings no request
    within HEAD_SECONDS after it was opened, or after the first byte of a later request, and if it has not read a
    response for WRITE_SECONDS. It is closed at once if it has brought more than MAX_BYTES since its last request began,
    because the form of a request is much shorter. A request with more than MAX_HEADERS headers is refused, and so is
    one while MAX_WAITING_REQUESTS wait for their turn.
    """

    HEAD_SECONDS = 20.0
    WRITE_SECONDS = 30.0
    MAX_BYTES = 1 << 17
    MAX_WAITING_REQUESTS = 8

    def __init__(
        self,
        config: BrowserConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        self._byte_count = 0
        self._request_count = 0
        self._header_count = 0
        self._head_timer = Timer()
        self._write_timer = Timer()
        self._trusted_proxies = config.trusted_proxies
        self._open_connections = config.open_connections
        self._counted_address: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Wait for the first request, or refuse the connection."""
        name = transport.get_extra_info("peername")
        host = name[0] if name else ""
        address = "" if host in self._trusted_proxies else address_key(host)
        if self._open_connections.connection_refusal(address):
            self.transport = transport
            transport.write(REFUSAL)
            transport.close()
            return
        self._open_connections.add(address)
        self._counted_address = address
        super().connection_made(transport)
        self._start_head_timer()

    def data_received(self, data: bytes) -> None:
        """Wait for the end of a head that has begun."""
        if self.transport.is_closing():
            return
        self._byte_count += len(data)
        if self._byte_count > self.MAX_BYTES:
            self.transport.abort()
            return
        if not self._request_count:
            self._start_head_timer()
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Count the headers of a request, and later its trailers. Refuse it if too many requests wait already."""
        self._header_count = 0
        if len(self.pipeline) >= self.MAX_WAITING_REQUESTS:
            raise ValueError(f"found more than {self.MAX_WAITING_REQUESTS} requests that wait; allowed: that many")
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Refuse a request with too many headers, which uvicorn would collect without a limit."""
        self._header_count += 1
        if self._header_count > MAX_HEADERS:
            raise ValueError(f"found more than {MAX_HEADERS} headers; allowed: {MAX_HEADERS}")
        super().on_header(name, value)

    def pause_writing(self) -> None:
        """Wait until the browser reads, but not for ever."""
        super().pause_writing()
        self._write_timer.set(self.WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the browser has read."""
        self._write_timer.cancel()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; what the browser has not read by now is discarded."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        if self._counted_address is not None:
            self._open_connections.remove(self._counted_address)
            self._counted_address = None
        self._head_timer.cancel()
        self._write_timer.cancel()
        self.app_state.clear()  # ends the cycle of references
        super().connection_lost(exc)

    def begin_request(self) -> None:
        """Note that the app has a request: its head is complete."""
        self._request_count += 1
        self._byte_count = 0
        self._head_timer.cancel()

    def end_request(self) -> None:
        """Note that a request is answered; bytes that have arrived since may be the beginning of the next one."""
        self._request_count -= 1
        if self._byte_count and not self._request_count:
            self._start_head_timer()

    def _start_head_timer(self) -> None:
        if not self._head_timer.is_set and not self.transport.is_closing():
            self._head_timer.set(self.HEAD_SECONDS, self.transport.close)


class RequestTimes:
    """Notes at the connection of each request when the app has it, and when it is answered (ASGI)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        state: MutableMapping[str, Any] = scope["state"]
        connection: BrowserConnection = state.pop(CONNECTION)
        connection.begin_request()
        try:
            await self._app(scope, receive, send)
        finally:
            connection.end_request()
