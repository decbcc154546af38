"""The hold'em table as a web service: requests become messages to the house, and its answers responses.

What is asked most, the state of a game, is there as bytes that were rendered once for every change. It is written
without any further ado, and so are the answers to commands, as soon as they are durable; only what has to wait for
something else gets a task.
"""

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
"""The scope of a request, as ASGI has it."""


class HoldemApp:
    """The house of hold'em behind HTTP, as an ASGI application. `clock` tells the `now` of the house in seconds."""

    def __init__(
        self,
        house: House,
        authenticator: Authenticator,
        dialect: Dialect = "readme",
        *,
        clock: Callable[[], float] = monotonic,
        log: Logger | None = None,
        taps: Sequence[Observer] = (),
        limits: ServiceLimits = ServiceLimits(),
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        self.counts = RoomCounters()
        self.limits = limits
        self.log = log or silent_logger()
        self.service = HoldemService(
            house, dialect, clock, taps=taps, counts=self.counts, log=self.log, journal=journal, promises=promises
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
        """How many wait for news, in long polls and streams."""
        return self._read_api.subscribers.count

    def process_deadlines(self) -> None:
        """Let the house hear of the alarms that are due: for whoever moves its clock by hand."""
        self.service.process_deadlines()

    def halt(self, *, final: bool) -> None:
        """Tell the house that it closes. When that is final, nobody waits for news any more."""
        self.service.halt(final=final)

    def close(self) -> None:
        """Verify nobody any more."""
        self._authenticator.close()

    # What takes no task.

    def try_get(self, scope: Scope) -> RawResponse | Deferred | None:
        """The whole response to GET, later while something is asked that cannot be seen; None where it takes a task."""
        if scope["method"] != "GET" or self._rate_limiter is not None:
            return None
        if self.service.has_pending:
            if self._read_api.parse_get(scope) is None or (settled := self.service.try_durability_waiter()) is None:
                return None
            return Deferred(settled, lambda: self._view_response(scope))
        return self._view_response(scope)

    def _view_response(self, scope: Scope) -> RawResponse | None:
        """What is to be seen now."""
        if not self.service.is_durable:
            return None
        try:
            found = self._read_api.try_view(scope)
        except Exception as error:
            return self._encode_and_count(error_response(self._internal_error(scope, error), b""))
        if found is None:
            return None
        shown, same = found
        counts = self.counts
        counts.messages_received += 1
        counts.messages_sent += 1
        if same:
            return STATUS_LINES[304], encode_headers(shown.headers) + b"\r\n"
        counts.bytes_sent += len(shown.body)
        return STATUS_LINES[200], shown.raw_after_date

    def try_command(self, scope: Scope, body: bytes) -> RawResponse | Deferred | None:
        """Do what a user who is known commands, with the whole body of his request: the response, as `at_hand`.

        None, and nothing is done, where it takes a task.
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
        if self.service.is_synchronous:
            return self._command_response(scope, accept, lambda: self.service.execute_now(message))
        answer = self.service.submit(message)
        return Deferred(answer, lambda: self._command_response(scope, accept, answer.result))

    def _command_response(self, scope: Scope, accept: bytes, answer: Callable[[], HoldemResponse]) -> RawResponse:
        """The response to a command that has been answered so."""
        try:
            reply = self._answer_response(answer())
        except HTTPError as failed:
            reply = error_response(failed, accept)
        except Exception as error:
            reply = error_response(self._internal_error(scope, error), accept)
        return self._encode_and_count(reply)

    def _encode_and_count(self, response: HttpResponse) -> RawResponse:
        self.counts.messages_received += 1
        self._count(response)
        return encode_response(response)

    # What takes one.

    async def __call__(self, scope: Scope, receive: Receive, send: SendChunk) -> None:
        """Answer a request, whatever it is."""
        assert scope["type"] == "http", f"{scope['type']} is not for a web service"
        self.counts.messages_received += 1
        question = read_request(scope, receive, self._proxies)
        try:
            reply = await self._handle(question, send)
        except HTTPError as failed:
            reply = error_response(failed, question.accept)
        except ClientDisconnected:
            return
        except Exception as error:
            reply = error_response(self._internal_error(scope, error), question.accept)
        if reply is not None:
            await self._send(reply, question, send)

    async def _handle(self, request: HttpRequest, send: SendChunk) -> HttpResponse | None:
        """The answer to a request, None when it has been sent already. Raises Failed, in the order of holdem-8.2."""
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
        again = self._dialect == "hspe-go"
        try:
            name = await self._authenticator.register(request.authorization, request.address, idempotent=again)
        except AuthError as reason:
            raise to_http_error(reason, "holdem-2.5", self._dialect) from None
        return self._answer_response(Created(self.service.house.guid_of(name), ""))

    def _answer_response(self, answer: HoldemResponse) -> HttpResponse:
        if type(answer) is RequestRefused:
            raise HTTPError(answer.status, answer.clause, answer.detail)
        return HttpResponse(*render_response(answer, self._dialect, self.service.house))

    async def _send(self, reply: HttpResponse, request: HttpRequest, send: SendChunk) -> None:
        if request.scope["method"] == "HEAD":
            reply = HttpResponse(reply.status, reply.headers)
        self._count(reply)
        headers = (
            [*reply.headers, *self._rate_limit_headers(request)] if self._rate_limiter is not None else reply.headers
        )
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _count(self, reply: HttpResponse) -> None:
        self.counts.messages_sent += 1
        self.counts.bytes_sent += len(reply.body)

    def _internal_error(self, scope: Scope, error: Exception) -> HTTPError:
        found = find_route(scope["path"])  # and not the path itself, in which somebody may have put anything
        route = None if found is None else found[0].path
        self.log.error("our own fault", method=scope["method"], route=route, exc_info=error)
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
        """The limit, and what is left of it (draft-ietf-httpapi-ratelimit-headers)."""
        assert self._rate_limiter is not None, "nothing is left of no limit"
        left, seconds = self._rate_limiter.remaining(address_key(request.address), self.service.clock())
        return [
            (
                b"ratelimit-policy",
                b'"requests";q=%d;w=%d' % (self._rate_limiter.limit, ceil(self._rate_limiter.seconds)),
            ),
            (b"ratelimit", b'"requests";r=%d;t=%d' % (left, ceil(seconds))),
        ]


class HoldemServer:
    """A service that listens at `address`."""

    def __init__(self, app: HoldemApp, http_server: HttpServer, address: Address) -> None:
        self.app = app
        self.address = address
        self._http_server = http_server

    @property
    def connection_count(self) -> int:
        """How many connections there are."""
        return len(self._http_server.connections)

    async def stop(self, timeout: float = 5.0) -> None:
        """Void what is being played, answer what was asked, for so many seconds, and close all connections."""
        self._http_server.close()  # before those who wait are answered, so that they are told
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
    """Open a service on an address; port 0 picks a free one. Raises OSError when it cannot be had."""
    listener = HttpServer(app, limits, app.counts, room="holdem")
    return HoldemServer(app, listener, await listener.listen(host, port, ssl))
