"""What is to be seen of the games of hold'em: now, when it changes, as it goes on, and when a hand is over."""

import asyncio
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec.json import encode as to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.http.holdem_service import STORE_DOWN, HoldemService
from croupier.http.limits import ServiceLimits
from croupier.http.openapi import openapi_document
from croupier.http.paging import find_list_view
from croupier.http.responses import (
    HTTPError,
    HttpRequest,
    HttpResponse,
    authenticate_request,
    etag_matches,
    parse_wait_parameters,
    to_http_error,
)
from croupier.http.streams import (
    EVENT_STREAM,
    NDJSON_STREAM,
    Receive,
    SendChunk,
    SubscriberLimit,
    stream_game,
    watch_disconnect,
)
from croupier.http.views import GameViewCache, Representation
from croupier.net.client_addresses import address_key
from croupier.rooms.holdem.histories.phh import to_phh
from croupier.rooms.holdem.wire import Dialect
from croupier.store.records import StoreUnavailable

GET_REQUEST_SCOPE_KEY: Final = "croupier.look"
"""Where the scope of a request has what is to be known of it, for when the very same is asked again."""


USERS_CHECK_INTERVAL_SECONDS: Final = 1.0
"""After how long at most a stream ends whose user has a new password, though nothing happens in the game."""


class GetRequest:
    """What is asked for with a GET: the game of `guid`, or all of them without one. Other requests are not `plain`.

    `login` is that of whoever asks, None for the public; it may have to be verified again.
    """

    __slots__ = ("authorization", "guid", "if_none_match", "is_plain", "login")

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        path = scope["path"]
        self.guid = path[7:].removesuffix("/")
        listed = path in {"/games", "/games/"}
        self.is_plain = not scope["query_string"] and (listed or (path[:7] == "/games/" and bool(self.guid)))
        self.authorization: bytes | None = None
        self.if_none_match: bytes | None = None
        self.login: VerifiedLogin | None = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                self.authorization = value
            elif name == b"if-none-match":
                self.if_none_match = value


class ReadApi:
    """Answers everything that is asked with GET or HEAD."""

    def __init__(
        self, service: HoldemService, authenticator: Authenticator, dialect: Dialect, limits: ServiceLimits
    ) -> None:
        self.subscribers = SubscriberLimit(limits.max_streams, limits.max_streams_per_user)
        self._service = service
        self._views = service.views
        self._authenticator = authenticator
        self._dialect: Dialect = dialect
        self._limits = limits
        self._users_version: int | None = None
        self._users_check_timer: asyncio.TimerHandle | None = None
        self._openapi_json = to_json(openapi_document(dialect))
        self._router = Router(
            [
                Route("/openapi.json", self._openapi),
                Route("/games/{game}/hands/{hand}", self._hand),
                Route("/games/{game}/events", EventsApp(self)),
            ],
            redirect_slashes=False,
        )

    def try_view(self, scope: MutableMapping[str, Any]) -> tuple[Representation, bool] | None:
        """The page that is asked for with GET, and whether the asker has it already.

        None where there is more to it than that.
        """
        look = self.parse_get(scope)
        if look is None:
            return None
        user = _username(look.login)
        if look.guid:
            page = self._views.game(look.guid)
            if page is None or self._is_hidden(page, user):
                return None
            found = page.view_for(user)
        else:
            found = self._views.list_view(user)
        return found, look.if_none_match is not None and etag_matches(look.if_none_match, found.etag)

    def parse_get(self, scope: MutableMapping[str, Any]) -> GetRequest | None:
        """What a plain GET asks for, and who does; None where that is something else, or credentials to be verified."""
        look: GetRequest | None = scope.get(GET_REQUEST_SCOPE_KEY)
        if look is None:
            look = scope[GET_REQUEST_SCOPE_KEY] = GetRequest(scope)
        if not look.is_plain:
            return None
        if look.authorization is not None and (look.login is None or not self._authenticator.is_current(look.login)):
            look.login = self._authenticator.cached_login(look.authorization)
            if look.login is None:
                return None
        return look

    async def get_games(self, request: HttpRequest, names: Sequence[str]) -> HttpResponse:
        """The list of games, or one game, now or when it has changed (holdem-5.1, holdem-5.2, holdem-9.3)."""
        login = await self._viewer_login(request)
        await self._wait_durable(login)
        user = _username(login)
        if not names:
            return _view_response(find_list_view(self._views, user, request.scope["query_string"]), request)
        wait, since = parse_wait_parameters(request.scope["query_string"])
        page = self._find_game(names[0], user)
        if wait is None or request.scope["method"] == "HEAD":
            return _view_response(page.view_for(user), request)
        with self._reserve_subscription(request, login):
            if since is None or since == page.table.version:
                await self._wait_for_change(page, login, min(wait, self._limits.max_wait_seconds), request.receive)
        return _view_response(self._find_game(names[0], user, "holdem-9.4").view_for(user), request)

    async def _wait_for_change(
        self, game: GameViewCache, login: VerifiedLogin | None, seconds: float, receive: Receive
    ) -> None:
        """Wait at most so many seconds until a game has changed. Raises Failed when its viewer may not go on."""
        loop = asyncio.get_running_loop()
        version, end = game.table.version, loop.time() + seconds
        with watch_disconnect(receive) as gone:
            while (left := end - loop.time()) > 0 and not gone.done() and self._is_open(game):
                await game.wait_for_change(left, gone)
                await self._wait_durable(login)
                if game.table.version != version:
                    return

    async def dispatch(self, request: HttpRequest, send: SendChunk) -> None:
        """Let Starlette find who answers."""
        scope = {**request.scope, "path": request.scope["path"].removesuffix("/"), "question": request}
        if scope["method"] != "HEAD":
            await self._router(scope, request.receive, send)
            return

        async def bodiless(message: MutableMapping[str, Any]) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._router(scope, request.receive, bodiless)

    async def stream(self, scope: MutableMapping[str, Any], receive: Receive, send: SendChunk) -> None:
        """The stream of a game (holdem-9.6)."""
        question: HttpRequest = scope["question"]
        login = await self._viewer_login(question)
        await self._wait_durable(login)
        user = _username(login)
        page = self._find_game(scope["path_params"]["game"], user)
        manner = NDJSON_STREAM if b"application/x-ndjson" in question.accept.lower() else EVENT_STREAM
        if scope["method"] == "HEAD":
            await send(manner.response_start)
            await send({"type": "http.response.body", "body": b""})
            return
        with self._reserve_subscription(question, login):
            await stream_game(
                page,
                user,
                manner,
                question.last_event_id,
                wait_ready=lambda: self._try_wait_durable(login),
                is_open=lambda: self._is_open(page),
                heartbeat_seconds=self._limits.heartbeat_seconds,
                receive=receive,
                send=send,
            )

    async def _openapi(self, request: Request) -> Response:  # noqa: ARG002 -- as Starlette calls it
        return Response(self._openapi_json, media_type="application/json")

    async def _hand(self, request: Request) -> Response:
        """A hand that is over, with the hole cards that were shown and those of the viewer (holdem-9.7)."""
        question: HttpRequest = request.scope["question"]
        login = await self._viewer_login(question)
        await self._wait_durable(login)
        table = self._find_game(request.path_params["game"], None).table
        number = request.path_params["hand"].removesuffix(".phh")
        played = table.hands.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 20 else None
        if played is None:
            raise HTTPError(404, "holdem-9.7", f"found the hand {number[:40]!r}; allowed: one that is over, and kept")
        own = [seat for seat, name in enumerate(played.players) if name == _username(login)]
        text = to_phh(
            played.hand,
            players=played.players,
            table=table.guid,
            number=int(number),
            open_seats={*played.hand.showdown_order, *own},
        )
        return Response(text, media_type="application/toml", headers={"vary": "Authorization"})

    async def _viewer_login(self, request: HttpRequest) -> VerifiedLogin | None:
        """Who wants to see something, None for the public."""
        if request.authorization is None:
            return None
        return await authenticate_request(request, "holdem-2.8", self._authenticator, self._dialect)

    async def _wait_durable(self, login: VerifiedLogin | None) -> None:
        """Wait until all that can be seen is durable, and its viewer is still a user. Raises Failed."""
        moved = True
        while moved:
            version = self._authenticator.version()
            if login is not None:
                await self._confirm(login)
            try:
                await self._service.wait_durable()
            except StoreUnavailable:
                raise HTTPError(
                    STORE_DOWN.status, STORE_DOWN.clause, STORE_DOWN.detail, (b"retry-after", b"1")
                ) from None
            moved = login is not None and self._authenticator.version() != version

    async def _confirm(self, login: VerifiedLogin) -> None:
        """See whether a user still has the password with which the login was verified. Raises Failed."""
        try:
            if not await self._authenticator.confirm(login):
                raise AuthError("wrong", f"found another password of {login.name!r} now; allowed: to log in again")
        except AuthError as reason:
            raise to_http_error(reason, "holdem-2.8", self._dialect) from None

    async def _try_wait_durable(self, login: VerifiedLogin | None) -> bool:
        """The same; False where it fails."""
        try:
            await self._wait_durable(login)
        except HTTPError:
            return False
        return True

    def _is_open(self, game: GameViewCache) -> bool:
        """Whether there will be news of a game."""
        return not self._service.closing and self._views.game(game.table.guid) is game

    def _is_hidden(self, game: GameViewCache, user: str | None) -> bool:
        """Whether a game is not shown to a user, because he is not at its table (holdem-7.3)."""
        return user is not None and self._dialect == "hspe-go" and not game.lists_user(user)

    def _find_game(self, guid: str, user: str | None, clause: str = "holdem-8.4") -> GameViewCache:
        """The page of a game which a user may see. Raises Failed."""
        page = self._views.game(guid)
        if page is None:
            raise HTTPError(404, clause, f"found the game {guid[:100]!r}; allowed: one of /games/")
        if self._is_hidden(page, user):
            told = f"found {user!r}, who is not at the table; allowed: who is, or no credentials"
            raise HTTPError(403, "holdem-7.3", told)
        return page

    @contextmanager
    def _reserve_subscription(self, request: HttpRequest, login: VerifiedLogin | None) -> Iterator[None]:
        """A place among those who wait."""
        who = f"address {address_key(request.address)}" if login is None else f"user {login.name}"
        if told := self.subscribers.refusal_reason(who):
            raise HTTPError(429, "holdem-9.10", told, (b"retry-after", b"1"))
        with self.subscribers.reserve(who):
            if self._users_check_timer is None:
                self._users_version = self._authenticator.version()
                self._check_users()
            yield

    def _check_users(self) -> None:
        """Once a second while somebody waits: wake everybody when users have changed."""
        if self._users_version != (version := self._authenticator.version()):
            self._users_version = version
            self._views.notify_all()
        self._users_check_timer = (
            asyncio.get_running_loop().call_later(USERS_CHECK_INTERVAL_SECONDS, self._check_users)
            if self.subscribers.count
            else None
        )


class EventsApp:
    """The stream of a game as Starlette wants an ASGI application."""

    def __init__(self, read_api: ReadApi) -> None:
        self._read_api = read_api

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: SendChunk) -> None:
        """Send a game as it goes on."""
        await self._read_api.stream(scope, receive, send)


def _username(login: VerifiedLogin | None) -> str | None:
    return None if login is None else login.name


def _view_response(representation: Representation, request: HttpRequest) -> HttpResponse:
    if request.if_none_match is not None and etag_matches(request.if_none_match, representation.etag):
        return HttpResponse(304, representation.headers)
    return HttpResponse(200, [*representation.content_headers, *representation.headers], representation.body)
