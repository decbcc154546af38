"""A second implementation of a hold'em server, without sockets: it implements the document and no extensions.

It uses the project's game rules and a manual clock, and is the Exchange of its clients.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import msgspec

from croupier.clients.holdem_api import ApiRequest, ApiResponse, HoldemApi
from croupier.http.routes import parse_command
from croupier.rooms.holdem.wire import Created, Dialect, Game, RequestRefused, encode, render_response
from tests.rooms.holdem.house_fixture import HouseFixture

PATHS = re.compile("/users/|/games/([^/]+(/players/([^/]+(/acts/)?)?)?)?")

type Override = Callable[[ApiRequest], ApiResponse | ConnectionError | None]


class IndependentServer:
    """`override` may answer in its place. `requests` are the requests, `delays` the seconds between them.

    `stream_restarts` has an entry for every line that was read from a stream: whether the stream had to be opened.
    """

    def __init__(self, dialect: Dialect = "readme", **settings: Any) -> None:
        self.house = HouseFixture(dialect=dialect, **settings)
        self.dialect = dialect
        self.users: dict[str, str] = {}
        self.requests: list[ApiRequest] = []
        self.delays: list[float] = []
        self.override: Override = lambda _: None
        self.stream_restarts: list[bool] = []

    @property
    def request_lines(self) -> list[str]:
        """Method and path of every request."""
        return [f"{request.method} {request.path}" for request in self.requests]

    def client(
        self, user: str = "ann", password: str = "secret", retry_timeout: float = 30.0, dialect: Dialect | None = None
    ) -> HoldemApi:
        return HoldemApi(self, user, password, retry_timeout, dialect)

    def run[T](self, call: Coroutine[Any, Any, T]) -> T:
        """Run a client's call, which never has to wait, and return its result."""
        try:
            call.send(None)
        except StopIteration as stop:
            result: T = stop.value
            return result
        raise AssertionError("a call has waited for something else than this server")

    # The Exchange of clients; what they wait advances the clock.

    async def request(self, request: ApiRequest) -> ApiResponse:
        self.requests.append(request)
        overridden = self.override(request)
        if isinstance(overridden, ConnectionError):
            raise overridden
        return self.answer(request) if overridden is None else overridden

    def stream(self, request: ApiRequest) -> "IndependentStream":
        return IndependentStream(self, request)

    async def wait(self, seconds: float) -> None:
        self.delays.append(seconds)
        self.house.wait(seconds)

    async def close(self) -> None:
        pass

    def answer(self, request: ApiRequest) -> ApiResponse:
        """Answer as the document says. In dialect hspe-go all paths end with a slash."""
        path = request.path.partition("?")[0]
        if not (path.endswith("/") if self.dialect == "hspe-go" else PATHS.fullmatch(path)):
            return ApiResponse(301, {}, b"")
        user = self._user(request.headers)
        if path == "/users/":
            return self._register(request)
        if user is None:
            return ApiResponse(401, {}, b"who are you?\n")
        if request.method == "GET":
            return self._show(path.strip("/").split("/"), user)
        parsed = parse_command(request.method, path, user, request.body)
        answer = parsed if isinstance(parsed, RequestRefused) else self.house.request(parsed)
        status, headers, body = render_response(answer, self.dialect, self._public_view)
        return ApiResponse(status, {name.decode(): value.decode() for name, value in headers}, body)

    def _public_view(self, game: str) -> Game:
        table = self.house.house.game(game)
        assert table is not None
        return table.view(None)

    def _user(self, headers: Mapping[str, str]) -> str | None:
        """The user of a request: "" without credentials, None if they are wrong."""
        if "authorization" not in headers:
            return ""
        name, _, password = b64decode(headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        return name if self.users.get(name) == password else None

    def _register(self, request: ApiRequest) -> ApiResponse:
        name, _, password = b64decode(request.headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        if name in self.users and (self.dialect == "readme" or self.users[name] != password):
            return ApiResponse(403, {}, b"there is one of this name\n")
        self.users[name] = password
        status, _, body = render_response(Created(self.house.house.guid_of(name)), self.dialect, self._public_view)
        return ApiResponse(status, {}, body)

    def _show(self, path: list[str], user: str) -> ApiResponse:
        if path == ["games"]:
            return ApiResponse(
                200, {}, encode([table.view(user or None) for table in self.house.house.games()], self.dialect)
            )
        table = self.house.house.game(path[1])
        if table is None:
            return ApiResponse(404, {}, b"no such game\n")
        view = table.view(user or None)
        if self.dialect == "hspe-go" and user and user not in [player.handle for player in view.table]:
            return ApiResponse(403, {}, b"not at the table\n")
        return ApiResponse(200, {}, encode(view, self.dialect))


class IndependentStream:
    """A stream of an IndependentServer, which only `override` can answer."""

    def __init__(self, server: IndependentServer, request: ApiRequest) -> None:
        self._server = server
        self._request = request
        self._is_open = False

    async def read(self) -> ApiResponse:
        self._server.requests.append(self._request)
        self._server.stream_restarts.append(not self._is_open)
        response = self._server.override(self._request) or ApiResponse(404, {}, b"")
        self._is_open = isinstance(response, ApiResponse) and response.status == 200
        if isinstance(response, ConnectionError):
            raise response
        return response

    async def close(self) -> None:
        self._is_open = False


def versioned(server: IndependentServer) -> Override:
    """Override that adds the version of a game to answers. There are no streams and no long polling."""

    def override(request: ApiRequest) -> ApiResponse | None:
        path = request.path.partition("?")[0]
        if request.method != "GET" or path == "/games/" or path.endswith("/events"):
            return None
        response = server.answer(msgspec.structs.replace(request, path=path))
        if response.status != 200:
            return response
        return ApiResponse(200, {"x-game-version": str(server.house.table().version)}, response.body)

    return override


def streaming(server: IndependentServer) -> Override:
    """Override that also streams every change, one line per request."""
    answer_with_version = versioned(server)

    def override(request: ApiRequest) -> ApiResponse | ConnectionError | None:
        if not request.path.endswith("/events"):
            return answer_with_version(request)
        return server.answer(msgspec.structs.replace(request, path=request.path.removesuffix("/events")))

    return override
