"""What every app of this package has: pages of errors, security, the settings of a browser, and static files."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.web.security import SecurityMiddleware
from croupier.web.settings_routes import SettingsRoutes
from croupier.web.site import Site
from croupier.web.static_files import static_files


def create_site_app(site: Site, routes: Sequence[BaseRoute]) -> Starlette:
    """Make an app with these routes and those that every app has. Its renderer links to pages that have a route."""

    async def show_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "other errors are not handled here"
        response = site.renderer.error(request, error.status_code)
        response.headers.update(error.headers or {})
        return response

    app = Starlette(
        routes=[
            *routes,
            *SettingsRoutes(site.config).routes,
            Route("/static/{hash}/{name:path}", static_files().respond),
        ],
        middleware=[Middleware(SecurityMiddleware, site=site)],
        exception_handlers={HTTPException: show_error},
    )
    site.renderer.pages = frozenset(route.path.split("/")[1] for route in app.routes if isinstance(route, Route))
    app.state.keys = site.keys
    return app
