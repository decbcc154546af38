"""The administration: its token, and pages with accounts, the ledger and tables. It exists only with a token."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.presentation import Text, text
from croupier.net.client_addresses import address_key
from croupier.net.rate_limiter import RateLimiter
from croupier.store.records import StoreUnavailable
from croupier.web.lobby import client_address
from croupier.web.security import count_action, read_form
from croupier.web.site import Site
from croupier.web.tables import Tables
from croupier.web.watch_routes import WatchRoutes

if TYPE_CHECKING:  # the store is imported only if something is stored
    from croupier.store.store import Store

ADMIN_COOKIE: Final = "croupier-admin"
ADMIN_SECONDS: Final = 1800
MAX_TRIES: Final = 5
"""Wrong tokens of one address in a minute."""

MAX_ACCOUNTS: Final = 1000
"""The page lists at most this many accounts."""

MAX_TRANSFERS: Final = 100
"""The ledger shows this many of the newest entries."""

WRONG_TOKEN: Final = text("The token is wrong.")


class AdminAccess(Struct, frozen=True):
    """What the administration needs: its token, the store if there is one, and how to begin the shutdown."""

    token: str
    store: "Store | None"
    drain: Callable[[], None]

    def __repr__(self) -> str:
        return "AdminAccess(…)"


class AdminRoutes:
    """Shows the administration to browsers that have sent its token, for half an hour."""

    def __init__(self, access: AdminAccess, tables: Tables, watch: WatchRoutes, site: Site) -> None:
        self._access = access
        self._tables = tables
        self._watch = watch
        self._site = site
        self._is_draining = False
        self._tries = RateLimiter(MAX_TRIES, 60.0)
        self._purpose = f"admin {sha256(access.token.encode()).hexdigest()}"
        self.routes: Sequence[BaseRoute] = [
            Route("/admin", self.show),
            Route("/admin", self.enter, methods=["POST"]),
            Route("/admin/drain", self.drain, methods=["POST"]),
            Route("/admin/logout", self.leave, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the administration, or the form for its token."""
        if not self._is_admin(request):
            return self._form(request)
        return await self._page(request)

    async def enter(self, request: Request) -> Response:
        """Check the token."""
        form = await read_form(request)
        network = address_key(client_address(request, self._site.config)[0])
        now = count_action(self._tries, network)
        if not compare_digest(form.get("token", "").encode(), self._access.token.encode()):
            return self._form(request, WRONG_TOKEN, 422)
        self._tries.give_back(network, now)
        issued = f"{request.state.visitor.session}.{int(time.time())}"
        return self._redirect(f"{issued}.{self._site.keys.sign(self._purpose, issued)}", ADMIN_SECONDS)

    async def drain(self, request: Request) -> Response:
        """Shut the server down as the first SIGTERM does."""
        await self._check(request)
        if not self._is_draining:  # a second signal would end running games
            self._is_draining = True
            self._access.drain()
        return await self._page(request)

    async def leave(self, request: Request) -> Response:
        """Forget that the browser has sent the token."""
        await self._check(request)
        return self._redirect("", 0)

    async def _check(self, request: Request) -> None:
        """Raise HTTPException unless the request is a form of an administrator."""
        await read_form(request)
        if not self._is_admin(request):
            raise HTTPException(403)

    def _is_admin(self, request: Request) -> bool:
        """Whether the browser has sent the token in the last half hour, in this session."""
        issued, _, signature = request.cookies.get(ADMIN_COOKIE, "").rpartition(".")
        session, _, seconds = issued.rpartition(".")
        return (
            self._site.keys.verify(self._purpose, issued, signature)
            and session == request.state.visitor.session
            and time.time() < int(seconds) + ADMIN_SECONDS
        )

    def _redirect(self, value: str, seconds: int) -> Response:
        """Set the cookie, and go to the administration."""
        response = RedirectResponse("/admin", 303)
        response.set_cookie(
            ADMIN_COOKIE,
            value,
            max_age=seconds,
            path="/admin",
            secure=self._site.config.has_tls,
            httponly=True,
            samesite="strict",
        )
        return response

    def _form(self, request: Request, detail: Text | None = None, status: int = 200) -> Response:
        return self._site.renderer.page(request, "admin_login.html", status_code=status, error=detail)

    async def _page(self, request: Request) -> Response:
        """Show the administration. Raises HTTPException if the store cannot be read."""
        store = self._access.store
        try:
            accounts = [] if store is None else await store.accounts()
            transfers = [] if store is None else await store.newest_entries(MAX_TRANSFERS)
        except StoreUnavailable:
            raise HTTPException(503) from None
        context: dict[str, Any] = {
            "tables": self._watch.public_tables(),
            "accounts": [(each.name, each.balance, format_time(each.created)) for each in accounts[:MAX_ACCOUNTS]],
            "account_count": len(accounts),
            "transfers": [(format_time(each.time), each.account, each.coins, each.reason) for each in transfers],
            "is_stored": store is not None,
            "is_draining": self._is_draining or self._tables.is_halted,
        }
        return self._site.renderer.page(request, "admin.html", **context)


def format_time(seconds: float) -> str:
    """Format a time of Unix in UTC.

    >>> format_time(0.0)
    '1970-01-01 00:00:00'
    """
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"
