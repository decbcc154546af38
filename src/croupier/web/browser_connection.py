"""Connections of browsers: those of uvicorn, with limits on the time and the size of what comes before a request."""

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

CONNECTION: Final = "connection"
"""The key of the connection in the state of a request (ASGI)."""


class BrowserConnection(HttpToolsProtocol):
    """A connection of a browser.

    It is closed if it brings no request within HEAD_SECONDS after it was opened, or after the first byte of a later
    request. It is closed at once if it has brought more than MAX_BYTES since its last request began: the form of a
    request is much shorter, so it is a head without an end, or many requests before their turn.
    """

    HEAD_SECONDS = 20.0
    MAX_BYTES = 1 << 17

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        self._byte_count = 0
        self._request_count = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Wait for the first request."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Wait for the end of a head that has begun."""
        self._byte_count += len(data)
        if self._byte_count > self.MAX_BYTES:
            self.transport.abort()
            return
        if not self._request_count:
            self._start_timer()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._cancel_timer()
        self.app_state.clear()  # ends the cycle of references
        super().connection_lost(exc)

    def begin_request(self) -> None:
        """Note that the app has a request: its head is complete."""
        self._request_count += 1
        self._byte_count = 0
        self._cancel_timer()

    def end_request(self) -> None:
        """Note that a request is answered; bytes that have arrived since may be the beginning of the next one."""
        self._request_count -= 1
        if self._byte_count and not self._request_count:
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is None and not self.transport.is_closing():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.HEAD_SECONDS, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
