"""The web app: its routes, its errors and its state."""

from collections.abc import Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.core.logger import Logger, SilentLogger
from croupier.core.presentation import text
from croupier.web.admin_routes import AdminAccess, AdminRoutes
from croupier.web.check_routes import CheckRoutes
from croupier.web.checks import Checks
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.lobby import LobbyRoutes
from croupier.web.login_routes import LoginRoutes
from croupier.web.logins import Logins
from croupier.web.protocol_routes import ProtocolRoutes
from croupier.web.records import Records
from croupier.web.render import Renderer
from croupier.web.replay_routes import ReplayRoutes
from croupier.web.rooms import RoomEntry, authenticator
from croupier.web.seating import Seating
from croupier.web.seats import SERVER_CLOSING
from croupier.web.security import SecurityMiddleware
from croupier.web.static_files import static_files
from croupier.web.streams import Streams
from croupier.web.table_routes import TableRoutes
from croupier.web.tables import Tables
from croupier.web.watch_routes import WatchRoutes

ERROR_TEXTS: Final = {
    400: text("The request cannot be understood."),
    403: text("The form has expired. Go back, reload the page and try again."),
    404: text("There is nothing here, or it is not yours."),
    405: text("This address takes no such request."),
    408: text("The form took too long to arrive. Try again."),
    413: text("The request is too large."),
    415: text("The request is not a form."),
    429: text("Too many requests. Wait a moment and try again."),
    503: text("The server has too much to do. Try again later."),
}
SERVER_FAULT: Final = text("A fault of the server. It has been logged.")


def create_app(
    entries: Sequence[RoomEntry],
    config: WebConfig = WebConfig(),
    keys: SigningKeys | None = None,
    log: Logger = SilentLogger(),
    *,
    records: Records | None = None,
    admin: AdminAccess | None = None,
) -> Starlette:
    """Make the app for the rooms of a server. `keys` sign the cookies; without them, new ones do.

    `records` are the games that can be replayed, besides the transcripts. Without `admin` there is no administration.
    """
    keys = keys or SigningKeys()
    renderer = Renderer(entries)
    accounts = next(filter(None, map(authenticator, entries)), None)
    logins = Logins(accounts)
    tables = Tables(config)
    seating = Seating(entries, tables, renderer)
    streams = Streams(config)
    checks = Checks(config, renderer, log)
    watch = WatchRoutes(entries, streams, renderer, config)
    lobby = LobbyRoutes(seating, tables, watch, renderer, config)
    table_routes = TableRoutes(seating, tables, streams, renderer, config)

    optional_routes: list[BaseRoute] = []
    if accounts is not None:
        login = LoginRoutes(accounts, logins, tables, checks, keys=keys, renderer=renderer, config=config)
        optional_routes += login.routes
    if admin is not None:
        optional_routes += AdminRoutes(admin, tables, watch, keys=keys, renderer=renderer, config=config).routes

    async def show_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "other errors are not handled here"
        response = renderer.error(request, error.status_code, ERROR_TEXTS.get(error.status_code, SERVER_FAULT))
        response.headers.update(error.headers or {})
        return response

    def show_fault(request: Request) -> Response:
        return renderer.error(request, 500, SERVER_FAULT)

    app = Starlette(
        routes=[
            *lobby.routes,
            *table_routes.routes,
            *watch.routes,
            *optional_routes,
            *ProtocolRoutes(renderer).routes,
            *ReplayRoutes(renderer, records or Records()).routes,
            *CheckRoutes(entries, checks, streams, renderer, config).routes,
            Route("/static/{hash}/{name:path}", static_files().respond),
        ],
        middleware=[
            Middleware(SecurityMiddleware, config=config, keys=keys, log=log, show_fault=show_fault, logins=logins)
        ],
        exception_handlers={HTTPException: show_error},
    )
    renderer.pages = frozenset(route.path.split("/")[1] for route in app.routes if isinstance(route, Route))
    app.state.keys = keys
    app.state.tables = tables
    app.state.checks = checks
    app.state.streams = streams
    app.state.seating = seating
    app.state.watch = watch
    return app


def halt(app: Starlette) -> None:
    """Take no more seats and start no more checks: the server is shutting down."""
    tables: Tables = app.state.tables
    tables.halt(SERVER_CLOSING)
    checks: Checks = app.state.checks
    checks.halt()


def close(app: Starlette) -> None:
    """Leave all tables, stop all checks, and end all streams."""
    tables: Tables = app.state.tables
    tables.close()
    watch: WatchRoutes = app.state.watch
    watch.close()
    seating: Seating = app.state.seating
    seating.close()
    checks: Checks = app.state.checks
    checks.close()


async def wait_closed(app: Starlette) -> None:
    """Wait until all checks have ended after `close`."""
    checks: Checks = app.state.checks
    await checks.wait_idle()
