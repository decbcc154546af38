"""The hold'em API: the requests of one user.

The I/O and the waiting are done by an Exchange; that of a server is in `clients/http_exchange.py`.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, Protocol, Self

import msgspec
from msgspec import Struct

from croupier.core.basic_auth import basic_authorization
from croupier.core.errors import Violation
from croupier.core.text import printable
from croupier.rooms.holdem.observed.state_reader import read_game, read_games, read_guid
from croupier.rooms.holdem.wire import ACTION_BET, Act, Dialect, Game, Guid

MAX_TABLE_PLAYERS: Final = 10
"""A table with this many players is full (document, General rules)."""

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

    `status` is the HTTP status, `status_text` the status with its name, `detail` the body of the answer, and
    `retry_after_seconds` the value of its Retry-After header, if any.

    Example, with `croupier serve holdem` running:
        >>> from croupier.holdem import BlockingHoldemClient
        >>> with BlockingHoldemClient("http://127.0.0.1:8080", "ann", "secret") as client:
        ...     try:
        ...         client.create_game()
        ...     except Refusal as refusal:  # ann is not registered
        ...         print(refusal.status)
        401
    """

    def __init__(self, status: int, detail: str, retry_after_seconds: float | None = None) -> None:
        phrase = HTTPStatus(status).phrase if status in HTTPStatus else "unknown status"
        shown = printable(detail)
        self.status = status
        self.status_text = f"{status} {phrase}"
        super().__init__(f"{self.status_text}{': ' if detail else ''}{shown}")
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


class NoAnswerError(ConnectionError):
    """A request has no answer; `reason` is that of the connection."""

    def __init__(self, request: ApiRequest, reason: str) -> None:
        super().__init__(f"no answer to {request.method} {request.path}: {reason}")
        self.reason = reason


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


class Stream(Protocol):
    """A streamed response of states, one per line; the first `read` opens it."""

    async def read(self) -> ApiResponse:
        """Wait for the next line, and return the newest one as the body.

        Any other answer, and a ConnectionError, is the end of the stream, which the next `read` opens again.
        """
        ...

    async def close(self) -> None:
        """Close the stream, if it is open, and discard what is buffered."""
        ...


class Exchange(Protocol):
    """The I/O of a HoldemApi."""

    async def request(self, request: ApiRequest) -> ApiResponse:
        """Send a request and return the response.

        Raises ConnectionError if there is none; the server may or may not have received the request then.
        """
        ...

    def stream(self, request: ApiRequest) -> Stream:
        """Return the stream of this request."""
        ...

    async def wait(self, seconds: float) -> None:
        """Wait for this number of seconds."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class JoinedGame(Struct, frozen=True):
    """The result of joining a game: the game and the player's GUID.

    `is_queued`: the player waits for a seat. A server of dialect hspe-go does not report this; it is false then.
    """

    game: Guid
    player: Guid
    is_queued: bool = False


class HoldemApi:
    """The requests of one user, or of the public if `user` is "".

    `retry_timeout` is the number of seconds that a server may be unreachable or busy. Without `dialect`, the server's
    dialect is recognised by its answers. All methods raise Refusal if the server refuses the request, Violation if it
    breaks the protocol, and ConnectionError if it cannot be reached. Raises ValueError if the user name contains a
    colon.
    """

    def __init__(
        self, exchange: Exchange, user: str, password: str, retry_timeout: float, dialect: Dialect | None = None
    ) -> None:
        if ":" in user:
            raise ValueError(f"found the name {user!r}; allowed: one without a colon (holdem-2.4)")
        self.exchange = exchange
        self.user = user
        self.guid: Guid = ""
        self.dialect: Dialect = dialect or "readme"
        self._has_fixed_dialect = dialect is not None
        self.retry_timeout = retry_timeout
        self._credentials = {"authorization": basic_authorization(user, password).decode()} if user else {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.exchange.close()

    async def register(self) -> Guid | None:
        """Register the user, if it is new; return its GUID, or None if the server does not repeat it."""
        response = await self._request(ApiRequest("POST", "/users/"), 200, 201, 403)
        if response.status == HTTPStatus.FORBIDDEN:
            return self.guid or None
        self.guid = read_guid(response.body)
        if response.body.lstrip().startswith(b"{"):
            self._set_dialect("hspe-go")
        return self.guid

    def _set_dialect(self, dialect: Dialect) -> None:
        if not self._has_fixed_dialect:
            self.dialect = dialect

    async def list_games(self) -> list[Game]:
        """Return all games, with the user's cards where it has any.

        The list is read page by page if it has pages (holdem-9.12).
        """
        response = await self._request(ApiRequest("GET", "/games/"), 200)
        games, path, size = read_games(response.body), _page_path(response, "first"), 0
        if not path:
            return games
        games_by_id: dict[Guid, Game] = {}
        while path:
            response = await self._request(ApiRequest("GET", path), 200)
            previous_count, size = len(games_by_id), size + len(response.body)
            if size > MAX_GAME_LIST_BYTES:
                raise Violation("holdem-9.12", f"more than {MAX_GAME_LIST_BYTES:,} bytes of games", "pages that end")
            games_by_id |= {game.game_id: game for game in read_games(response.body)}
            path = _page_path(response, "next") if len(games_by_id) > previous_count else None
        return [*games_by_id.values()]

    async def create_game(self) -> JoinedGame:
        """Create a game and join it."""
        response = await self._request(ApiRequest("POST", "/games/", idempotent=False), 200, 201, 202)
        game = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
        return self._read_joined_game(response, game)

    async def join(self, game: Guid | None = None) -> JoinedGame:
        """Join this game, or any game with a free seat.

        Games with players are preferred to empty ones. If there is no free seat, the user queues for the last game in
        the list; without any game, a new one is created.
        """
        if game is not None:
            return await self._join(game)
        # The first page is enough: it lists the games with free seats.
        response = await self._request(ApiRequest("GET", "/games/"), 200)
        games = read_games(response.body)
        with_free_seats = [candidate for candidate in games if len(candidate.table) < MAX_TABLE_PLAYERS]
        games = sorted(with_free_seats, key=lambda candidate: not candidate.table) or games
        for index, candidate in enumerate(games):
            try:
                joined = await self._join(candidate.game_id)
            except Refusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise
                continue  # the game has ended meanwhile
            if not joined.is_queued or index == len(games) - 1:
                return joined
            await self.leave(joined)
        return await self.create_game()

    async def _join(self, game: Guid) -> JoinedGame:
        response = await self._request(ApiRequest("POST", f"/games/{game}/players/"), 200, 201, 202, 409)
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

    async def act(self, act: Act) -> str | None:
        """Bet or fold. Returns the reason if the server treated an invalid bet as a fold, else None.

        The request is never repeated. `HoldemSeat.make_move` checks moves before it sends them.
        """
        fields = {"action": act.action, "betAmount": act.amount} if act.action == ACTION_BET else {"action": act.action}
        path = f"/games/{act.game}/players/{act.player}/acts/"
        headers = {"content-type": "application/json"}
        request = ApiRequest("POST", path, msgspec.json.encode(fields), headers, idempotent=False)
        response = await self._request(request, 200, 201)
        return printable(response.headers.get("x-fold-reason", "")) or None

    async def leave(self, joined_game: JoinedGame) -> None:
        """Leave a game; chips that were bet in the running hand are lost.

        It is not an error if the player has left already.
        """
        path = f"/games/{joined_game.game}/players/{joined_game.player}{self._trailing_slash}"
        await self._request(ApiRequest("DELETE", path), 200, 204, 404)

    async def fetch_game(
        self, game: Guid, headers: Mapping[str, str] = {}, query: str = ""
    ) -> tuple[ApiResponse, bool]:
        """Return the response with a game, and whether it is the public view.

        The published server refuses the player's view without a seat; the public view is requested then (holdem-7.3).
        """
        path = f"/games/{game}{self._trailing_slash}{query}"
        response = await self._request(ApiRequest("GET", path, headers=headers), 200, 304, 403)
        if response.status != HTTPStatus.FORBIDDEN:
            return response, False
        return await self._request(ApiRequest("GET", path, headers=headers, is_anonymous=True), 200, 304), True

    async def get_game(self, game: Guid) -> Game:
        """Return a game, with the user's cards if it has any."""
        response, _ = await self.fetch_game(game)
        return read_game(response.body)

    def stream(self, game: Guid) -> Stream:
        """Return the stream of a game: one line with its state after every change."""
        request = ApiRequest("GET", f"/games/{game}/events", headers={"accept": "application/x-ndjson"})
        return self.exchange.stream(self._with_credentials(request))

    def _with_credentials(self, request: ApiRequest) -> ApiRequest:
        if request.is_anonymous:
            return request
        return msgspec.structs.replace(request, headers={**request.headers, **self._credentials})

    @property
    def _trailing_slash(self) -> str:
        """The end of a path: the published server requires a slash, the document has none, our server accepts both."""
        return "/" if self.dialect == "hspe-go" else ""

    async def _request(self, request: ApiRequest, *accepted: int) -> ApiResponse:
        """Send a request until there is an answer; raise Refusal unless its status is among `accepted`."""
        signed_request = self._with_credentials(request)
        waited_seconds, retry_delay = 0.0, FIRST_RETRY_DELAY_SECONDS
        while True:
            error: Refusal | NoAnswerError
            try:
                response = await self.exchange.request(signed_request)
            except ConnectionError as failure:
                error = NoAnswerError(request, str(failure))
                delay = retry_delay
            else:
                if response.status in accepted:
                    return response
                error = response.to_refusal()
                delay = retry_delay if error.retry_after_seconds is None else error.retry_after_seconds
                if response.status not in RETRYABLE_STATUSES:
                    raise error
            if not request.idempotent or waited_seconds + delay > self.retry_timeout:
                raise error
            await self.exchange.wait(delay)
            waited_seconds += delay
            retry_delay = min(2 * retry_delay, MAX_RETRY_DELAY_SECONDS)


def _page_path(response: ApiResponse, relation: str) -> str | None:
    """Return the path of the page of games that an answer links to, or None."""
    links = PAGE_LINK.findall(response.headers.get("link", "")[:1000])
    return next((path for path, link_relation in links if link_relation == relation), None)
