"""The settings of a browser: its language and its theme, each in a cookie."""

from collections.abc import Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.languages import locales
from croupier.web.config import WebConfig
from croupier.web.cookies import set_cookie
from croupier.web.render import THEMES
from croupier.web.security import read_form


class SettingsRoutes:
    """Keeps the settings that a browser chooses in the footer of a page."""

    def __init__(self, config: WebConfig) -> None:
        self._config = config
        self.routes: Sequence[BaseRoute] = [
            Route("/language", partial(self.set, name="locale", allowed=locales()), methods=["POST"]),
            Route("/theme", partial(self.set, name="theme", allowed=THEMES), methods=["POST"]),
        ]

    async def set(self, request: Request, name: str, allowed: Sequence[str]) -> Response:
        """Keep a setting in a cookie, and go back to the page that the form was on."""
        form = await read_form(request)
        value = form.get(name, "")
        if value not in allowed:
            raise HTTPException(400)
        response = RedirectResponse(previous_path(request), 303)
        response.headers.append("set-cookie", set_cookie(name, value, has_tls=self._config.has_tls))
        return response


def previous_path(request: Request) -> str:
    """Return the path of the page that a form was on, `/` if it is unknown."""
    referer = request.headers.get("referer", "")
    base = str(request.base_url)
    return f"/{referer[len(base) :]}".partition("#")[0] if referer.startswith(base) else "/"
