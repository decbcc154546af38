"""The HTTP server of an app: stock uvicorn on the running loop, without its signal handlers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import CERT_NONE, CERT_REQUIRED
from typing import Final

from msgspec import Struct
from starlette.applications import Starlette
from uvicorn import Server

from croupier.http.limits import ConnectionLimits
from croupier.net.listening_socket import BoundSocket
from croupier.web.browser_connection import BrowserConfig, RequestTimes

SHUTDOWN_SECONDS: Final = 1
"""Requests that are being answered have this long when the server is closed."""

KEEP_ALIVE_SECONDS: Final = 75


class TlsFiles(Struct, frozen=True):
    """PEM files: a certificate chain, its private key and, if clients need certificates, their authority."""

    certificate: Path
    key: Path
    client_authority: Path | None = None


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
        tls: TlsFiles | None = None,
        limits: ConnectionLimits = ConnectionLimits(),
    ) -> None:
        self._app = app
        self._server = UvicornServer(
            BrowserConfig(
                RequestTimes(app),
                limits,
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
                ssl_certfile=None if tls is None else tls.certificate,
                ssl_keyfile=None if tls is None else str(tls.key),
                ssl_ca_certs=None if tls is None or tls.client_authority is None else str(tls.client_authority),
                ssl_cert_reqs=CERT_NONE if tls is None or tls.client_authority is None else CERT_REQUIRED,
            )
        )
        self._task = asyncio.get_running_loop().create_task(self._server.serve(sockets=[bound]))

    async def close(self) -> None:
        """Close the server. Streams have to be ended before. Raises what it has failed with."""
        self._server.should_exit = True
        await self._task
