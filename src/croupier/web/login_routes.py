"""The routes of logging in and out, with the accounts of the hold'em room."""

import time
from collections.abc import Sequence
from math import ceil
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.presentation import Text, text
from croupier.http.auth import Authenticator, AuthError, basic_authorization
from croupier.web.checks import Checks
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys, Visitor, cookie_name, set_cookie
from croupier.web.lobby import client_address
from croupier.web.logins import Logins
from croupier.web.render import Renderer, request_locale, translator
from croupier.web.security import read_form
from croupier.web.tables import Tables

WRONG: Final = text("The user name or the password is wrong.")
UNAVAILABLE: Final = text("Nobody can log in now. Try again later.")


class LoginRoutes:
    """Logs browsers in and out. Each time the browser gets a new session id, so that an id known before is useless."""

    def __init__(
        self,
        authenticator: Authenticator,
        logins: Logins,
        tables: Tables,
        checks: Checks,
        *,
        keys: SigningKeys,
        renderer: Renderer,
        config: WebConfig,
    ) -> None:
        self._authenticator = authenticator
        self._logins = logins
        self._tables = tables
        self._checks = checks
        self._keys = keys
        self._renderer = renderer
        self._config = config

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        return [
            Route("/login", self.show),
            Route("/login", self.log_in, methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the form."""
        return self._page(request)

    async def log_in(self, request: Request) -> Response:
        """Check the password as hold'em does. The session keeps its tables and its checks."""
        form = await read_form(request, self._config.max_body_bytes)
        name, password = form.get("username", ""), form.get("password", "")
        header = basic_authorization(name, password)
        try:
            if ":" in name:  # it would end the name in the header
                raise AuthError("wrong", "found a name with a colon; allowed: one without")
            login = await self._authenticator.authenticate(header, client_address(request, self._config)[0])
        except AuthError as error:
            return self._refuse(request, error, name)
        former, visitor = request.state.visitor.session, self._keys.issue(time.time())
        csrf = self._keys.csrf_token(visitor)
        self._logins.remove(former)
        self._logins.add(visitor.session, login)
        self._tables.move(former, visitor.session, csrf)
        self._checks.move(former, visitor.session, csrf)
        return self._redirect(visitor)

    async def log_out(self, request: Request) -> Response:
        """End the login, leave all tables of the session, and stop its checks."""
        await read_form(request, self._config.max_body_bytes)
        former: Visitor = request.state.visitor
        for table in self._tables.of_session(former.session):
            table.seat.leave()
        self._checks.remove(former.session)
        self._logins.remove(former.session)
        return self._redirect(self._keys.issue(time.time()))

    def _redirect(self, visitor: Visitor) -> Response:
        """Send a browser with a new session to the lobby."""
        response = RedirectResponse("/", 303)
        has_tls = self._config.has_tls
        value = set_cookie(cookie_name(has_tls=has_tls), self._keys.encode(visitor), has_tls=has_tls)
        response.headers.append("set-cookie", value)
        return response

    def _refuse(self, request: Request, error: AuthError, username: str) -> Response:
        """Show the form again, with the reason why the login was refused."""
        if error.reason == "often":
            wait = ceil(error.retry_after or 1)
            detail, status = text("Too many wrong passwords. Try again in {count} s.", count=wait), 429
        elif error.reason == "busy":
            detail, status = UNAVAILABLE, 503
        else:
            detail, status = WRONG, 422
        response = self._page(request, detail, username, status)
        if error.retry_after is not None:
            response.headers["retry-after"] = str(ceil(error.retry_after))
        return response

    def _page(self, request: Request, detail: Text | None = None, username: str = "", status: int = 200) -> Response:
        error = "" if detail is None else translator(request_locale(request))(detail)
        context = {"error": error, "username": username, "keeps_coins": self._config.keeps_coins}
        return self._renderer.page(request, "login.html", status_code=status, **context)
