"""What every app of this package has: pages of errors, security, the settings of a browser, and static files."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.core.logger import Logger
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.logins import Logins
from croupier.web.render import Renderer
from croupier.web.security import SecurityMiddleware
from croupier.web.settings_routes import SettingsRoutes
from croupier.web.static_files import static_files


def create_site(
    routes: Sequence[BaseRoute],
    renderer: Renderer,
    config: WebConfig,
    *,
    keys: SigningKeys,
    logins: Logins,
    log: Logger,
) -> Starlette:
    """Make an app with these routes and those that every app has. Its `renderer` links to pages that have a route."""

    async def show_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "other errors are not handled here"
        response = renderer.error(request, error.status_code)
        response.headers.update(error.headers or {})
        return response

    def show_fault(request: Request) -> Response:
        return renderer.error(request, 500)

    app = Starlette(
        routes=[
            *routes,
            *SettingsRoutes(config).routes,
            Route("/static/{hash}/{name:path}", static_files().respond),
        ],
        middleware=[
            Middleware(SecurityMiddleware, config=config, keys=keys, log=log, show_fault=show_fault, logins=logins)
        ],
        exception_handlers={HTTPException: show_error},
    )
    renderer.pages = frozenset(route.path.split("/")[1] for route in app.routes if isinstance(route, Route))
    app.state.keys = keys
    return app
