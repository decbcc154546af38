"""Read requests of the hold'em service: games, long polls, streams and hand histories."""

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

GET_REQUEST_SCOPE_KEY: Final = "croupier.get_request"
"""The key under which a scope holds its GetRequest, for when the same request is repeated."""

HTTP_REQUEST_SCOPE_KEY: Final = "croupier.http_request"
USERS_CHECK_INTERVAL_SECONDS: Final = 1.0
"""A stream ends at most this long after its user got a new password, even if nothing happens in the game."""


class GetRequest:
    """A GET request: for the game `guid`, or for the list of games if that is empty. Other requests are not `is_plain`.

    `login` is the client's login, which may have to be confirmed, or None for the public.
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
    """Answers all GET and HEAD requests."""

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
        """The representation that a plain GET requests, and whether the client already has it (304).

        Returns None if the request needs a task.
        """
        get_request = self._parse_get(scope)
        if get_request is None or self._service.is_superseded:
            return None
        user = _username(get_request.login)
        if get_request.guid:
            game = self._views.game(get_request.guid)
            if game is None or self._is_hidden(game, user):
                return None
            found = game.view_for(user)
        else:
            found = self._views.list_view(user)
        return found, get_request.if_none_match is not None and etag_matches(get_request.if_none_match, found.etag)

    def _parse_get(self, scope: MutableMapping[str, Any]) -> GetRequest | None:
        """The plain GET request of a scope; None for other requests, and if credentials have to be verified."""
        get_request: GetRequest | None = scope.get(GET_REQUEST_SCOPE_KEY)
        if get_request is None:
            get_request = scope[GET_REQUEST_SCOPE_KEY] = GetRequest(scope)
        if not get_request.is_plain:
            return None
        if get_request.authorization is not None and (
            get_request.login is None or not self._authenticator.is_current(get_request.login)
        ):
            get_request.login = self._authenticator.cached_login(get_request.authorization)
            if get_request.login is None:
                return None
        return get_request

    async def get_games(self, request: HttpRequest, names: Sequence[str]) -> HttpResponse:
        """The list of games, or one game, now or after its next change (holdem-5.1, holdem-5.2, holdem-9.3)."""
        login = await self._viewer_login(request)
        await self._check_viewer(login)
        user = _username(login)
        if not names:
            return _view_response(find_list_view(self._views, user, request.scope["query_string"]), request)
        wait, since = parse_wait_parameters(request.scope["query_string"])
        game = self._find_game(names[0], user)
        if wait is None or request.scope["method"] == "HEAD":
            return _view_response(game.view_for(user), request)
        with self._reserve_subscription(request, login):
            if since is None or since == game.version:
                await self._wait_for_change(game, login, min(wait, self._limits.max_wait_seconds), request.receive)
        return _view_response(self._find_game(names[0], user, "holdem-9.4").view_for(user), request)

    async def _wait_for_change(
        self, game: GameViewCache, login: VerifiedLogin | None, seconds: float, receive: Receive
    ) -> None:
        """Wait at most `seconds` until a game changes. Raises HTTPError if the client may no longer see it."""
        loop = asyncio.get_running_loop()
        version, end = game.version, loop.time() + seconds
        with watch_disconnect(receive) as disconnected:
            while (remaining := end - loop.time()) > 0 and not disconnected.done() and self._is_open(game):
                await game.wait_for_change(remaining, disconnected)
                await self._check_viewer(login)
                if game.version != version:
                    return

    async def dispatch(self, request: HttpRequest, send: SendChunk) -> None:
        """Route a request with Starlette."""
        scope = {**request.scope, "path": request.scope["path"].removesuffix("/"), HTTP_REQUEST_SCOPE_KEY: request}
        if scope["method"] != "HEAD":
            await self._router(scope, request.receive, send)
            return

        async def send_without_body(message: MutableMapping[str, Any]) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._router(scope, request.receive, send_without_body)

    async def stream(self, scope: MutableMapping[str, Any], receive: Receive, send: SendChunk) -> None:
        """Answer a request for the stream of a game (holdem-9.6)."""
        request: HttpRequest = scope[HTTP_REQUEST_SCOPE_KEY]
        login = await self._viewer_login(request)
        await self._check_viewer(login)
        user = _username(login)
        game = self._find_game(scope["path_params"]["game"], user)
        stream_format = NDJSON_STREAM if b"application/x-ndjson" in request.accept.lower() else EVENT_STREAM
        if scope["method"] == "HEAD":
            await send(stream_format.response_start)
            await send({"type": "http.response.body", "body": b""})
            return
        with self._reserve_subscription(request, login):
            await stream_game(
                game,
                user,
                stream_format,
                request.last_event_id,
                may_continue=lambda: self._may_continue(login),
                is_open=lambda: self._is_open(game),
                heartbeat_seconds=self._limits.heartbeat_seconds,
                receive=receive,
                send=send,
            )

    async def _openapi(self, request: Request) -> Response:  # noqa: ARG002 -- as Starlette calls it
        return Response(self._openapi_json, media_type="application/json")

    async def _hand(self, request: Request) -> Response:
        """Answer a request for a finished hand, with the cards shown and the client's own (holdem-9.7)."""
        http_request: HttpRequest = request.scope[HTTP_REQUEST_SCOPE_KEY]
        login = await self._viewer_login(http_request)
        await self._check_viewer(login)
        table = self._find_game(request.path_params["game"], None).shown
        number = request.path_params["hand"].removesuffix(".phh")
        played_hand = (
            table.hands.get(int(number)) if number.isascii() and number.isdigit() and len(number) < 20 else None
        )
        if played_hand is None:
            raise HTTPError(404, "holdem-9.7", f"found the hand {number[:40]!r}; allowed: one that is over, and kept")
        own_seats = [seat for seat, name in enumerate(played_hand.players) if name == _username(login)]
        text = to_phh(
            played_hand.hand,
            players=played_hand.players,
            table=table.guid,
            number=int(number),
            open_seats={*played_hand.hand.showdown_order, *own_seats},
        )
        return Response(text, media_type="application/toml", headers={"vary": "Authorization"})

    async def _viewer_login(self, request: HttpRequest) -> VerifiedLogin | None:
        """The login of the client, or None for the public. Raises HTTPError."""
        if request.authorization is None:
            return None
        return await authenticate_request(request, "holdem-2.8", self._authenticator, self._dialect)

    async def _check_viewer(self, login: VerifiedLogin | None) -> None:
        """Check that the views are still those of the games, and that the viewer still has the password with which the
        login was verified. Raises HTTPError.
        """
        if self._service.is_superseded:
            raise HTTPError(STORE_DOWN.status, STORE_DOWN.clause, STORE_DOWN.detail, (b"retry-after", b"1"))
        try:
            if login is not None and not await self._authenticator.confirm(login):
                raise AuthError("wrong", f"found another password of {login.name!r} now; allowed: to log in again")
        except AuthError as error:
            raise to_http_error(error, "holdem-2.8", self._dialect) from None

    async def _may_continue(self, login: VerifiedLogin | None) -> bool:
        """Whether the viewer of a stream may see the next event."""
        try:
            await self._check_viewer(login)
        except HTTPError:
            return False
        return True

    def _is_open(self, game: GameViewCache) -> bool:
        """Whether a game can still change."""
        return not (self._service.closing or self._service.is_superseded) and self._views.game(game.guid) is game

    def _is_hidden(self, game: GameViewCache, user: str | None) -> bool:
        """Whether a game is hidden from a user, because the user is not at its table (holdem-7.3)."""
        return user is not None and self._dialect == "hspe-go" and not game.lists_user(user)

    def _find_game(self, guid: str, user: str | None, clause: str = "holdem-8.4") -> GameViewCache:
        """The view cache of a game that a user may see. Raises HTTPError."""
        game = self._views.game(guid)
        if game is None:
            raise HTTPError(404, clause, f"found the game {guid[:100]!r}; allowed: one of /games/")
        if self._is_hidden(game, user):
            detail = f"found {user!r}, who is not at the table; allowed: who is, or no credentials"
            raise HTTPError(403, "holdem-7.3", detail)
        return game

    @contextmanager
    def _reserve_subscription(self, request: HttpRequest, login: VerifiedLogin | None) -> Iterator[None]:
        """Count a long poll or stream for the duration of the context. Raises HTTPError if there are too many."""
        client = f"address {address_key(request.address)}" if login is None else f"user {login.name}"
        if detail := self.subscribers.refusal_reason(client):
            raise HTTPError(429, "holdem-9.10", detail, (b"retry-after", b"1"))
        with self.subscribers.reserve(client):
            if self._users_check_timer is None:
                self._users_version = self._authenticator.version()
                self._check_users()
            yield

    def _check_users(self) -> None:
        """Once a second while there are subscribers, wake all of them if users have changed."""
        if self._users_version != (version := self._authenticator.version()):
            self._users_version = version
            self._views.notify_all()
        self._users_check_timer = (
            asyncio.get_running_loop().call_later(USERS_CHECK_INTERVAL_SECONDS, self._check_users)
            if self.subscribers.count
            else None
        )


class EventsApp:
    """The stream of a game, as an ASGI application for Starlette's router."""

    def __init__(self, read_api: ReadApi) -> None:
        self._read_api = read_api

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: SendChunk) -> None:
        """Answer a request for a stream."""
        await self._read_api.stream(scope, receive, send)


def _username(login: VerifiedLogin | None) -> str | None:
    return None if login is None else login.name


def _view_response(representation: Representation, request: HttpRequest) -> HttpResponse:
    if request.if_none_match is not None and etag_matches(request.if_none_match, representation.etag):
        return HttpResponse(304, representation.headers)
    return HttpResponse(200, [*representation.content_headers, *representation.headers], representation.body)
