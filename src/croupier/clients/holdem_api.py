"""What a client of hold'em does at a server: it asks, it pauses, and it asks again; somebody else does the waiting.

An errand is a generator: it yields what it wants, an `Ask`, a `Follow` or a `Pause`, is sent the `Reply` or that it is
`Lost`, and returns what came of it. So a client with an event loop and one without run the same errands.
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
"""A table with so many players is full (document, General rules)."""

LONG_POLL_SECONDS: Final = 25
"""For how many seconds a server that can is asked to hold back its answer until there is news (holdem-9.3)."""

POLL_INTERVAL_SECONDS: Final = 0.05
"""How many seconds pass between two looks at a server that cannot (document, Understanding the state of the game)."""

FIRST_RETRY_DELAY_SECONDS: Final = 0.1
MAX_RETRY_DELAY_SECONDS: Final = 2.0
"""The seconds before a server that did not answer is asked again: twice as many every time."""

RETRYABLE_STATUSES: Final = frozenset({429, 500, 502, 503, 504})
"""What a server says that may do better later."""

PAGE_LINK: Final = re.compile(r'<(/games/?\?[\w=&.-]*)>; *rel="?(first|next)"?', re.ASCII)
"""A link to a page of games (holdem-9.12): a path, so that nobody else is sent our password."""

MAX_GAME_LIST_BYTES: Final = 16 << 20
"""What all pages of the list of games may take together."""


class Refusal(Exception):
    """A server has refused a request, and changed nothing: the HTTP status, its own words, and when to come again."""

    def __init__(self, status: int, detail: str, retry_after_seconds: float | None = None) -> None:
        phrase = HTTPStatus(status).phrase if status in HTTPStatus else "unknown status"
        shown = printable(detail)
        super().__init__(f"{status} {phrase}{': ' if detail else ''}{shown}")
        self.status = status
        self.detail = shown
        self.retry_after_seconds = retry_after_seconds


class ApiRequest(Struct, frozen=True):
    """A request. `public` keeps our name out of it; `again` says that it may be asked twice without harm."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    is_anonymous: bool = False
    idempotent: bool = True


class Delay(Struct, frozen=True):
    """So many seconds in which nothing is done."""

    seconds: float


class ApiStream(Struct, frozen=True):
    """The newest line of an answer that goes on: the one that its owner has open, or else (or if `fresh`) a new one."""

    owner: object
    request: ApiRequest
    restart: bool = False


class ApiResponse(Struct, frozen=True):
    """An answer; the names of its headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def to_refusal(self) -> Refusal:
        """What it says, where it is no good."""
        after = self.headers.get("retry-after", "")
        detail = self.body[:500].decode(errors="replace").strip()
        return Refusal(self.status, detail, float(after) if after.isdecimal() and len(after) < 10 else None)


class ConnectionFailed(Struct, frozen=True):
    """There was no answer; nobody knows whether the request has arrived."""

    reason: str


type RequestFlow[T] = Generator[ApiRequest | ApiStream | Delay, ApiResponse | ConnectionFailed | None, T]


class JoinedGame(Struct, frozen=True):
    """Where somebody has joined. In dialect hspe-go nobody is told whether he has a seat or waits for one."""

    game: Guid
    player: Guid
    is_queued: bool = False


class HoldemApi:
    """The errands of one user. `patience` is for how many seconds a server may be gone, or busy.

    Without a `dialect` the answers of the server show which one it speaks. All raise Refusal when the server refuses,
    Violation when it does not speak the document, and ConnectionError when it is gone.
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

    def register(self) -> RequestFlow[Guid]:
        """Become a user: our GUID, or "" where the name exists already and the server does not tell it."""
        reply = yield from self._request(ApiRequest("POST", "/users/"), 200, 201, 403)
        if reply.status == HTTPStatus.FORBIDDEN:
            return self.guid
        self.guid = read_guid(reply.body)
        if reply.body.lstrip().startswith(b"{"):
            self._set_dialect("hspe-go")
        return self.guid

    def _set_dialect(self, dialect: Dialect) -> None:
        """An answer is one of this dialect."""
        if not self._has_fixed_dialect:
            self.dialect = dialect

    def list_games(self) -> RequestFlow[list[Game]]:
        """All games, as we see them: page by page where one list does not hold them (holdem-9.12)."""
        reply = yield from self._request(ApiRequest("GET", "/games/"), 200)
        games, path, size = read_games(reply.body), _page_path(reply, "first"), 0
        if not path:
            return games
        found: dict[Guid, Game] = {}
        while path:
            reply = yield from self._request(ApiRequest("GET", path), 200)
            before, size = len(found), size + len(reply.body)
            if size > MAX_GAME_LIST_BYTES:
                raise Violation("holdem-9.12", f"more than {MAX_GAME_LIST_BYTES:,} bytes of games", "pages that end")
            found |= {game.game_id: game for game in read_games(reply.body)}
            path = _page_path(reply, "next") if len(found) > before else ""
        return [*found.values()]

    def create_game(self) -> RequestFlow[JoinedGame]:
        """Make a game and join it."""
        reply = yield from self._request(ApiRequest("POST", "/games/", idempotent=False), 200, 201, 202)
        game = reply.headers.get("location", "").rstrip("/").rpartition("/")[2]
        return self._read_joined_game(reply, game)

    def join(self, game: Guid | None = None) -> RequestFlow[JoinedGame]:
        """Join a game, or any with a free seat, if there is one at which somebody sits; else a queue, or a new game."""
        if game is not None:
            return (yield from self._join(game))
        reply = yield from self._request(ApiRequest("GET", "/games/"), 200)  # its first page shows the free seats
        games = read_games(reply.body)
        games = (
            sorted((one for one in games if len(one.table) < MAX_TABLE_PLAYERS), key=lambda one: not one.table) or games
        )
        for number, one in enumerate(games):
            try:
                place = yield from self._join(one.game_id)
            except Refusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise
                continue  # it has ended since we saw it
            if not place.is_queued or number == len(games) - 1:
                return place
            yield from self.leave(place)
        return (yield from self.create_game())

    def _join(self, game: Guid) -> RequestFlow[JoinedGame]:
        reply = yield from self._request(ApiRequest("POST", f"/games/{game}/players/"), 200, 201, 202, 409)
        if reply.status == HTTPStatus.CONFLICT:  # we are there already
            return JoinedGame(game, self.guid)
        return self._read_joined_game(reply, game)

    def _read_joined_game(self, reply: ApiResponse, game: Guid) -> JoinedGame:
        """Where we are now: the document answers with our GUID, the published server with the Game (holdem-7.2)."""
        if reply.body.lstrip()[:1] in {b"{", b"["}:
            self._set_dialect("hspe-go")
            return JoinedGame(read_game(reply.body).game_id, self.guid)
        if not game:
            raise Violation("holdem-3.3", "a new game without a Location", "its path")
        self.guid = read_guid(reply.body)
        return JoinedGame(game, self.guid, is_queued=reply.status == HTTPStatus.ACCEPTED)

    def act(self, act: Act) -> RequestFlow[str]:
        """Bet or fold: why the bet was a fold, "" if it was none. Never asked twice."""
        words = {"action": act.action, "betAmount": act.amount} if act.action == ACTION_BET else {"action": act.action}
        path = f"/games/{act.game}/players/{act.player}/acts/"
        headers = {"content-type": "application/json"}
        ask = ApiRequest("POST", path, msgspec.json.encode(words), headers, idempotent=False)
        reply = yield from self._request(ask, 200, 201)
        return printable(reply.headers.get("x-fold-reason", ""))

    def leave(self, joined_game: JoinedGame) -> RequestFlow[None]:
        """Leave a game, and what we have bet in it. It is no fault if we are not there any more."""
        path = f"/games/{joined_game.game}/players/{joined_game.player}{self._trailing_slash}"
        yield from self._request(ApiRequest("DELETE", path), 200, 204, 404)

    def fetch_game(
        self, game: Guid, headers: Mapping[str, str] = {}, query: str = ""
    ) -> RequestFlow[tuple[ApiResponse, bool]]:
        """A game as it is now, and whether as the public sees it: more is not for us without a seat (holdem-7.3)."""
        path = f"/games/{game}{self._trailing_slash}{query}"
        reply = yield from self._request(ApiRequest("GET", path, headers=headers), 200, 304, 403)
        if reply.status != HTTPStatus.FORBIDDEN:
            return reply, False
        return (yield from self._request(ApiRequest("GET", path, headers=headers, is_anonymous=True), 200, 304)), True

    def get_game(self, game: Guid) -> RequestFlow[Game]:
        """A game as we see it."""
        reply, _ = yield from self.fetch_game(game)
        return read_game(reply.body)

    def stream_request(self, game: Guid) -> ApiRequest:
        """The request whose answer tells of a game for as long as there is one, a line each time."""
        return self._with_credentials(
            ApiRequest("GET", f"/games/{game}/events", headers={"accept": "application/x-ndjson"})
        )

    def _with_credentials(self, ask: ApiRequest) -> ApiRequest:
        return ask if ask.is_anonymous else msgspec.structs.replace(ask, headers={**ask.headers, **self._credentials})

    @property
    def _trailing_slash(self) -> str:
        """Both ends of a path are the same to us; the published server insists on the slash, the document has none."""
        return "/" if self.dialect == "hspe-go" else ""

    def _request(self, ask: ApiRequest, *fine: int) -> RequestFlow[ApiResponse]:
        """Ask until there is an answer that says something. Other statuses than the fine ones are Refusals."""
        asked = self._with_credentials(ask)
        waited, pause = 0.0, FIRST_RETRY_DELAY_SECONDS
        while True:
            reply = yield asked
            assert reply is not None, "an ask is answered"
            fault: Refusal | ConnectionError
            if isinstance(reply, ConnectionFailed):
                fault, wait = ConnectionError(f"no answer to {ask.method} {ask.path}: {reply.reason}"), pause
            elif reply.status in fine:
                return reply
            else:
                fault = reply.to_refusal()
                wait = pause if fault.retry_after_seconds is None else fault.retry_after_seconds
                if reply.status not in RETRYABLE_STATUSES:
                    raise fault
            if not ask.idempotent or waited + wait > self.retry_timeout:
                raise fault
            yield Delay(wait)
            waited += wait
            pause = min(2 * pause, MAX_RETRY_DELAY_SECONDS)


def _page_path(reply: ApiResponse, relation: str) -> str:
    """The path of the page of games that an answer links to, "" where it does not."""
    links = PAGE_LINK.findall(reply.headers.get("link", "")[:1000])
    return next((path for path, found in links if found == relation), "")


class GameWatcher:
    """Looks at one game again and again: at once, and then whenever it has changed.

    A server that can is asked to tell of changes (holdem-9.6) or at least to hold back its answer until there is one
    (holdem-9.3); any other is asked every `PACE` seconds. `public` says that what was seen last is what everybody sees.
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
        """Look at once next time, and believe nothing that was under way before."""
        self._last_response, self._restart = None, True

    def next_game(self) -> RequestFlow[Game]:
        """What is to be seen next."""
        while True:
            last = self._last_response
            if last is None or not self._version:
                reply = yield from self._poll()
            elif self.is_public or not self._can_stream:
                reply = yield from self._long_poll()
            else:
                reply = yield from self._read_stream()
            if reply is None or (last is not None and reply.body == last.body):
                continue
            self._last_response = reply
            return read_game(reply.body)

    def _poll(self) -> RequestFlow[ApiResponse | None]:
        """Look now."""
        last, headers = self._last_response, {}
        if last is not None:
            yield Delay(POLL_INTERVAL_SECONDS)
            headers = {"if-none-match": last.headers["etag"]} if "etag" in last.headers else {}
        return (yield from self._fetch(headers))

    def _long_poll(self) -> RequestFlow[ApiResponse | None]:
        """Look when the game is another than we saw last."""
        before = self._version
        reply = yield from self._fetch({}, f"?wait={LONG_POLL_SECONDS}&since={before}")
        if self._version == before:
            yield Delay(POLL_INTERVAL_SECONDS)
        return reply

    def _read_stream(self) -> RequestFlow[ApiResponse | None]:
        """Hear what the server tells."""
        reply = yield ApiStream(self, self._api.stream_request(self._game), restart=self._restart)
        self._restart = False
        if isinstance(reply, ApiResponse) and reply.status == HTTPStatus.OK:
            return reply
        self._can_stream = isinstance(
            reply, ConnectionFailed
        )  # one that has ended may be followed again; else there is none for us
        yield Delay(POLL_INTERVAL_SECONDS)
        return (yield from self._fetch({}))

    def _fetch(self, headers: Mapping[str, str], query: str = "") -> RequestFlow[ApiResponse | None]:
        """Look; None when it is the same as before."""
        reply, self.is_public = yield from self._api.fetch_game(self._game, headers, query)
        self._version = reply.headers.get("x-game-version", "")
        if reply.status != HTTPStatus.NOT_MODIFIED:
            return reply
        if not headers:
            raise Violation("holdem-9.2", "304 although no tag was sent", "200")
        return None
