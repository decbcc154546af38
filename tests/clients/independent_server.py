"""A server of the hold'em document that is not ours, without a socket: it knows the document and nothing more.

It plays by our rules, with a clock that is moved by hand, and runs the errands of clients one wish after another.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from croupier.clients.holdem_api import (
    ApiRequest,
    ApiResponse,
    ApiStream,
    ConnectionFailed,
    Delay,
    HoldemApi,
    RequestFlow,
)
from croupier.rooms.holdem.wire import Created, Dialect, RequestRefused, encode, parse_request, render_response
from tests.rooms.holdem.house_fixture import HouseFixture

PATHS = re.compile("/users/|/games/([^/]+(/players/([^/]+(/acts/)?)?)?)?")

type Meddling = Callable[[ApiRequest], ApiResponse | ConnectionFailed | None]


class Stranger:
    """`meddle` may answer in its place. `asked` has its requests, and `paused` the seconds between them.

    `followed` says of every line of a stream that was asked for whether the stream had to be a new one.
    """

    def __init__(self, dialect: Dialect = "readme", **settings: Any) -> None:
        self.parlour = HouseFixture(dialect=dialect, **settings)
        self.dialect = dialect
        self.users: dict[str, str] = {}
        self.asked: list[ApiRequest] = []
        self.paused: list[float] = []
        self.meddle: Meddling = lambda _: None
        self.followed: list[bool] = []

    @property
    def lines(self) -> list[str]:
        """What was asked, in short."""
        return [f"{ask.method} {ask.path}" for ask in self.asked]

    def client(
        self, user: str = "ann", password: str = "secret", patience: float = 30.0, dialect: Dialect | None = None
    ) -> HoldemApi:
        return HoldemApi(user, password, patience, dialect)

    def run[T](self, errand: RequestFlow[T]) -> T:
        """Do an errand to its end; pauses pass at once."""
        reply: ApiResponse | ConnectionFailed | None = None
        while True:
            try:
                wish = errand.send(reply)
            except StopIteration as end:
                done: T = end.value
                return done
            reply = None
            match wish:
                case Delay(seconds):
                    self.paused.append(seconds)
                    self.parlour.wait(seconds)
                case ApiRequest() as ask:
                    self.asked.append(ask)
                    meddled = self.meddle(ask)
                    reply = self.answer(ask) if meddled is None else meddled
                case ApiStream(_, ask, fresh):
                    self.asked.append(ask)
                    self.followed.append(fresh)
                    reply = self.meddle(ask) or ApiResponse(404, {}, b"")

    def answer(self, ask: ApiRequest) -> ApiResponse:
        """By the document: with the paths as it prints them, where the published server wants a slash behind all."""
        path = ask.path.partition("?")[0]
        if not (path.endswith("/") if self.dialect == "hspe-go" else PATHS.fullmatch(path)):
            return ApiResponse(301, {}, b"")
        user = self._user(ask.headers)
        if path == "/users/":
            return self._enrol(ask)
        if user is None:
            return ApiResponse(401, {}, b"who are you?\n")
        if ask.method == "GET":
            return self._show(path.strip("/").split("/"), user)
        request = parse_request(ask.method, path, user, ask.body, self.dialect)
        answer = request if isinstance(request, RequestRefused) else self.parlour.request(request)
        status, headers, body = render_response(answer, self.dialect, self.parlour.house)
        return ApiResponse(status, {name.decode(): value.decode() for name, value in headers}, body)

    def _user(self, headers: Mapping[str, str]) -> str | None:
        """Who asks: "" for the public, None for who is not who he says."""
        if "authorization" not in headers:
            return ""
        name, _, password = b64decode(headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        return name if self.users.get(name) == password else None

    def _enrol(self, ask: ApiRequest) -> ApiResponse:
        name, _, password = b64decode(ask.headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        if name in self.users and (self.dialect == "readme" or self.users[name] != password):
            return ApiResponse(403, {}, b"there is one of this name\n")
        self.users[name] = password
        status, _, body = render_response(Created(self.parlour.house.guid_of(name)), self.dialect, self.parlour.house)
        return ApiResponse(status, {}, body)

    def _show(self, path: list[str], user: str) -> ApiResponse:
        if path == ["games"]:
            return ApiResponse(
                200, {}, encode([table.view(user or None) for table in self.parlour.house.games()], self.dialect)
            )
        table = self.parlour.house.game(path[1])
        if table is None:
            return ApiResponse(404, {}, b"no such game\n")
        seen = table.view(user or None)
        if self.dialect == "hspe-go" and user and user not in [one.handle for one in seen.table]:
            return ApiResponse(403, {}, b"not at the table\n")
        return ApiResponse(200, {}, encode(seen, self.dialect))


def versioned(stranger: Stranger) -> Meddling:
    """What makes a stranger tell the version of a game. It has no streams, and does not hold back its answers."""

    def meddle(ask: ApiRequest) -> ApiResponse | None:
        path = ask.path.partition("?")[0]
        if ask.method != "GET" or path == "/games/" or path.endswith("/events"):
            return None
        reply = stranger.answer(msgspec.structs.replace(ask, path=path))
        if reply.status != 200:
            return reply
        return ApiResponse(200, {"x-game-version": str(stranger.parlour.table().version)}, reply.body)

    return meddle


def streaming(stranger: Stranger) -> Meddling:
    """What makes a stranger tell every change as well, a line for each that is asked for."""
    told = versioned(stranger)

    def meddle(ask: ApiRequest) -> ApiResponse | ConnectionFailed | None:
        if not ask.path.endswith("/events"):
            return told(ask)
        return stranger.answer(msgspec.structs.replace(ask, path=ask.path.removesuffix("/events")))

    return meddle
