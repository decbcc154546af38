"""Pages for those who know their address, on this machine, while something runs: a matrix or a tournament."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from secrets import compare_digest
from typing import Final, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from croupier.net.addresses import format_address
from croupier.net.listening_socket import bind_socket, bound_address
from croupier.web.config import WebConfig
from croupier.web.http_server import AppServer
from croupier.web.render import Renderer
from croupier.web.site import Site

HOST: Final = "127.0.0.1"
SECRET_BYTES: Final = 16
"""Programs of others run on this machine, and can connect to the server: they must not guess the address."""

NEWS_STEPS: Final = 10
"""The progress is announced this often, and not at every change."""


class SecretPages(Protocol):
    """Pages, the app that shows them, and the secret path of the first one."""

    app: Starlette
    path: str

    async def run(self) -> None:
        """Publish changes until it is cancelled."""
        ...

    def end(self) -> None:
        """Publish the last state, and end all streams."""
        ...


def new_secret() -> str:
    """Return a secret for a path."""
    return secrets.token_urlsafe(SECRET_BYTES)


type Endpoint = Callable[[Request], Awaitable[Response]]
"""What answers the requests for a route."""


def protect(secret: str, endpoint: Endpoint) -> Endpoint:
    """Answer requests whose path has another `secret` as if there were nothing."""

    async def respond(request: Request) -> Response:
        if not compare_digest(request.path_params["secret"].encode(), secret.encode()):
            raise HTTPException(404)
        return await endpoint(request)

    return respond


def secret_site(name: str, port: int) -> Site:
    """Return a site without rooms, accounts and a log. With a cookie of its own, it can run beside others."""
    return Site(Renderer([]), WebConfig(cookie=f"croupier-{name}-{port}"))


def passes_step(before: int, now: int, total: int) -> bool:
    """Whether the progress is announced when it goes from `before` to `now`.

    >>> passes_step(0, 1, 16), passes_step(1, 2, 16)
    (False, True)
    """
    return NEWS_STEPS * now // total != NEWS_STEPS * before // total


@asynccontextmanager
async def serve_pages[P: SecretPages](make: Callable[[int], P], port: int) -> AsyncIterator[tuple[P, str]]:
    """Serve pages on loopback while the context is open; yield them and their URL. Raises OSError.

    `make` makes the pages for a port. A failure of their `run` is logged, and leaves them as they are.
    """
    with await bind_socket(HOST, port) as bound:
        address = bound_address(bound)
        pages = make(address[1])
        server = AppServer(pages.app, bound)
        publishing = asyncio.create_task(pages.run())
        publishing.add_done_callback(lambda task: task.cancelled() or task.result())
        try:
            yield pages, f"http://{format_address(address)}{pages.path}"
        finally:
            publishing.cancel()
            pages.end()
            await server.close()
