"""What a client of hold'em does at a server: it asks, it pauses, and it asks again; somebody else does the waiting.

An errand is a generator: it yields what it wants, an `Ask`, a `Follow` or a `Pause`, is sent the `Reply` or that it is
`Lost`, and returns what came of it. So a client with an event loop and one without run the same errands.
"""

from base64 import b64encode
from collections.abc import Generator, Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.judge import HOUSE
from croupier.core.talk import Chose, Event, Left, Said, Settle, Tell
from croupier.core.text import printable
from croupier.rooms.holdem.legal import Move
from croupier.rooms.holdem.player import Options, Player
from croupier.rooms.holdem.reading import read, read_all, read_guid
from croupier.rooms.holdem.wire import BET, Act, Dialect, Game, Guid

SEATS: Final = 10
"""A table with so many players is full (document, General rules)."""

WAIT: Final = 25
"""For how many seconds a server that can is asked to hold back its answer until there is news (holdem-9.3)."""

PACE: Final = 0.05
"""How many seconds pass between two looks at a server that cannot (document, Understanding the state of the game)."""

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 2.0
"""The seconds before a server that did not answer is asked again: twice as many every time."""

BUSY: Final = frozenset({429, 500, 502, 503, 504})
"""What a server says that may do better later."""


class Refusal(Exception):
    """A server has refused a request, and changed nothing: the HTTP status, its own words, and when to come again."""

    def __init__(self, status: int, detail: str, wait: float | None = None) -> None:
        phrase = HTTPStatus(status).phrase if status in HTTPStatus else "unknown status"
        shown = printable(detail)
        super().__init__(f"{status} {phrase}{': ' if detail else ''}{shown}")
        self.status = status
        self.detail = shown
        self.wait = wait


class Ask(Struct, frozen=True):
    """A request. `public` keeps our name out of it; `again` says that it may be asked twice without harm."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    public: bool = False
    again: bool = True


class Pause(Struct, frozen=True):
    """So many seconds in which nothing is done."""

    seconds: float


class Follow(Struct, frozen=True):
    """The newest line of an answer that goes on: the one that its owner has open, or else (or if `fresh`) a new one."""

    owner: object
    ask: Ask
    fresh: bool = False


class Reply(Struct, frozen=True):
    """An answer; the names of its headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def refusal(self) -> Refusal:
        """What it says, where it is no good."""
        after = self.headers.get("retry-after", "")
        detail = self.body[:500].decode(errors="replace").strip()
        return Refusal(self.status, detail, float(after) if after.isdecimal() and len(after) < 10 else None)


class Lost(Struct, frozen=True):
    """There was no answer; nobody knows whether the request has arrived."""

    reason: str


type Errand[T] = Generator[Ask | Follow | Pause, Reply | Lost | None, T]


class Place(Struct, frozen=True):
    """Where somebody has joined. In dialect hspe-go nobody is told whether he has a seat or waits for one."""

    game: Guid
    player: Guid
    queued: bool = False


class Errands:
    """The errands of one user. `patience` is for how many seconds a server may be gone, or busy.

    All raise Refusal when the server refuses, Violation when it does not speak the document, and ConnectionError when
    it is gone.
    """

    def __init__(self, user: str, password: str, patience: float) -> None:
        if ":" in user:
            raise ValueError(f"found the name {user!r}; allowed: one without a colon (holdem-2.4)")
        self.user = user
        self.guid: Guid = ""
        self.dialect: Dialect = "readme"
        self.patience = patience
        self._credentials = {"authorization": f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"}

    def enrol(self) -> Errand[Guid]:
        """Become a user: our GUID, or "" where the name exists already and the server does not tell it."""
        reply = yield from self._ask(Ask("POST", "/users/"), 200, 201, 403)
        if reply.status == HTTPStatus.FORBIDDEN:
            return self.guid
        self.guid = read_guid(reply.body)
        if reply.body.lstrip().startswith(b"{"):
            self.dialect = "hspe-go"
        return self.guid

    def games(self) -> Errand[list[Game]]:
        """All games, as we see them."""
        reply = yield from self._ask(Ask("GET", "/games/"), 200)
        return read_all(reply.body)

    def open(self) -> Errand[Place]:
        """Make a game and join it."""
        reply = yield from self._ask(Ask("POST", "/games/", again=False), 200, 201, 202)
        game = reply.headers.get("location", "").rstrip("/").rpartition("/")[2]
        return self._joined(reply, game)

    def join(self, game: Guid | None = None) -> Errand[Place]:
        """Join a game, or any: the first with a free seat; if none has one, the queue of the last; or a new one."""
        if game is not None:
            return (yield from self._join(game))
        games = yield from self.games()
        games = [one for one in games if len(one.table) < SEATS] or games
        for number, one in enumerate(games):
            try:
                place = yield from self._join(one.game_id)
            except Refusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise
                continue  # it has ended since we saw it
            if not place.queued or number == len(games) - 1:
                return place
            yield from self.leave(place)
        return (yield from self.open())

    def _join(self, game: Guid) -> Errand[Place]:
        reply = yield from self._ask(Ask("POST", f"/games/{game}/players/"), 200, 201, 202, 409)
        if reply.status == HTTPStatus.CONFLICT:  # we are there already
            return Place(game, self.guid)
        return self._joined(reply, game)

    def _joined(self, reply: Reply, game: Guid) -> Place:
        """Where we are now: the document answers with our GUID, the published server with the Game (holdem-7.2)."""
        if reply.body.lstrip()[:1] in {b"{", b"["}:
            self.dialect = "hspe-go"
            return Place(read(reply.body).game_id, self.guid)
        if not game:
            raise Violation("holdem-3.3", "a new game without a Location", "its path")
        self.guid = read_guid(reply.body)
        return Place(game, self.guid, queued=reply.status == HTTPStatus.ACCEPTED)

    def act(self, act: Act) -> Errand[str]:
        """Bet or fold: why the bet was a fold, "" if it was none. Never asked twice."""
        words = {"action": act.action, "betAmount": act.amount} if act.action == BET else {"action": act.action}
        path = f"/games/{act.game}/players/{act.player}/acts/"
        headers = {"content-type": "application/json"}
        ask = Ask("POST", path, msgspec.json.encode(words), headers, again=False)
        reply = yield from self._ask(ask, 200, 201)
        return printable(reply.headers.get("x-fold-reason", ""))

    def leave(self, place: Place) -> Errand[None]:
        """Leave a game, and what we have bet in it. It is no fault if we are not there any more."""
        path = f"/games/{place.game}/players/{place.player}{self._slash}"
        yield from self._ask(Ask("DELETE", path), 200, 204, 404)

    def see(self, game: Guid, headers: Mapping[str, str] = {}, query: str = "") -> Errand[tuple[Reply, bool]]:
        """A game as it is now, and whether as the public sees it: more is not for us without a seat (holdem-7.3)."""
        path = f"/games/{game}{self._slash}{query}"
        reply = yield from self._ask(Ask("GET", path, headers=headers), 200, 304, 403)
        if reply.status != HTTPStatus.FORBIDDEN:
            return reply, False
        return (yield from self._ask(Ask("GET", path, headers=headers, public=True), 200, 304)), True

    def look(self, game: Guid) -> Errand[Game]:
        """A game as we see it."""
        reply, _ = yield from self.see(game)
        return read(reply.body)

    def follow(self, game: Guid) -> Ask:
        """The request whose answer tells of a game for as long as there is one, a line each time."""
        return self._signed(Ask("GET", f"/games/{game}/events", headers={"accept": "application/x-ndjson"}))

    def _signed(self, ask: Ask) -> Ask:
        return ask if ask.public else msgspec.structs.replace(ask, headers={**ask.headers, **self._credentials})

    @property
    def _slash(self) -> str:
        """Both ends of a path are the same to us; the published server insists on the slash, the document has none."""
        return "/" if self.dialect == "hspe-go" else ""

    def _ask(self, ask: Ask, *fine: int) -> Errand[Reply]:
        """Ask until there is an answer that says something. Other statuses than the fine ones are Refusals."""
        asked = self._signed(ask)
        waited, pause = 0.0, FIRST_PAUSE
        while True:
            reply = yield asked
            assert reply is not None, "an ask is answered"
            fault: Refusal | ConnectionError
            if isinstance(reply, Lost):
                fault, wait = ConnectionError(f"no answer to {ask.method} {ask.path}: {reply.reason}"), pause
            elif reply.status in fine:
                return reply
            else:
                fault = reply.refusal()
                wait = pause if fault.wait is None else fault.wait
                if reply.status not in BUSY:
                    raise fault
            if not ask.again or waited + wait > self.patience:
                raise fault
            yield Pause(wait)
            waited += wait
            pause = min(2 * pause, LONGEST_PAUSE)


class Lookout:
    """Looks at one game again and again: at once, and then whenever it has changed.

    A server that can is asked to tell of changes (holdem-9.6) or at least to hold back its answer until there is one
    (holdem-9.3); any other is asked every `PACE` seconds. `public` says that what was seen last is what everybody sees.
    """

    def __init__(self, errands: Errands, game: Guid) -> None:
        self.public = False
        self._errands = errands
        self._game = game
        self._last: Reply | None = None
        self._version = ""
        self._streams = True
        self._fresh = True

    def again(self) -> None:
        """Look at once next time, and believe nothing that was under way before."""
        self._last, self._fresh = None, True

    def next(self) -> Errand[Game]:
        """What is to be seen next."""
        while True:
            last = self._last
            if last is None or not self._version:
                reply = yield from self._poll()
            elif self.public or not self._streams:
                reply = yield from self._wait()
            else:
                reply = yield from self._follow()
            if reply is None or (last is not None and reply.body == last.body):
                continue
            self._last = reply
            return read(reply.body)

    def _poll(self) -> Errand[Reply | None]:
        """Look now."""
        last, headers = self._last, {}
        if last is not None:
            yield Pause(PACE)
            headers = {"if-none-match": last.headers["etag"]} if "etag" in last.headers else {}
        return (yield from self._see(headers))

    def _wait(self) -> Errand[Reply | None]:
        """Look when the game is another than we saw last."""
        before = self._version
        reply = yield from self._see({}, f"?wait={WAIT}&since={before}")
        if self._version == before:
            yield Pause(PACE)
        return reply

    def _follow(self) -> Errand[Reply | None]:
        """Hear what the server tells."""
        reply = yield Follow(self, self._errands.follow(self._game), fresh=self._fresh)
        self._fresh = False
        if isinstance(reply, Reply) and reply.status == HTTPStatus.OK:
            return reply
        self._streams = isinstance(reply, Lost)  # one that has ended may be followed again; else there is none for us
        yield Pause(PACE)
        return (yield from self._see({}))

    def _see(self, headers: Mapping[str, str], query: str = "") -> Errand[Reply | None]:
        """Look; None when it is the same as before."""
        reply, self.public = yield from self._errands.see(self._game, headers, query)
        self._version = reply.headers.get("x-game-version", "")
        if reply.status != HTTPStatus.NOT_MODIFIED:
            return reply
        if not headers:
            raise Violation("holdem-9.2", "304 although no tag was sent", "200")
        return None


class Stay:
    """A stay in one game, from joining it until we leave or have to. `settled` has what every finished hand brought."""

    def __init__(self, errands: Errands, place: Place) -> None:
        self.place = place
        self.player = Player(Options(errands.user, place.player))
        self.settled: list[int] = []
        self.lookout = Lookout(errands, place.game)
        self._errands = errands

    def news(self) -> Errand[Game | None]:
        """What is to be seen next; None when we have no seat any more."""
        if self.player.spent:
            return None
        try:
            game = yield from self.lookout.next()
            while self.lookout.public and self.player.listed(game) is not None:  # we have just been given a seat
                yield Pause(PACE)
                self.lookout.again()
                game = yield from self.lookout.next()
        except Refusal as refusal:
            self._lost(refusal)
            return None
        self._hear(Said(HOUSE, game))
        return game

    def say(self, move: Move | Act) -> Errand[str]:
        """Make a move: why it was a fold or came to nothing, "" if it is done.

        When it came to nothing `news` tells what there is to be decided now: perhaps the same. Raises IllegalMove, and
        sends nothing then.
        """
        act = move if isinstance(move, Act) else self.player.act(move)
        self._hear(Chose(act))
        try:
            return (yield from self._errands.act(act))
        except ConnectionError as error:
            self._doubt()
            return str(error)
        except Refusal as refusal:
            if refusal.status in BUSY:
                yield Pause(FIRST_PAUSE if refusal.wait is None else min(refusal.wait, self._errands.patience))
                self._doubt()
            elif refusal.status in {HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT}:  # it is not our turn any more
                self.lookout.again()
            else:
                self._lost(refusal)
            return str(refusal)

    def leave(self) -> Errand[None]:
        """Leave, unless we have no seat any more."""
        player = self.place.player or self.player.guid
        if player and not self.player.spent:
            yield from self._errands.leave(Place(self.place.game, player))

    def _doubt(self) -> None:
        """Look at once: there may be no change to wait for."""
        self.player.unsay()
        self.lookout.again()

    def _lost(self, refusal: Refusal) -> None:
        """We are not there any more, or the game is not; raises what does not mean that."""
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise refusal
        self._hear(Left(HOUSE, str(refusal)))

    def _hear(self, event: Event[Game | Act]) -> None:
        for effect in self.player.on(event, 0.0):
            match effect:
                case Tell(Violation() as violation):
                    raise violation
                case Settle(net=net):
                    self.settled.append(net)
                case _:
                    pass
