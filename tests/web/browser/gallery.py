"""A gallery: every template with sample data, served on loopback under the headers of the web app."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Final

import uvicorn
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

import croupier.web
from croupier.web.cards import sprite
from croupier.web.render import environment
from croupier.web.static_files import report_style
from tests.web.samples import PAGES

WEB: Final = Path(next(iter(croupier.web.__path__)))
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types croupier"
    ),
    "referrer-policy": "same-origin",
}
STREAMS: Final = (
    "/lobby/events",
    "/tables/7f/events",
    "/watch/7f/events",
    "/check/r1/events",
    "/class/i/kuhn/events",
    "/arena/i/events",
)


@cache
def make_environment(locale: str = "en") -> Environment:
    """Make an environment of the web app's templates of its own, with what the app adds to the pages."""
    made = environment.__wrapped__(locale)
    made.globals.update(
        csrf="token",
        pages=["", "watch", "replay", "protocols", "check", "login"],
        static=lambda name: f"/static/{name}",
    )
    return made


def static_routes() -> Sequence[BaseRoute]:
    """Return the routes of the static files, the sprites and the style of reports."""
    return [
        Route("/static/french.svg", lambda _: _svg("french")),
        Route("/static/spanish.svg", lambda _: _svg("spanish")),
        Route("/static/report.css", lambda _: Response(report_style(), media_type="text/css")),
        Mount("/static", StaticFiles(directory=WEB / "static")),
    ]


def make_gallery() -> Starlette:
    """Make an app with the pages of `samples.PAGES`, by name; `?theme=` and `?locale=` select theme and language."""

    def page(request: Request) -> Response:
        template, context = PAGES[request.path_params["name"]]
        theme = request.query_params.get("theme", "auto")
        environment = make_environment(request.query_params.get("locale", "en"))
        html = environment.get_template(template).render({"rooms": [], "theme": theme} | context)
        return HTMLResponse(html, headers=HEADERS)

    streams = [Route(path, ended_stream) for path in STREAMS]
    return Starlette(routes=[Route("/pages/{name}", page), *streams, *static_routes()])


def ended_stream(_: Request) -> Response:
    """Answer with a stream that has nothing new and never will."""
    return Response("event: end\ndata: \n\n", media_type="text/event-stream")


def _svg(deck: str) -> Response:
    return Response(sprite(deck), media_type="image/svg+xml")


@contextmanager
def serve(app: Starlette) -> Iterator[str]:
    """Serve an app on a free port, and return its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
