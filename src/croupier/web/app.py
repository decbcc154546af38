"""The web app of a server: its routes and its state."""

from collections.abc import Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from croupier.core.logger import Logger, SilentLogger
from croupier.web.admin_routes import AdminAccess, AdminRoutes
from croupier.web.check_routes import CheckRoutes
from croupier.web.checks import Checks
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.live_lobby import LiveLobby
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
from croupier.web.site import Site
from croupier.web.site_app import create_site_app
from croupier.web.table_routes import TableRoutes
from croupier.web.tables import Tables
from croupier.web.tournament_routes import TournamentRoutes
from croupier.web.watch_routes import WatchRoutes


def create_app(
    entries: Sequence[RoomEntry],
    config: WebConfig = WebConfig(),
    keys: SigningKeys | None = None,
    log: Logger = SilentLogger(),
    *,
    records: Records | None = None,
    admin: AdminAccess | None = None,
    tournament: Path | None = None,
) -> Starlette:
    """Make the app for the rooms of a server. `keys` sign the cookies; without them, new ones do.

    `records` are the games that can be replayed, besides the transcripts. Without `admin` there is no administration.
    `tournament` is the folder of a tournament that is shown.
    """
    accounts = next(filter(None, map(authenticator, entries)), None)
    site = Site(Renderer(entries), config, keys, Logins(accounts), log)
    tables = Tables(config)
    seating = Seating(entries, tables, site)
    checks = Checks(site)
    watch = WatchRoutes(entries, site)
    live_lobby = LiveLobby(site.renderer, watch.public_tables)

    optional_routes: list[BaseRoute] = []
    if accounts is not None:
        optional_routes += LoginRoutes(accounts, tables, checks, site).routes
    if admin is not None:
        optional_routes += AdminRoutes(admin, tables, watch, site).routes

    closers = [tables.close, watch.close, live_lobby.close, seating.close, checks.close]
    waits = [seating.wait_closed, checks.wait_idle]
    if tournament is not None:
        tournament_routes = TournamentRoutes(tournament, site)
        optional_routes += tournament_routes.routes
        closers.append(tournament_routes.close)
        waits.append(tournament_routes.wait_closed)

    routes = [
        *LobbyRoutes(seating, tables, live_lobby, site).routes,
        *TableRoutes(seating, tables, site).routes,
        *watch.routes,
        *optional_routes,
        *ProtocolRoutes(site.renderer).routes,
        *ReplayRoutes(site.renderer, records or Records()).routes,
        *CheckRoutes(entries, checks, site).routes,
    ]
    app = create_site_app(site, routes)
    app.state.tables = tables
    app.state.checks = checks
    app.state.streams = site.streams
    app.state.lobby = live_lobby
    app.state.closers = closers
    app.state.waits = waits
    return app


def halt(app: Starlette) -> None:
    """Take no more seats and start no more checks: the server is shutting down."""
    tables: Tables = app.state.tables
    tables.halt(SERVER_CLOSING)
    checks: Checks = app.state.checks
    checks.halt()


def close(app: Starlette) -> None:
    """Leave all tables, stop all checks, and end all streams."""
    for end in app.state.closers:
        end()


async def wait_closed(app: Starlette) -> None:
    """Wait until all bots, all checks, and the process of the tournament have ended after `close`."""
    for wait in app.state.waits:
        await wait()
