"""The routes of accounts: registering, logging in and logging out, with the accounts of the hold'em room."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from math import ceil
from typing import Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.basic_auth import basic_authorization
from croupier.core.presentation import Refused, Text, text
from croupier.core.usernames import MAX_NAME_CHARACTERS, InvalidUsername, validate_username
from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.net.client_addresses import address_key
from croupier.net.rate_limiter import RateLimiter
from croupier.web.checks import Checks
from croupier.web.cookies import Visitor
from croupier.web.lobby import client_address
from croupier.web.security import read_form
from croupier.web.site import Site
from croupier.web.tables import Tables

LOGIN_PAGE: Final = "login.html"
REGISTRATION_PAGE: Final = "register.html"

WRONG: Final = text("The user name or the password is wrong.")
UNAVAILABLE: Final = text("Accounts are not available now. Try again later.")
TOO_MANY_PASSWORDS: Final = text("Too many wrong passwords. Try again in {count} s.")
TOO_MANY_ACCOUNTS: Final = text("Too many new accounts from your address. Try again in {count} s.")
PASSWORD_MISSING: Final = text("Enter a password.")
PASSWORDS_DIFFER: Final = text("The two passwords differ. Enter the same password twice.")
NAME_TAKEN: Final = text("This user name, or one that looks like it, is in use. Choose another one.")
NAME_INVALID: Final = text(
    "This user name is not allowed. A name has 1 to {count} letters, digits and other visible characters of one "
    "script, with single spaces between them and without a colon.",
    count=MAX_NAME_CHARACTERS,
)


class FormError(Refused):
    """The form of an account is refused. `retry_after` is that of AuthError."""

    def __init__(self, reason: Text, status: int = 422, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after


class AccountForm(Struct, frozen=True):
    """What was entered: the user name, the password and, for a new account, the password once more."""

    username: str = ""
    password: str = ""
    repeated: str = ""

    @property
    def header(self) -> bytes:
        """The header with these credentials; the first colon in it ends the name."""
        return basic_authorization(self.username, self.password)


class LoginRoutes:
    """Registers accounts, and logs browsers in and out.

    Each time the browser gets a new session id, so that an id known before is useless.
    """

    def __init__(self, authenticator: Authenticator, tables: Tables, checks: Checks, site: Site) -> None:
        self._authenticator = authenticator
        self._tables = tables
        self._checks = checks
        self._site = site
        self._registrations = RateLimiter(site.config.new_sessions_per_minute, 60.0)
        self._loop = asyncio.get_running_loop()
        self.routes: Sequence[BaseRoute] = [
            Route("/login", partial(self.show_form, page=LOGIN_PAGE)),
            Route("/login", partial(self.log_in, page=LOGIN_PAGE, login=self._authenticate), methods=["POST"]),
            Route("/register", partial(self.show_form, page=REGISTRATION_PAGE)),
            Route("/register", partial(self.log_in, page=REGISTRATION_PAGE, login=self._register), methods=["POST"]),
            Route("/logout", self.log_out, methods=["POST"]),
        ]

    async def show_form(self, request: Request, page: str) -> Response:
        """Show the form of a page."""
        return self._page(request, page)

    async def log_in(
        self, request: Request, page: str, login: Callable[[AccountForm, str], Awaitable[VerifiedLogin]]
    ) -> Response:
        """Log in with what `login` returns for the form of a page and the address of the browser.

        The session keeps its tables and its checks.
        """
        fields = await read_form(request)
        form = AccountForm(fields.get("username", ""), fields.get("password", ""), fields.get("repeated", ""))
        try:
            verified = await login(form, client_address(request, self._site.config)[0])
        except FormError as error:
            return self._page(request, page, form.username, error)
        former, visitor = request.state.visitor.session, self._site.keys.issue(time.time())
        csrf = self._site.keys.csrf_token(visitor)
        self._site.logins.remove(former)
        self._site.logins.add(visitor.session, verified)
        self._tables.move(former, visitor.session, csrf)
        self._checks.move(former, visitor.session, csrf)
        return self._redirect(visitor)

    async def log_out(self, request: Request) -> Response:
        """End the login, leave all tables of the session, and stop its checks."""
        await read_form(request)
        former: Visitor = request.state.visitor
        for table in self._tables.of_session(former.session):
            self._tables.give_up(table)
        self._checks.remove(former.session)
        self._site.logins.remove(former.session)
        return self._redirect(self._site.keys.issue(time.time()))

    async def _authenticate(self, form: AccountForm, address: str) -> VerifiedLogin:
        """Check the password as hold'em does, and return the login. Raises FormError."""
        if ":" in form.username:
            raise FormError(WRONG)
        try:
            return await self._authenticator.authenticate(form.header, address)
        except AuthError as error:
            raise form_error(error, TOO_MANY_PASSWORDS, WRONG) from None

    async def _register(self, form: AccountForm, address: str) -> VerifiedLogin:
        """Create an account by the rules and limits of hold'em, and return its login. Raises FormError."""
        if wait := self._registrations.take(address_key(address), self._loop.time()):
            raise FormError(TOO_MANY_ACCOUNTS.fill(count=ceil(wait)), 429, wait)
        check_new_account(form)
        try:
            await self._authenticator.register(form.header, address)
            return await self._authenticator.authenticate(form.header, address)
        except AuthError as error:
            raise form_error(error, TOO_MANY_ACCOUNTS, NAME_TAKEN) from None

    def _redirect(self, visitor: Visitor) -> Response:
        """Send a browser with a new session to the lobby."""
        response = RedirectResponse("/", 303)
        response.headers.append("set-cookie", self._site.visitor_cookie(visitor))
        return response

    def _page(self, request: Request, template: str, username: str = "", refusal: FormError | None = None) -> Response:
        """Show a form, empty or with the reason why it was refused."""
        error, status = (None, 200) if refusal is None else (refusal.reason, refusal.status)
        context = {"error": error, "username": username, "keeps_coins": self._site.config.keeps_coins}
        response = self._site.renderer.page(request, template, status_code=status, **context)
        if refusal is not None and refusal.retry_after is not None:
            response.headers["retry-after"] = str(ceil(refusal.retry_after))
        return response


def form_error(error: AuthError, too_many: Text, wrong: Text) -> FormError:
    """Return the reason for which credentials are refused, for a visitor.

    `too_many` has a place for the `count` of seconds to wait. `wrong` holds when waiting does not help.
    """
    if error.reason == "often":
        return FormError(too_many.fill(count=ceil(error.retry_after or 1)), 429, error.retry_after)
    if error.reason in {"busy", "full"}:
        return FormError(UNAVAILABLE, 503, error.retry_after)
    return FormError(wrong)


def check_new_account(form: AccountForm) -> None:
    """Raise FormError if no account can have this name, or if the passwords are not two equal ones."""
    try:
        validate_username(form.username)
    except InvalidUsername:
        raise FormError(NAME_INVALID) from None
    if not form.password:
        raise FormError(PASSWORD_MISSING)
    if form.password != form.repeated:
        raise FormError(PASSWORDS_DIFFER)
