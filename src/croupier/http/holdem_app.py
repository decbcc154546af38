"""The hold'em service: a house behind HTTP, and its server.

Every request is found in the table of routes and answered by the handler of its operation: at once if possible, and
later if it waits for a password, for a disk or for a change.
"""

from asyncio import Future
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from ssl import SSLContext
from time import monotonic
from typing import Final

from msgspec.structs import replace

from croupier.core.logger import Logger, SilentLogger
from croupier.core.session import Address, Observer
from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.http.front_page import front_page, wants_front_page
from croupier.http.holdem_answers import refusal
from croupier.http.holdem_service import HoldemService
from croupier.http.house_group import HouseGroup
from croupier.http.limits import MAX_BODY_BYTES, ConnectionLimits, ServiceLimits
from croupier.http.messages import Answer, Application, Deferred, HTTPError, Request, Response, prepare, run_later
from croupier.http.read_api import Handler, ReadApi
from croupier.http.routes import Match, allowed_methods, find_route
from croupier.http.server import HttpServer
from croupier.net.client_addresses import TrustedProxies, address_key
from croupier.net.count_limit import ConnectionCounts
from croupier.net.event_loop import yield_processor
from croupier.net.rate_limiter import RateLimiter
from croupier.observers.counters import RoomCounters
from croupier.recording.holdem_journal import HoldemJournal
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.wire import (
    ACT_DONE,
    EMPTY_BODY_HEADER,
    Created,
    HoldemResponse,
    RequestRefused,
    render_response,
)

FORWARDED: Final = (b"forwarded", b"x-forwarded-for")
"""Headers in which a proxy names its client."""

ACT_DONE_RESPONSE: Final = prepare(201, [EMPTY_BODY_HEADER])
"""The response to nearly all acts, in both dialects."""

BASIC_CHALLENGE: Final = (b"www-authenticate", b'Basic realm="croupier", charset="UTF-8"')


class TablesApp(Application):
    """The tables of a hold'em room behind HTTP.

    `handlers` are the functions that answer the operations of the routes; `authenticator` checks passwords; its maker
    closes it when nobody uses it any more. `web_port` is the port of the server's web app, None without one.
    `application` answers the requests of the room's port: this object, or one around it.
    """

    def __init__(
        self,
        service: HouseGroup,
        authenticator: Authenticator,
        *,
        log: Logger,
        limits: ServiceLimits = ServiceLimits(),
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        self.service = service
        self.counts = RoomCounters()
        self.log = log
        self.address: Address
        self.web_port: int | None = None
        self._has_tls = False
        self.application: Application = self
        self._server: HttpServer
        self._dialect = service.dialect
        self.authenticator = authenticator
        self._read_api = ReadApi(service, authenticator, limits)
        self._proxies = proxies
        self._has_proxies = bool(proxies)
        self._rate_limiter = (
            None if limits.max_requests is None else RateLimiter(limits.max_requests, limits.request_window_seconds)
        )
        self.handlers: Mapping[str, Handler] = {
            **self._read_api.handlers,
            "post_users": lambda request, *_: run_later(self._register(request)),
            **dict.fromkeys(("post_games", "post_players", "post_acts", "delete_player"), self._command),
        }

    @property
    def subscriber_count(self) -> int:
        """The number of clients that wait for news, in long polls and streams."""
        return self._read_api.subscribers.total

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        return self.service.unavailable_reason

    def halt(self, *, final: bool) -> None:
        """Deliver Closing to the house. If `final`, long polls and streams end."""
        self.service.halt(final=final)

    async def listen(
        self,
        host: str,
        port: int,
        *,
        ssl: SSLContext | None = None,
        limits: ConnectionLimits = ConnectionLimits(),
        hosts: ConnectionCounts | None = None,
    ) -> Address:
        """Listen on an address and return the address in use; port 0 picks a free port. Raises OSError.

        `hosts` counts the connections for the limits, if other processes serve the room as well.
        """
        self._has_tls = ssl is not None
        self._server = HttpServer(self.application, limits, self.counts, room="holdem", hosts=hosts)
        self.address = await self._server.listen(host, port, ssl)
        return self.address

    def stop_accepting(self) -> None:
        """Accept no more connections; those that are open go on."""
        self._server.stop_accepting()

    @property
    def connection_count(self) -> int:
        """The number of open connections."""
        return len(self._server.connections)

    async def stop(self, timeout: float = 5.0) -> None:
        """Void running hands, wait at most `timeout` seconds for pending responses, and close all connections."""
        self._server.close()  # first, so that waiting clients are answered with "Connection: close"
        self.service.halt(final=True)
        await self._server.drain(timeout)

    # Answers, in the order of holdem-8.2.

    def open(self, request: Request) -> Answer | None:
        """The answer to a request of which at least the head has arrived; None if it needs more of its body."""
        self.counts.messages_received += 1
        return self._answer(request, self._open, request)

    def respond(self, request: Request) -> Answer:
        """The answer to a request after the rest of its body, or after more than MAX_BODY_BYTES of it."""
        answer = self._answer(request, self._respond, request)
        assert answer is not None, "nothing is missing"
        return answer

    def answer(self, request: Request) -> Answer:
        """The answer to a complete request."""
        answer = self.open(request)
        assert answer is not None, "nothing is missing"
        return answer

    def _answer[A: Answer | None](self, request: Request, step: Callable[..., A], *arguments: Request) -> A | Answer:
        """The result of a step towards the answer; what the step raises is an answer, too."""
        answer: A | Answer
        try:
            answer = step(*arguments)
        except Exception as error:
            answer = self._http_error(request, error).response(request.fields.get(b"accept"))
        if isinstance(answer, Deferred):
            return Deferred(answer.future, partial(self._answer, request, answer.answer))
        if isinstance(answer, Response):
            self.counts.messages_sent += 1
            if request.method != "HEAD":
                self.counts.bytes_sent += len(answer.body)
            if self._rate_limiter is not None:
                return self._with_rate_limit(answer, request, self._rate_limiter)
        return answer

    def _open(self, request: Request) -> Answer | None:
        if request.path == "/" and wants_front_page(request):
            return front_page(request, self.web_port, has_tls=self._has_tls)
        match = request.match or self._find(request)
        if self._rate_limiter is not None:
            self._check_rate_limit(request, self._rate_limiter)
        if request.method in {"GET", "HEAD"}:
            if self.service.is_writing:
                yield_processor()  # clients that poll must not starve the thread that writes
        else:
            length = request.fields.get(b"content-length")
            if length is not None and int(length) > MAX_BODY_BYTES:
                raise _too_large(length.decode())
            if not request.is_complete:
                return None
            if len(request.body) > MAX_BODY_BYTES:
                raise _too_large(str(len(request.body)))
        return self._handle(request, match)

    def _respond(self, request: Request) -> Answer:
        if len(request.body) > MAX_BODY_BYTES:
            raise _too_large(f"{len(request.body)} or more")
        assert request.match is not None, "the body of another request is not read"
        return self._handle(request, request.match)

    def _handle(self, request: Request, match: Match) -> Answer:
        """Answer a request of which enough has arrived: at once if the login is known, or not needed."""
        handler, credentials = self.handlers[match.operation.id], match.operation.credentials
        authorization = request.fields.get(b"authorization")
        if credentials in {"new", "none"} or (credentials == "allowed" and authorization is None):
            return handler(request, match, None)
        login = request.login
        if login is None or not self.authenticator.is_current(login):
            login = None if authorization is None else self.authenticator.cached_login(authorization)
            request.login = login
        if login is None:
            return run_later(self._authenticate(request, match, handler))
        return handler(request, match, login)

    async def _authenticate(self, request: Request, match: Match, handler: Handler) -> Answer:
        login = await self.authenticator.authenticate(request.fields.get(b"authorization"), request.address)
        await self.authenticator.confirm(login)
        return handler(request, match, login)

    def _find(self, request: Request) -> Match:
        """Find the operation of a request, and its client. Raises HTTPError."""
        if self._has_proxies:
            forwarded = [[value for name, value in request.headers if name == header] for header in FORWARDED]
            request.address = self._proxies.client_address(request.address, *forwarded)
        found = find_route(request.path)
        if found is None:
            detail = f"found the path {request.path[:100]!r}; allowed: those of /openapi.json"
            raise HTTPError(404, "holdem-8.3", detail)
        operations, parameters = found
        operation = operations.get("GET" if request.method == "HEAD" else request.method)
        if operation is None:
            allowed = allowed_methods(operations)
            detail = f"found {request.method}; allowed: {allowed}"
            raise HTTPError(405, "holdem-8.6", detail, (b"allow", allowed.encode()))
        request.match = Match(operation, parameters)
        return request.match

    # Errors.

    def _http_error(self, request: Request, error: Exception) -> HTTPError:
        """The refusal of a request whose answer has raised an exception."""
        match error:
            case HTTPError():
                return error
            case AuthError():
                return self._refused_credentials(request, error)
        route = None if request.match is None else request.match.operation.path  # the path may contain anything
        self.log.error("internal error", method=request.method, route=route, exc_info=error)
        return HTTPError(500, "holdem-8.1", "found a fault of our own; allowed: none")

    def _refused_credentials(self, request: Request, error: AuthError) -> HTTPError:
        assert request.match is not None, "the credentials of other requests are not read"
        credentials = request.match.operation.credentials
        headers = () if error.retry_after is None else ((b"retry-after", b"%d" % ceil(error.retry_after)),)
        match error.reason:
            case "often":
                return HTTPError(429, "holdem-2.9", error.detail, *headers)
            case "busy" | "full":
                return HTTPError(503, "holdem-2.10", error.detail, *headers)
            case "taken":
                return HTTPError(403, "holdem-7.1" if self._dialect == "hspe-go" else "holdem-2.6", error.detail)
            case "missing" | "malformed" if credentials == "new":
                return HTTPError(400, "holdem-2.5", error.detail)
            case "missing" | "malformed" if self._dialect == "hspe-go":
                return HTTPError(400, "holdem-7.5", error.detail)
            case _:
                clause = "holdem-2.7" if credentials == "wanted" else "holdem-2.8"
                return HTTPError(401, clause, error.detail, BASIC_CHALLENGE)

    # Commands.

    async def _register(self, request: Request) -> Response:
        name = await self.authenticator.register(
            request.fields.get(b"authorization"), request.address, idempotent=self._dialect == "hspe-go"
        )
        return self._render(Created(self.service.guid_of(name), ""))

    def _command(self, request: Request, match: Match, login: VerifiedLogin | None) -> Answer:
        """Perform a user's command; with a journal it is answered after the journal has written it."""
        operation = match.operation
        assert login is not None, "a command has a user"
        assert operation.command is not None, "other operations ask the house nothing"
        message = operation.command(login.name, *match.parameters, *([request.body] if operation.body else ()))
        answer = message if isinstance(message, RequestRefused) else self.service.submit(message)
        if isinstance(answer, Future):
            return Deferred(answer, partial(self._render, answer))
        return self._render(answer)

    def _render(self, answer: HoldemResponse | Future[HoldemResponse]) -> Response:
        """The response to a command, with the house's answer or a future that has it."""
        if isinstance(answer, Future):
            answer = answer.result()
        if answer is ACT_DONE:
            return ACT_DONE_RESPONSE
        if isinstance(answer, RequestRefused):
            raise refusal(answer)
        return Response(*render_response(answer, self._dialect, self.service.views.public_view))

    # The limit on requests (holdem-9.10).

    def _check_rate_limit(self, request: Request, limiter: RateLimiter) -> None:
        if wait := limiter.take(address_key(request.address), self.service.clock()):
            detail = f"found more than {limiter.limit} requests in {limiter.seconds:g} s; allowed: so many"
            raise HTTPError(429, "holdem-9.10", detail, (b"retry-after", b"%d" % ceil(wait)))

    def _with_rate_limit(self, response: Response, request: Request, limiter: RateLimiter) -> Response:
        """Add headers with the limit and what remains of it (draft-ietf-httpapi-ratelimit-headers)."""
        key = address_key(request.address)
        remaining, seconds = limiter.remaining(key, self.service.clock())
        headers = [
            (b"ratelimit-policy", b'"requests";q=%d;w=%d' % (limiter.limit, ceil(limiter.seconds))),
            (b"ratelimit", b'"requests";r=%d;t=%d' % (remaining, ceil(seconds))),
        ]
        return replace(response, headers=[*response.headers, *headers], raw_after_date=None)


def _too_large(found: str) -> HTTPError:
    return HTTPError(413, "holdem-8.7", f"found a body of {found} bytes; allowed: {MAX_BODY_BYTES}")


class HoldemApp(TablesApp):
    """One hold'em house behind HTTP, `house_service`. `clock` returns the house's time in seconds."""

    def __init__(
        self,
        house: House,
        authenticator: Authenticator,
        *,
        clock: Callable[[], float] = monotonic,
        log: Logger = SilentLogger(),
        observers: Sequence[Observer] = (),
        limits: ServiceLimits = ServiceLimits(),
        journal: HoldemJournal | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        group = HouseGroup(1, house.settings if journal is None else journal.settings, house.guid_of, clock)
        super().__init__(group, authenticator, log=log, limits=limits, proxies=proxies)
        self.house_service = HoldemService(
            house,
            clock,
            observers=observers,
            counts=self.counts,
            log=log,
            views=group.views,
            journal=journal,
        )
        group.add(1, self.house_service)
