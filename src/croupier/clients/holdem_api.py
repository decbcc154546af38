"""The hold'em API as request flows without I/O, shared by the asynchronous and the synchronous client.

A request flow is a generator. It yields an ApiRequest, an ApiStream or a Delay; it is sent an ApiResponse,
ConnectionFailed, or None after a delay; and it returns its result. The client that runs the flow does the I/O and the
waiting.
"""

import re
from base64 import b64encode
from collections.abc import Generator, Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.text import printable
from croupier.rooms.holdem.observed.state_reader import read_game, read_games, read_guid
from croupier.rooms.holdem.wire import ACTION_BET, Act, Dialect, Game, Guid

MAX_TABLE_PLAYERS: Final = 10
"""A table with this many players is full (document, General rules)."""

LONG_POLL_SECONDS: Final = 25
"""How long the server is asked to delay its answer until the game changes (holdem-9.3)."""

POLL_INTERVAL_SECONDS: Final = 0.05
"""Interval between requests to a server without long polling (document, Understanding the state of the game)."""

FIRST_RETRY_DELAY_SECONDS: Final = 0.1
MAX_RETRY_DELAY_SECONDS: Final = 2.0
"""The delay before a request is repeated doubles with every attempt, up to this value."""

RETRYABLE_STATUSES: Final = frozenset({429, 500, 502, 503, 504})
"""HTTP statuses after which a request is repeated."""

PAGE_LINK: Final = re.compile(r'<(/games/?\?[\w=&.-]*)>; *rel="?(first|next)"?', re.ASCII)
"""A link to a page of games (holdem-9.12). It has to be a path, so that the credentials go to no other server."""

MAX_GAME_LIST_BYTES: Final = 16 << 20
"""Maximum total size of all pages of the list of games."""


class Refusal(Exception):
    """The server has refused a request and changed nothing.

    `status` is the HTTP status, `detail` the body of the answer, `retry_after_seconds` the value of its Retry-After
    header, if any.
    """

    def __init__(self, status: int, detail: str, retry_after_seconds: float | None = None) -> None:
        phrase = HTTPStatus(status).phrase if status in HTTPStatus else "unknown status"
        shown = printable(detail)
        super().__init__(f"{status} {phrase}{': ' if detail else ''}{shown}")
        self.status = status
        self.detail = shown
        self.retry_after_seconds = retry_after_seconds


class ApiRequest(Struct, frozen=True):
    """An HTTP request. `is_anonymous`: send no credentials. `idempotent`: the request may be repeated without harm."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    is_anonymous: bool = False
    idempotent: bool = True


class Delay(Struct, frozen=True):
    """Wait for this number of seconds."""

    seconds: float


class ApiStream(Struct, frozen=True):
    """Read the newest line of a streamed response.

    The owner's open stream is used; it is opened if there is none, and reopened if `restart` is true.
    """

    owner: object
    request: ApiRequest
    restart: bool = False


class ApiResponse(Struct, frozen=True):
    """An HTTP response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def to_refusal(self) -> Refusal:
        """Return the response as a Refusal."""
        retry_after = self.headers.get("retry-after", "")
        detail = self.body[:500].decode(errors="replace").strip()
        is_number = retry_after.isdecimal() and len(retry_after) < 10
        return Refusal(self.status, detail, float(retry_after) if is_number else None)


class ConnectionFailed(Struct, frozen=True):
    """There was no response. The server may or may not have received the request."""

    reason: str


type RequestFlow[T] = Generator[ApiRequest | ApiStream | Delay, ApiResponse | ConnectionFailed | None, T]


class JoinedGame(Struct, frozen=True):
    """The result of joining a game: the game and the player's GUID.

    `is_queued`: the player waits for a seat. A server of dialect hspe-go does not report this; it is false then.
    """

    game: Guid
    player: Guid
    is_queued: bool = False


class HoldemApi:
    """The requests of one user. `retry_timeout` is the number of seconds that a server may be unreachable or busy.

    Without `dialect`, the server's dialect is recognised by its answers. All flows raise Refusal if the server refuses
    the request, Violation if it breaks the protocol, and ConnectionError if it cannot be reached. Raises ValueError if
    the user name contains a colon.
    """

    def __init__(self, user: str, password: str, retry_timeout: float, dialect: Dialect | None = None) -> None:
        if ":" in user:
            raise ValueError(f"found the name {user!r}; allowed: one without a colon (holdem-2.4)")
        self.user = user
        self.guid: Guid = ""
        self.dialect: Dialect = dialect or "readme"
        self._has_fixed_dialect = dialect is not None
        self.retry_timeout = retry_timeout
        self._credentials = {"authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}

    def register(self) -> RequestFlow[Guid | None]:
        """Register the user. Returns its GUID, or None if it exists already and the server does not repeat the GUID."""
        response = yield from self._request(ApiRequest("POST", "/users/"), 200, 201, 403)
        if response.status == HTTPStatus.FORBIDDEN:
            return self.guid or None
        self.guid = read_guid(response.body)
        if response.body.lstrip().startswith(b"{"):
            self._set_dialect("hspe-go")
        return self.guid

    def _set_dialect(self, dialect: Dialect) -> None:
        """Note the dialect of an answer, unless the dialect is fixed."""
        if not self._has_fixed_dialect:
            self.dialect = dialect

    def list_games(self) -> RequestFlow[list[Game]]:
        """Return all games as the user sees them, read page by page if the list has pages (holdem-9.12)."""
        response = yield from self._request(ApiRequest("GET", "/games/"), 200)
        games, path, size = read_games(response.body), _page_path(response, "first"), 0
        if not path:
            return games
        games_by_id: dict[Guid, Game] = {}
        while path:
            response = yield from self._request(ApiRequest("GET", path), 200)
            previous_count, size = len(games_by_id), size + len(response.body)
            if size > MAX_GAME_LIST_BYTES:
                raise Violation("holdem-9.12", f"more than {MAX_GAME_LIST_BYTES:,} bytes of games", "pages that end")
            games_by_id |= {game.game_id: game for game in read_games(response.body)}
            path = _page_path(response, "next") if len(games_by_id) > previous_count else None
        return [*games_by_id.values()]

    def create_game(self) -> RequestFlow[JoinedGame]:
        """Create a game and join it."""
        response = yield from self._request(ApiRequest("POST", "/games/", idempotent=False), 200, 201, 202)
        game = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
        return self._read_joined_game(response, game)

    def join(self, game: Guid | None = None) -> RequestFlow[JoinedGame]:
        """Join this game, or any game with a free seat.

        Games with players are preferred to empty ones. If there is no free seat, the user queues for the last game in
        the list; without any game, a new one is created.
        """
        if game is not None:
            return (yield from self._join(game))
        # The first page is enough: it lists the games with free seats.
        response = yield from self._request(ApiRequest("GET", "/games/"), 200)
        games = read_games(response.body)
        with_free_seats = [candidate for candidate in games if len(candidate.table) < MAX_TABLE_PLAYERS]
        games = sorted(with_free_seats, key=lambda candidate: not candidate.table) or games
        for index, candidate in enumerate(games):
            try:
                joined = yield from self._join(candidate.game_id)
            except Refusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise
                continue  # the game has ended meanwhile
            if not joined.is_queued or index == len(games) - 1:
                return joined
            yield from self.leave(joined)
        return (yield from self.create_game())

    def _join(self, game: Guid) -> RequestFlow[JoinedGame]:
        response = yield from self._request(ApiRequest("POST", f"/games/{game}/players/"), 200, 201, 202, 409)
        if response.status == HTTPStatus.CONFLICT:  # we have a seat already
            return JoinedGame(game, self.guid)
        return self._read_joined_game(response, game)

    def _read_joined_game(self, response: ApiResponse, game: Guid) -> JoinedGame:
        """Read the answer to joining: the document has a GUID, the published server a Game (holdem-7.2)."""
        if response.body.lstrip()[:1] in {b"{", b"["}:
            self._set_dialect("hspe-go")
            return JoinedGame(read_game(response.body).game_id, self.guid)
        if not game:
            raise Violation("holdem-3.3", "a new game without a Location", "its path")
        self.guid = read_guid(response.body)
        return JoinedGame(game, self.guid, is_queued=response.status == HTTPStatus.ACCEPTED)

    def act(self, act: Act) -> RequestFlow[str | None]:
        """Bet or fold; the request is never repeated.

        Returns the reason if the server treated the bet as a fold, else None.
        """
        fields = {"action": act.action, "betAmount": act.amount} if act.action == ACTION_BET else {"action": act.action}
        path = f"/games/{act.game}/players/{act.player}/acts/"
        headers = {"content-type": "application/json"}
        request = ApiRequest("POST", path, msgspec.json.encode(fields), headers, idempotent=False)
        response = yield from self._request(request, 200, 201)
        return printable(response.headers.get("x-fold-reason", "")) or None

    def leave(self, joined_game: JoinedGame) -> RequestFlow[None]:
        """Leave a game. It is not an error if the player has left already."""
        path = f"/games/{joined_game.game}/players/{joined_game.player}{self._trailing_slash}"
        yield from self._request(ApiRequest("DELETE", path), 200, 204, 404)

    def fetch_game(
        self, game: Guid, headers: Mapping[str, str] = {}, query: str = ""
    ) -> RequestFlow[tuple[ApiResponse, bool]]:
        """Return the response with a game, and whether it is the public view.

        The published server refuses the player's view without a seat; the public view is requested then (holdem-7.3).
        """
        path = f"/games/{game}{self._trailing_slash}{query}"
        response = yield from self._request(ApiRequest("GET", path, headers=headers), 200, 304, 403)
        if response.status != HTTPStatus.FORBIDDEN:
            return response, False
        return (yield from self._request(ApiRequest("GET", path, headers=headers, is_anonymous=True), 200, 304)), True

    def get_game(self, game: Guid) -> RequestFlow[Game]:
        """Return a game as the user sees it."""
        response, _ = yield from self.fetch_game(game)
        return read_game(response.body)

    def stream_request(self, game: Guid) -> ApiRequest:
        """Return the request for the stream of a game: one line with its state after every change."""
        return self._with_credentials(
            ApiRequest("GET", f"/games/{game}/events", headers={"accept": "application/x-ndjson"})
        )

    def _with_credentials(self, request: ApiRequest) -> ApiRequest:
        if request.is_anonymous:
            return request
        return msgspec.structs.replace(request, headers={**request.headers, **self._credentials})

    @property
    def _trailing_slash(self) -> str:
        """The end of a path: the published server requires a slash, the document has none, our server accepts both."""
        return "/" if self.dialect == "hspe-go" else ""

    def _request(self, request: ApiRequest, *accepted: int) -> RequestFlow[ApiResponse]:
        """Send a request until there is an answer; raise Refusal unless its status is among `accepted`."""
        signed_request = self._with_credentials(request)
        waited_seconds, retry_delay = 0.0, FIRST_RETRY_DELAY_SECONDS
        while True:
            response = yield signed_request
            assert response is not None, "a request has an answer"
            error: Refusal | ConnectionError
            if isinstance(response, ConnectionFailed):
                error = ConnectionError(f"no answer to {request.method} {request.path}: {response.reason}")
                delay = retry_delay
            elif response.status in accepted:
                return response
            else:
                error = response.to_refusal()
                delay = retry_delay if error.retry_after_seconds is None else error.retry_after_seconds
                if response.status not in RETRYABLE_STATUSES:
                    raise error
            if not request.idempotent or waited_seconds + delay > self.retry_timeout:
                raise error
            yield Delay(delay)
            waited_seconds += delay
            retry_delay = min(2 * retry_delay, MAX_RETRY_DELAY_SECONDS)


def _page_path(response: ApiResponse, relation: str) -> str | None:
    """Return the path of the page of games that an answer links to, or None."""
    links = PAGE_LINK.findall(response.headers.get("link", "")[:1000])
    return next((path for path, link_relation in links if link_relation == relation), None)


class GameWatcher:
    """Follows one game: returns its state at once, and then after every change.

    It uses the stream of changes (holdem-9.6) or long polling (holdem-9.3) if the server has them, else it polls every
    POLL_INTERVAL_SECONDS. `is_public` is whether the latest state was the public view.
    """

    def __init__(self, api: HoldemApi, game: Guid) -> None:
        self.is_public = False
        self._api = api
        self._game = game
        self._last_response: ApiResponse | None = None
        self._version = ""
        self._can_stream = True
        self._restart = True

    def refresh(self) -> None:
        """Make the next request immediate, and discard what is buffered in the stream."""
        self._last_response, self._restart = None, True

    def next_game(self) -> RequestFlow[Game]:
        """Return the next state of the game."""
        while True:
            last_response = self._last_response
            if last_response is None or not self._version:
                response = yield from self._poll()
            elif self.is_public or not self._can_stream:
                response = yield from self._long_poll()
            else:
                response = yield from self._read_stream()
            if response is None or (last_response is not None and response.body == last_response.body):
                continue
            self._last_response = response
            return read_game(response.body)

    def _poll(self) -> RequestFlow[ApiResponse | None]:
        """Request the state now, or after the poll interval."""
        last_response, headers = self._last_response, {}
        if last_response is not None:
            yield Delay(POLL_INTERVAL_SECONDS)
            headers = {"if-none-match": last_response.headers["etag"]} if "etag" in last_response.headers else {}
        return (yield from self._fetch(headers))

    def _long_poll(self) -> RequestFlow[ApiResponse | None]:
        """Request the state when it differs from the last one."""
        previous_version = self._version
        response = yield from self._fetch({}, f"?wait={LONG_POLL_SECONDS}&since={previous_version}")
        if self._version == previous_version:
            yield Delay(POLL_INTERVAL_SECONDS)
        return response

    def _read_stream(self) -> RequestFlow[ApiResponse | None]:
        """Read the next state from the stream."""
        response = yield ApiStream(self, self._api.stream_request(self._game), restart=self._restart)
        self._restart = False
        if isinstance(response, ApiResponse) and response.status == HTTPStatus.OK:
            return response
        # A stream that broke off can be reopened; any other status means that the server offers none.
        self._can_stream = isinstance(response, ConnectionFailed)
        yield Delay(POLL_INTERVAL_SECONDS)
        return (yield from self._fetch({}))

    def _fetch(self, headers: Mapping[str, str], query: str = "") -> RequestFlow[ApiResponse | None]:
        """Request the state; None if it has not changed."""
        response, self.is_public = yield from self._api.fetch_game(self._game, headers, query)
        self._version = response.headers.get("x-game-version", "")
        if response.status != HTTPStatus.NOT_MODIFIED:
            return response
        if not headers:
            raise Violation("holdem-9.2", "304 although no tag was sent", "200")
        return None
