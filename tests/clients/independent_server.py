"""A server of the hold'em document that is not ours, without a socket: it knows the document and nothing more.

It plays by our rules, with a clock that is moved by hand, and runs the errands of clients one wish after another.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from croupier.clients.holdem_api import Ask, Errand, Errands, Follow, Lost, Pause, Reply
from croupier.rooms.holdem.wire import Dialect, Made, Refused, encode, parse, response
from tests.rooms.holdem.house_fixture import Parlour

PATHS = re.compile("/users/|/games/([^/]+(/players/([^/]+(/acts/)?)?)?)?")

type Meddling = Callable[[Ask], Reply | Lost | None]


class Stranger:
    """`meddle` may answer in its place. `asked` has its requests, and `paused` the seconds between them.

    `followed` says of every line of a stream that was asked for whether the stream had to be a new one.
    """

    def __init__(self, dialect: Dialect = "readme", **settings: Any) -> None:
        self.parlour = Parlour(dialect=dialect, **settings)
        self.dialect = dialect
        self.users: dict[str, str] = {}
        self.asked: list[Ask] = []
        self.paused: list[float] = []
        self.meddle: Meddling = lambda _: None
        self.followed: list[bool] = []

    @property
    def lines(self) -> list[str]:
        """What was asked, in short."""
        return [f"{ask.method} {ask.path}" for ask in self.asked]

    def client(
        self, user: str = "ann", password: str = "secret", patience: float = 30.0, dialect: Dialect | None = None
    ) -> Errands:
        return Errands(user, password, patience, dialect)

    def run[T](self, errand: Errand[T]) -> T:
        """Do an errand to its end; pauses pass at once."""
        reply: Reply | Lost | None = None
        while True:
            try:
                wish = errand.send(reply)
            except StopIteration as end:
                done: T = end.value
                return done
            reply = None
            match wish:
                case Pause(seconds):
                    self.paused.append(seconds)
                    self.parlour.wait(seconds)
                case Ask() as ask:
                    self.asked.append(ask)
                    meddled = self.meddle(ask)
                    reply = self.answer(ask) if meddled is None else meddled
                case Follow(_, ask, fresh):
                    self.asked.append(ask)
                    self.followed.append(fresh)
                    reply = self.meddle(ask) or Reply(404, {}, b"")

    def answer(self, ask: Ask) -> Reply:
        """By the document: with the paths as it prints them, where the published server wants a slash behind all."""
        path = ask.path.partition("?")[0]
        if not (path.endswith("/") if self.dialect == "hspe-go" else PATHS.fullmatch(path)):
            return Reply(301, {}, b"")
        user = self._user(ask.headers)
        if path == "/users/":
            return self._enrol(ask)
        if user is None:
            return Reply(401, {}, b"who are you?\n")
        if ask.method == "GET":
            return self._show(path.strip("/").split("/"), user)
        request = parse(ask.method, path, user, ask.body, self.dialect)
        answer = request if isinstance(request, Refused) else self.parlour.ask(request)
        status, headers, body = response(answer, self.dialect, self.parlour.house)
        return Reply(status, {name.decode(): value.decode() for name, value in headers}, body)

    def _user(self, headers: Mapping[str, str]) -> str | None:
        """Who asks: "" for the public, None for who is not who he says."""
        if "authorization" not in headers:
            return ""
        name, _, password = b64decode(headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        return name if self.users.get(name) == password else None

    def _enrol(self, ask: Ask) -> Reply:
        name, _, password = b64decode(ask.headers["authorization"].removeprefix("Basic ")).decode().partition(":")
        if name in self.users and (self.dialect == "readme" or self.users[name] != password):
            return Reply(403, {}, b"there is one of this name\n")
        self.users[name] = password
        status, _, body = response(Made(self.parlour.house.guid(name)), self.dialect, self.parlour.house)
        return Reply(status, {}, body)

    def _show(self, path: list[str], user: str) -> Reply:
        if path == ["games"]:
            return Reply(
                200, {}, encode([table.view(user or None) for table in self.parlour.house.games()], self.dialect)
            )
        table = self.parlour.house.game(path[1])
        if table is None:
            return Reply(404, {}, b"no such game\n")
        seen = table.view(user or None)
        if self.dialect == "hspe-go" and user and user not in [one.handle for one in seen.table]:
            return Reply(403, {}, b"not at the table\n")
        return Reply(200, {}, encode(seen, self.dialect))


def versioned(stranger: Stranger) -> Meddling:
    """What makes a stranger tell the version of a game. It has no streams, and does not hold back its answers."""

    def meddle(ask: Ask) -> Reply | None:
        path = ask.path.partition("?")[0]
        if ask.method != "GET" or path == "/games/" or path.endswith("/events"):
            return None
        reply = stranger.answer(msgspec.structs.replace(ask, path=path))
        if reply.status != 200:
            return reply
        return Reply(200, {"x-game-version": str(stranger.parlour.table().version)}, reply.body)

    return meddle


def streaming(stranger: Stranger) -> Meddling:
    """What makes a stranger tell every change as well, a line for each that is asked for."""
    told = versioned(stranger)

    def meddle(ask: Ask) -> Reply | Lost | None:
        if not ask.path.endswith("/events"):
            return told(ask)
        return stranger.answer(msgspec.structs.replace(ask, path=ask.path.removesuffix("/events")))

    return meddle
