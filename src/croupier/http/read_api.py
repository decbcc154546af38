"""Read requests of the hold'em service: games, long polls, streams and hand histories."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Final

from msgspec.json import encode as to_json

from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.http.holdem_answers import STORE_DOWN, refusal
from croupier.http.house_group import HouseGroup
from croupier.http.limits import ServiceLimits
from croupier.http.messages import Answer, Deferred, Header, HTTPError, Request, Response, run_later
from croupier.http.openapi import openapi_document
from croupier.http.queries import etag_matches, parse_page_parameters, parse_wait_parameters
from croupier.http.routes import Match
from croupier.http.streams import EVENT_STREAM, NDJSON_STREAM, GameStream
from croupier.http.views import GameViewCache, Representation
from croupier.net.client_addresses import address_key
from croupier.net.count_limit import CountLimit
from croupier.net.timer import Timer
from croupier.rooms.holdem.histories.phh import to_phh
from croupier.rooms.holdem.table.finished_hands import FinishedHand

USERS_CHECK_INTERVAL_SECONDS: Final = 1.0
"""A stream ends at most this long after its user got a new password, even if nothing happens in the game."""

type Handler = Callable[[Request, Match, VerifiedLogin | None], Answer]
"""Answers the request of a user, or of the public without a login, for the operation that it stands for."""


class GameNotShown(HTTPError):
    """The views do not show a game."""


class ReadApi:
    """Answers all GET and HEAD requests; `handlers` are the functions that do, by operation."""

    def __init__(
        self,
        service: HouseGroup,
        authenticator: Authenticator,
        limits: ServiceLimits,
    ) -> None:
        self.subscribers = CountLimit(limits.max_streams_per_user)
        self._service = service
        self._views = service.views
        self._authenticator = authenticator
        self._dialect = service.dialect
        self._limits = limits
        self._users_version: int | None = None
        self._users_check_timer = Timer()
        self.handlers: Mapping[str, Handler] = {
            "get_games": self._show_games,
            "get_game": partial(self._of_game, self._show_game),
            "get_events": partial(self._of_game, self._show_events),
            "get_hand": partial(self._of_game, self._show_hand),
            "get_openapi": lambda *_: self._openapi,
        }

    @cached_property
    def _openapi(self) -> Response:
        return _text_response(to_json(openapi_document(self._dialect)), b"application/json")

    def _show_games(self, request: Request, _: Match, login: VerifiedLogin | None) -> Response:
        """The list of games, or a page of it (holdem-5.1, holdem-9.12)."""
        if self._service.is_outdated:
            raise refusal(STORE_DOWN)
        user = _username(login)
        page = parse_page_parameters(request.query) if request.query else None
        found = self._views.list_view(user) if page is None else self._views.list_page(user, *page)
        return _view_response(found, request)

    def _of_game(self, show: Handler, request: Request, match: Match, login: VerifiedLogin | None) -> Answer:
        """The answer about a game, after looking for it elsewhere if the views do not show it."""
        try:
            return show(request, match, login)
        except GameNotShown:
            if (looked := self._service.look_up(match.parameters[0])) is None:
                raise

        def answer() -> Answer:
            looked.result()
            return show(request, match, login)

        return Deferred(looked, answer)

    def _show_game(self, request: Request, match: Match, login: VerifiedLogin | None) -> Answer:
        """One game, now or after its next change (holdem-5.2, holdem-9.3)."""
        wait, since = parse_wait_parameters(request.query) if request.query else (None, None)
        user = None if login is None else login.name
        game = self._find_game(match.parameters[0], user)
        if wait is None or request.method == "HEAD":
            return _view_response(game.view_for(user), request)
        seconds = min(wait, self._limits.max_wait_seconds)
        return run_later(self._poll(request, login, game, seconds, since))

    async def _poll(
        self, request: Request, login: VerifiedLogin | None, game: GameViewCache, seconds: float, since: int | None
    ) -> Response:
        client = self._subscribe(request, login)
        try:
            if since is None or since == game.version:
                await self._wait_for_change(request, login, game, seconds)
        finally:
            self.subscribers.remove(client)
        user = _username(login)
        return _view_response(self._find_game(game.guid, user, "holdem-9.4").view_for(user), request)

    async def _wait_for_change(
        self, request: Request, login: VerifiedLogin | None, game: GameViewCache, seconds: float
    ) -> None:
        """Wait at most `seconds` until a game changes. Raises AuthError if the client may no longer see it."""
        loop = asyncio.get_running_loop()
        version, end = game.version, loop.time() + seconds
        disconnected = request.watch_disconnect()
        while (remaining := end - loop.time()) > 0 and not disconnected.done() and self._is_open(game):
            await game.wait_for_change(remaining, disconnected)
            if login is not None:
                await self._authenticator.confirm(login)
            if game.version != version:
                return

    def _show_events(self, request: Request, match: Match, login: VerifiedLogin | None) -> Response:
        """The stream of a game (holdem-9.6)."""
        user = _username(login)
        game = self._find_game(match.parameters[0], user)
        accept = request.fields.get(b"accept") or b""
        stream_format = NDJSON_STREAM if b"application/x-ndjson" in accept.lower() else EVENT_STREAM
        if request.method == "HEAD":
            return Response(200, stream_format.headers)

        last_event = request.fields.get(b"last-event-id") or b""
        client = self._subscribe(request, login)
        stream = GameStream(
            game,
            user,
            stream_format,
            int(last_event[:20]) if last_event.isdigit() else None,
            is_open=lambda: self._is_open(game),
            is_confirmed=lambda: self._is_confirmed(login),
            confirm=lambda: self._confirm(login),
            close=lambda: self.subscribers.remove(client),
            heartbeat_seconds=self._limits.heartbeat_seconds,
        )
        return Response(200, stream_format.headers, stream=stream)

    def _is_confirmed(self, login: VerifiedLogin | None) -> bool:
        """Whether the viewer of a stream is known to be allowed to see the next event."""
        return not self._service.is_outdated and (login is None or self._authenticator.is_confirmed(login))

    async def _confirm(self, login: VerifiedLogin | None) -> bool:
        """Whether the viewer of a stream may see the next event."""
        try:
            if login is not None:
                await self._authenticator.confirm(login)
        except AuthError:
            return False
        return not self._service.is_outdated

    def _show_hand(self, _: Request, match: Match, login: VerifiedLogin | None) -> Answer:
        """A finished hand, with the cards shown and the client's own (holdem-9.7)."""
        guid, number = match.parameters
        game = self._find_game(guid, None)
        is_number = number.isascii() and number.isdigit() and len(number) < 20
        found = self._service.find_hand(game.guid, int(number)) if is_number else None
        if isinstance(found, Future):
            return Deferred(found, lambda: _hand_response(found.result(), number, _username(login)))
        return _hand_response(found, number, _username(login))

    def _is_open(self, game: GameViewCache) -> bool:
        """Whether a game can still change."""
        return not (self._service.closing or self._service.is_outdated) and self._views.games.get(game.guid) is game

    def _find_game(self, guid: str, user: str | None, clause: str = "holdem-8.4") -> GameViewCache:
        """The view cache of a game that a user may see. Raises HTTPError."""
        if self._service.is_outdated:
            raise refusal(STORE_DOWN)
        game = self._views.games.get(guid)
        if game is None:
            raise GameNotShown(404, clause, f"found the game {guid[:100]!r}; allowed: one of /games/")
        if user is not None and self._dialect == "hspe-go" and not game.lists_user(user):  # holdem-7.3
            detail = f"found {user!r}, who is not at the table; allowed: who is, or no credentials"
            raise HTTPError(403, "holdem-7.3", detail)
        return game

    def _subscribe(self, request: Request, login: VerifiedLogin | None) -> str:
        """Count a long poll or stream; return the name under which it is counted. Raises HTTPError at the limit."""
        client = f"address {address_key(request.address)}" if login is None else f"user {login.name}"
        if (is_full := self.subscribers.total >= self._limits.max_streams) or self.subscribers.is_reached(client):
            allowed = self._limits.max_streams if is_full else self._limits.max_streams_per_user
            found = f"{allowed} streams{'' if is_full else f' of {client}'}"
            detail = f"found {found}; allowed: {allowed} at the same time"
            raise HTTPError(429, "holdem-9.10", detail, (b"retry-after", b"1"))
        self.subscribers.add(client)
        if not self._users_check_timer.is_set:
            self._users_version = self._authenticator.version()
            self._check_users()
        return client

    def _check_users(self) -> None:
        """Once a second while there are subscribers, wake all of them if users have changed."""
        if self._users_version != (version := self._authenticator.version()):
            self._users_version = version
            self._views.notify_all()
        if self.subscribers.total:
            self._users_check_timer.set(USERS_CHECK_INTERVAL_SECONDS, self._check_users)


def _username(login: VerifiedLogin | None) -> str | None:
    return None if login is None else login.name


def _view_response(representation: Representation, request: Request) -> Response:
    if_none_match = request.fields.get(b"if-none-match")
    if if_none_match is not None and etag_matches(if_none_match, representation.etag):
        return representation.not_modified
    return representation.response


def _text_response(text: bytes, content_type: bytes, *headers: Header) -> Response:
    length = (b"content-length", b"%d" % len(text))
    return Response(200, [*headers, length, (b"content-type", content_type)], text)


def _hand_response(played: FinishedHand | None, number: str, user: str | None) -> Response:
    """The response with a finished hand as a user sees it, the one with this number. Raises HTTPError."""
    if played is None:
        raise HTTPError(404, "holdem-9.7", f"found the hand {number[:40]!r}; allowed: one that is over, and kept")
    own_seats = [seat for seat, name in enumerate(played.players) if name == user]
    text = to_phh(
        played.hand,
        players=played.players,
        table=played.table,
        number=played.table_hand_number,
        open_seats={*played.hand.showdown_order, *own_seats},
    )
    return _text_response(text.encode(), b"application/toml", (b"vary", b"Authorization"))
