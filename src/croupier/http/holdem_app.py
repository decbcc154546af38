"""The hold'em service: an ASGI application for a hold'em house, and its server.

Most requests ask for the state of a game, which is rendered once per change. Such requests, and commands once their
effects are durable, are answered without a task; only requests that wait for something else need one.
"""

from asyncio import Future
from collections.abc import Callable, MutableMapping, Sequence
from math import ceil
from ssl import SSLContext
from time import monotonic
from typing import Any

from croupier.core.session import Address, Observer
from croupier.http.auth import Authenticator, AuthError
from croupier.http.deferred import Deferred, RawResponse
from croupier.http.holdem_service import HoldemService
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.openapi import find_route
from croupier.http.read_api import ReadApi
from croupier.http.responses import (
    STATUS_LINES,
    ClientDisconnected,
    HTTPError,
    HttpRequest,
    HttpResponse,
    authenticate_request,
    encode_response,
    error_response,
    read_body,
    read_request,
    to_http_error,
)
from croupier.http.server import HttpServer
from croupier.http.streams import Receive, SendChunk
from croupier.http.views import encode_headers
from croupier.logs import Logger, silent_logger
from croupier.net.client_addresses import TrustedProxies, address_key
from croupier.net.rate_limiter import RateLimiter
from croupier.observers.counters import RoomCounters
from croupier.recording.holdem_journal import HoldemJournal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.wire import (
    Created,
    Dialect,
    HoldemHeaders,
    HoldemResponse,
    RequestRefused,
    parse_request,
    render_response,
)

type Scope = MutableMapping[str, Any]
"""The ASGI scope of a request."""


class HoldemApp:
    """A hold'em house behind HTTP, as an ASGI application. `clock` returns the house's time in seconds."""

    def __init__(
        self,
        house: House,
        authenticator: Authenticator,
        dialect: Dialect = "readme",
        *,
        clock: Callable[[], float] = monotonic,
        log: Logger | None = None,
        observers: Sequence[Observer] = (),
        limits: ServiceLimits = ServiceLimits(),
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        self.counts = RoomCounters()
        self.limits = limits
        self.log = log or silent_logger()
        self.service = HoldemService(
            house,
            dialect,
            clock,
            observers=observers,
            counts=self.counts,
            log=self.log,
            journal=journal,
            promises=promises,
        )
        self._dialect: Dialect = dialect
        self._authenticator = authenticator
        self._read_api = ReadApi(self.service, authenticator, dialect, limits)
        self._proxies = proxies
        self._rate_limiter = (
            None if limits.max_requests is None else RateLimiter(limits.max_requests, limits.request_window_seconds)
        )

    @property
    def subscriber_count(self) -> int:
        """The number of clients that wait for news, in long polls and streams."""
        return self._read_api.subscribers.count

    def process_deadlines(self) -> None:
        """Deliver the deadlines that are due to the house. Only callers with a manual clock need this."""
        self.service.process_deadlines()

    def halt(self, *, final: bool) -> None:
        """Deliver Closing to the house. If `final`, long polls and streams end."""
        self.service.halt(final=final)

    def close(self) -> None:
        """Stop verifying passwords."""
        self._authenticator.close()

    # Responses without a task.

    def try_get(self, scope: Scope) -> RawResponse | None:
        """The response to a GET; None if it needs a task."""
        if scope["method"] != "GET" or self._rate_limiter is not None:
            return None
        return self._view_response(scope)

    def _view_response(self, scope: Scope) -> RawResponse | None:
        """The response to a GET of what is shown now; None if it needs a task."""
        try:
            found = self._read_api.try_view(scope)
        except Exception as error:
            return self._encode_and_count(error_response(self._internal_error(scope, error), b""))
        if found is None:
            return None
        view, not_modified = found
        counts = self.counts
        counts.messages_received += 1
        counts.messages_sent += 1
        if not_modified:
            return STATUS_LINES[304], encode_headers(view.headers) + b"\r\n"
        counts.bytes_sent += len(view.body)
        return STATUS_LINES[200], view.raw_after_date

    def try_command(self, scope: Scope, body: bytes) -> RawResponse | Deferred | None:
        """Perform a command of a user whose login is cached, and return the response.

        Returns None, and does nothing, if the request needs a task.
        """
        if self._rate_limiter is not None or len(body) > self.limits.max_body_bytes:
            return None
        authorization, accept = None, b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"accept":
                accept = value
        if authorization is None or (user := self._authenticator.cached_username(authorization)) is None:
            return None
        message = parse_request(scope["method"], scope["path"], user, body, self._dialect)
        if isinstance(message, RequestRefused):
            return None
        try:
            answer = self.service.submit(message)
        except Exception as error:
            return self._encode_and_count(error_response(self._internal_error(scope, error), accept))
        if isinstance(answer, Future):
            return Deferred(answer, lambda: self._command_response(scope, accept, answer.result))
        return self._command_response(scope, accept, lambda: answer)

    def _command_response(self, scope: Scope, accept: bytes, answer: Callable[[], HoldemResponse]) -> RawResponse:
        """The encoded response to a command; `answer` returns the house's answer or raises."""
        try:
            response = self._answer_response(answer())
        except HTTPError as http_error:
            response = error_response(http_error, accept)
        except Exception as error:
            response = error_response(self._internal_error(scope, error), accept)
        return self._encode_and_count(response)

    def _encode_and_count(self, response: HttpResponse) -> RawResponse:
        self.counts.messages_received += 1
        self._count(response)
        return encode_response(response)

    # Responses in a task.

    async def __call__(self, scope: Scope, receive: Receive, send: SendChunk) -> None:
        """Answer any request."""
        assert scope["type"] == "http", f"{scope['type']} is not for a web service"
        self.counts.messages_received += 1
        request = read_request(scope, receive, self._proxies)
        try:
            response = await self._handle(request, send)
        except HTTPError as http_error:
            response = error_response(http_error, request.accept)
        except ClientDisconnected:
            return
        except Exception as error:
            response = error_response(self._internal_error(scope, error), request.accept)
        if response is not None:
            await self._send(response, request, send)

    async def _handle(self, request: HttpRequest, send: SendChunk) -> HttpResponse | None:
        """The response to a request; None if it was sent already. Raises HTTPError, in the order of holdem-8.2."""
        scope = request.scope
        method, path = scope["method"], scope["path"]
        found = find_route(path)
        if found is None:
            raise HTTPError(404, "holdem-8.3", f"found the path {path[:100]!r}; allowed: those of /openapi.json")
        route, names = found
        if method not in route.methods:
            allowed = ", ".join(route.methods)
            raise HTTPError(405, "holdem-8.6", f"found {method}; allowed: {allowed}", (b"allow", allowed.encode()))
        self._check_rate_limit(request)
        if method in {"GET", "HEAD"}:
            if route.name in {"games", "game"}:
                return await self._read_api.get_games(request, names)
            await self._read_api.dispatch(request, send)
            self.counts.messages_sent += 1
            return None
        data = await read_body(request, self.limits.max_body_bytes)
        if route.name == "users":
            return await self._register(request)
        login = await authenticate_request(request, "holdem-2.7", self._authenticator, self._dialect)
        message = parse_request(method, path, login.name, data, self._dialect)
        return self._answer_response(
            message if isinstance(message, RequestRefused) else await self.service.execute(message)
        )

    async def _register(self, request: HttpRequest) -> HttpResponse:
        idempotent = self._dialect == "hspe-go"
        try:
            name = await self._authenticator.register(request.authorization, request.address, idempotent=idempotent)
        except AuthError as error:
            raise to_http_error(error, "holdem-2.5", self._dialect) from None
        return self._answer_response(Created(self.service.house.guid_of(name), ""))

    def _answer_response(self, answer: HoldemResponse) -> HttpResponse:
        if type(answer) is RequestRefused:
            raise HTTPError(answer.status, answer.clause, answer.detail)
        return HttpResponse(*render_response(answer, self._dialect, self.service.views))

    async def _send(self, response: HttpResponse, request: HttpRequest, send: SendChunk) -> None:
        if request.scope["method"] == "HEAD":
            response = HttpResponse(response.status, response.headers)
        self._count(response)
        headers = (
            [*response.headers, *self._rate_limit_headers(request)]
            if self._rate_limiter is not None
            else response.headers
        )
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})

    def _count(self, response: HttpResponse) -> None:
        self.counts.messages_sent += 1
        self.counts.bytes_sent += len(response.body)

    def _internal_error(self, scope: Scope, error: Exception) -> HTTPError:
        found = find_route(scope["path"])  # log the route, because the path may contain anything
        route = None if found is None else found[0].path
        self.log.error("internal error", method=scope["method"], route=route, exc_info=error)
        return HTTPError(500, "holdem-8.1", "found a fault of our own; allowed: none")

    # The limit on requests (holdem-9.10).

    def _check_rate_limit(self, request: HttpRequest) -> None:
        if self._rate_limiter is not None and (
            wait := self._rate_limiter.take(address_key(request.address), self.service.clock())
        ):
            limiter = self._rate_limiter
            detail = f"found more than {limiter.limit} requests in {limiter.seconds:g} s; allowed: so many"
            raise HTTPError(429, "holdem-9.10", detail, (b"retry-after", b"%d" % ceil(wait)))

    def _rate_limit_headers(self, request: HttpRequest) -> HoldemHeaders:
        """Headers with the limit and what remains of it (draft-ietf-httpapi-ratelimit-headers)."""
        assert self._rate_limiter is not None, "there is no limit to describe"
        remaining, seconds = self._rate_limiter.remaining(address_key(request.address), self.service.clock())
        return [
            (
                b"ratelimit-policy",
                b'"requests";q=%d;w=%d' % (self._rate_limiter.limit, ceil(self._rate_limiter.seconds)),
            ),
            (b"ratelimit", b'"requests";r=%d;t=%d' % (remaining, ceil(seconds))),
        ]


class HoldemServer:
    """A hold'em service that listens on `address`."""

    def __init__(self, app: HoldemApp, http_server: HttpServer, address: Address) -> None:
        self.app = app
        self.address = address
        self._http_server = http_server

    @property
    def connection_count(self) -> int:
        """The number of open connections."""
        return len(self._http_server.connections)

    async def stop(self, timeout: float = 5.0) -> None:
        """Void running hands, wait at most `timeout` seconds for pending responses, and close all connections."""
        self._http_server.close()  # first, so that waiting clients are answered with "Connection: close"
        self.app.halt(final=True)
        await self._http_server.drain(timeout)
        self.app.close()


async def open_holdem_server(
    app: HoldemApp,
    host: str,
    port: int,
    *,
    ssl: SSLContext | None = None,
    limits: ConnectionLimits = ConnectionLimits(),
) -> HoldemServer:
    """Open a service on an address; port 0 picks a free port. Raises OSError if the address cannot be used."""
    server = HttpServer(app, limits, app.counts, room="holdem")
    return HoldemServer(app, server, await server.listen(host, port, ssl))
