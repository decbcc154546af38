"""The HTTP server of an app: stock uvicorn on the running loop, without its signal handlers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Final

from starlette.applications import Starlette
from uvicorn import Server

from croupier.http.limits import ConnectionLimits
from croupier.net.listening_socket import BoundSocket
from croupier.web.browser_connection import BrowserConfig, RequestTimes

SHUTDOWN_SECONDS: Final = 1
"""Requests that are being answered have this long when the server is closed."""

KEEP_ALIVE_SECONDS: Final = 75


class UvicornServer(Server):
    """A uvicorn server that leaves the signals to the process that it runs in."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


class AppServer:
    """Serves the app on a bound socket, until it is closed. The `limits` on the number of connections apply."""

    def __init__(
        self,
        app: Starlette,
        bound: BoundSocket,
        tls_context: SSLContext | None = None,
        limits: ConnectionLimits = ConnectionLimits(),
    ) -> None:
        self._app = app
        self._server = UvicornServer(
            BrowserConfig(
                RequestTimes(app),
                limits,
                tls_context,
                loop="none",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._task = asyncio.get_running_loop().create_task(self._server.serve(sockets=[bound]))

    async def close(self) -> None:
        """Close the server. Streams have to be ended before. Raises what it has failed with."""
        self._server.should_exit = True
        await self._task
