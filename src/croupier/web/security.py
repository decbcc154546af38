"""What holds for every request: the host, the browser's cookie, the security headers, and forms from our own pages."""

import asyncio
import time
from collections.abc import Hashable, Mapping, MutableMapping
from math import ceil
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from msgspec.structs import replace
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from croupier.net.client_addresses import parse_ip_address
from croupier.net.rate_limiter import RateLimiter
from croupier.web.cookies import SigningKeys, Visitor
from croupier.web.site import Site

CONTENT_SECURITY_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types croupier",
    ]
)
HEADERS: Final = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
TLS_HEADERS: Final = {"cross-origin-opener-policy": "same-origin"}
"""Without TLS, browsers report this one as an error."""

LOCAL_NAMES: Final = ("localhost", ".localhost", ".local")
"""Names that no other site can point at this machine: a name, and ends of names."""

MAX_FORM_FIELDS: Final = 20
MAX_FORM_BYTES: Final = 4096

BODY_SECONDS: Final = 20.0
"""A form has to arrive within this time after its head."""


class SecurityMiddleware:
    """Refuses foreign hosts, reads or issues the browser's cookie, and adds the security headers to every response.

    The request's state gets `visitor` and `csrf`. A host that is an address cannot be another site's name for this
    machine (DNS rebinding), so all addresses are allowed. A request that fails is logged, and answered by the page of a
    fault unless its response has begun. This is plain ASGI: streams pass through.
    """

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site
        self._headers = HEADERS | (TLS_HEADERS if site.config.has_tls else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visitor, is_new = self._visitor(scope)
        visitor = replace(visitor, account=await self._site.logins.account(visitor.session))
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state.update(visitor=visitor, csrf=self._site.keys.csrf_token(visitor))
        needs_cookie = is_new and not scope["path"].startswith("/static/")
        cookie = self._site.visitor_cookie(visitor) if needs_cookie else ""
        response = SecuredResponse(send, self._headers, cookie)
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        if not is_own_host(host, self._site.config.hosts):
            detail = f"found the host {host[:100]!r}; allowed: an address of this server, localhost, or --web-hosts\n"
            await PlainTextResponse(detail, 400)(scope, receive, response.send)
            return
        try:
            await self._app(scope, receive, response.send)
        except Exception as error:
            self._site.log.error("internal error", method=scope["method"], exc_info=error)  # noqa: TRY400 -- our Logger
            if not response.has_begun:
                await self._site.renderer.error(Request(scope), 500)(scope, receive, response.send)

    def _visitor(self, scope: Scope) -> tuple[Visitor, bool]:
        """Return the visitor of a request, and whether they are new."""
        now, keys = time.time(), self._site.keys
        value = HTTPConnection(scope).cookies.get(self._site.config.cookie_name, "")
        visitor = keys.decode(value, now) if value else None
        return (keys.issue(now), True) if visitor is None else (visitor, False)


class SecuredResponse:
    """Sends a response with additional headers, and a cookie unless it is empty."""

    def __init__(self, send: Send, headers: Mapping[str, str], cookie: str) -> None:
        self.has_begun = False
        self._send = send
        self._headers = headers
        self._cookie = cookie

    async def send(self, message: Message) -> None:
        """Send a message of the response (ASGI)."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(raw=[*message.get("headers", ())])
            headers.update(self._headers)
            if self._cookie:
                headers.append("set-cookie", self._cookie)
            message = {**message, "headers": headers.raw}
        await self._send(message)


def is_own_host(host: str, own_names: frozenset[str]) -> bool:
    """Whether a Host header names this server.

    >>> is_own_host("127.0.0.1:8000", frozenset()), is_own_host("example.org", frozenset())
    (True, False)
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name in own_names or name.endswith(LOCAL_NAMES) or parse_ip_address(name) is not None


def count_action(limiter: RateLimiter, key: Hashable) -> float:
    """Count an action, and return its time. Raises HTTPException if there are too many with this key."""
    now = asyncio.get_running_loop().time()
    if wait := limiter.take(key, now):
        raise HTTPException(429, headers={"retry-after": str(ceil(wait))})
    return now


async def read_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> dict[str, str]:
    """Read the fields of a form that comes from a page of ours. Raises HTTPException.

    The form has to have the visitor's token. Browsers also send where a form comes from; that has to be this server.
    """
    if (request.headers.get("content-type") or "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise HTTPException(415)
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_bytes:
                    raise HTTPException(413)
    except TimeoutError:
        raise HTTPException(408, headers={"connection": "close"}) from None
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
    except ValueError:
        raise HTTPException(400) from None
    keys: SigningKeys = request.app.state.keys
    if not _comes_from_here(request) or not keys.is_csrf_token(request.state.visitor, fields.get("csrf", "")):
        raise HTTPException(403)
    return fields


def _comes_from_here(request: Request) -> bool:
    """Whether the headers that browsers send allow that a request comes from a page of this server."""
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
