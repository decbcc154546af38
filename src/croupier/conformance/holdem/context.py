"""A visit to a server under test: users who have come for one case, what they ask and hear, and where they sit."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.conversation import Line
from croupier.conformance.holdem.endpoint import Place, Server, User
from croupier.conformance.holdem.requests import Answer, Caller, Question, Silent, Unreadable
from croupier.conformance.holdem.schema import Slip, every, guid, one
from croupier.conformance.holdem.tolerated import Broken, Departure, Unshown, gravity
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import Game

NOBODY: Final = "nobody"
"""The role that has no credentials."""

NEARLY: Final = 0.8
"""When so much of a turn has passed in which nobody could act, it may be over."""


class Visit:
    """What happens for one case. Roles (`ann`) are played by users with names of their own (`ann-3f9c81d0`).

    What is asked and heard is in `lines`; every departure is in `departures`, whether or not the case is about it.
    """

    def __init__(self, server: Server, patience: float | None = None) -> None:
        self.server = server
        self.patience = patience  # how many seconds all of it may take, None without a limit
        self.dialect = server.dialect
        self.lines: list[Line] = []
        self.departures: list[Departure] = []
        self.users: dict[str, User] = {}
        self.places: list[Place] = []
        self.silent = False  # whether something was not answered for as long as there was patience
        self._asked = 0.0  # when something was asked last
        self._deed = 0.0  # when something was asked last by which a turn may have begun
        self._lull = 0.0  # how many seconds have passed behind such a deed, at most
        self._callers: dict[str, Caller] = {}
        self._busy: set[str] = set()
        self._games: set[str] = set()

    async def close(self) -> None:
        """Leave all games, hang up, and let others have the users."""
        try:
            for place in [*self.places]:
                try:
                    await self.leave(place)
                except (Broken, OSError):
                    break
            stuck = {place.role for place in self.places}
            for role, user in self.users.items():
                if user.guid and role not in stuck:
                    self.server.idle[role].append(user)
            self.server.taken -= self._games
            for caller in self._callers.values():
                await caller.hang_up()
        finally:
            for caller in self._callers.values():
                caller.break_off()

    # What is wrong.

    def departs(
        self,
        clause: str,
        expected: str,
        actual: str,
        outcome: Outcome | None = None,
        *,
        wanted: bytes | None = None,
        got: bytes = b"",
    ) -> Departure:
        """A departure from a clause; what comes of it is what the clause says unless an outcome is given."""
        found = Departure(
            clause, outcome or gravity(clause), expected, actual, wanted, got or self.last, len(self.lines)
        )
        self.departures.append(found)
        return found

    def slips(self, found: Sequence[Slip]) -> None:
        """Departures in form."""
        for slip in found:
            self.departs(slip.clause, slip.expected, slip.actual, slip.outcome)

    @property
    def overtaken(self) -> bool:
        """Whether it was so slow, wherever that comes from, that somebody's turn may have ended by itself."""
        return self._lull > NEARLY * self.server.window

    def unheard(self, error: Unreadable, expected: str = "an answer of HTTP/1.1") -> None:
        """Something was answered by nothing that is an answer."""
        self.silent = self.silent or isinstance(error, Silent)
        self.departs("holdem-1.8", expected, f"{error}", Outcome.FAIL)

    @property
    def last(self) -> bytes:
        """The last thing that was heard, as bytes."""
        return next((line.data for line in reversed(self.lines) if line.side == HOUSE), b"")

    # Asking.

    async def ask(
        self,
        role: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        size: int = 0,
        patience: float | None = None,
    ) -> Answer:
        """Somebody asks something. Raises Broken, with a departure, where no answer comes that is one."""
        question = Question(method, path, self.signed(role, headers or {}), body)
        caller = self.callers(role)
        self.said(question)
        self._busy.add(role)
        try:
            answer = await caller.ask(question, size=size, patience=patience)
        except Unreadable as error:
            self.unheard(error)
            raise Broken from None
        finally:
            self._busy.discard(role)
        answer = self.heard(answer)
        signed = dict(question.headers).get("Authorization")
        role = next((name for name, user in self.users.items() if user.header[1] == signed), role)
        self._follow(role, question, answer)
        return answer

    def said(self, question: Question) -> None:
        """A request goes into the dialogue."""
        self._line(CLIENT, question.shown(), f"{question.method} {question.path}")

    def heard(self, answer: Answer) -> Answer:
        """An answer goes into the dialogue as it came: what is meant by it."""
        self.server.heard = True
        asked = next((line.message for line in reversed(self.lines) if line.side == CLIENT), "")
        self.server.having.answered(asked, answer)
        self._line(HOUSE, answer.shown(), answer.text)
        return answer if self.server.habit is None else self.server.habit.read(asked, answer)

    def _line(self, side: int, data: bytes, message: str) -> None:
        now = asyncio.get_running_loop().time()
        if side == CLIENT:
            self._asked = now
        if self.places:
            self._lull = max(self._lull, now - self._deed)
        self.lines.append(Line(side, data, message, now))

    def callers(self, role: str) -> Caller:
        """A connection of a role on which nothing is waited for."""
        name = role if role not in self._busy else f"{role}/{len(self._callers)}"
        if name not in self._callers:
            self._callers[name] = self.server.caller()
        return self._callers[name]

    def signed(self, role: str, headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The headers of a request, with the credentials of its role unless others are given."""
        if role == NOBODY or "Authorization" in headers:
            return tuple(headers.items())
        return (self.user(role).header, *headers.items())

    def user(self, role: str) -> User:
        """The user who plays a role; one who is not known to the server yet, where none was enrolled."""
        if role not in self.users:
            self.users[role] = User(self.server.name(role))
        return self.users[role]

    def _follow(self, role: str, question: Question, answer: Answer) -> None:
        """Keep in mind who sits where."""
        path = question.path.partition("?")[0].strip("/").split("/")
        if not 200 <= answer.status < 300:
            return
        if question.method != "GET":
            self._deed = self._asked
        match question.method, path:
            case "POST", ["users"] if role in self.users:
                with suppress(Violation):
                    self.users[role].guid = read_guid(answer.body)
            case "POST", ["games"]:
                game = self.opened(answer)
                if game:
                    self._games.add(game)
                    self.server.taken.add(game)
                    self._sit(role, game, answer)
            case "POST", ["games", game, "players"]:
                self._sit(role, game, answer)
            case "DELETE", ["games", game, "players", player]:
                self.places = [place for place in self.places if (place.game, place.player) != (game, player)]
            case _:
                pass

    def _sit(self, role: str, game: str, answer: Answer) -> None:
        user = self.users.get(role)
        if user is None:
            return
        player = user.guid
        if self.dialect == "readme":
            with suppress(Violation):
                player = read_guid(answer.body)
        self.places.append(Place(role, game, player))

    def opened(self, answer: Answer) -> str:
        """The GUID of the game that POST /games/ has made, "" where it is not told."""
        where = answer.headers.get("location", "").rstrip("/").rpartition("/")[2]
        shown = one(answer.body, self.dialect).games
        return where or (shown[0].game_id if shown else "")

    # What nearly every case begins with. What is wrong with it is found by cases of its own, and not in the way here.

    async def enrol(self, *roles: str) -> None:
        """Users for these roles. Raises Broken where the server makes none."""
        for role in roles:
            if role in self.users:
                continue
            if self.server.idle[role]:
                self.users[role] = self.server.idle[role].pop()
                continue
            user = self.user(role)
            answer = await self.ask(role, "POST", "/users/")
            self.succeeded(answer, "holdem-2.2", 201)
            user.guid = self.guid(answer, "holdem-2.2")

    async def table(self) -> str:
        """A game in which nobody sits, for this visit alone; "" where one has to be made."""
        for game in await self.games():
            if not game.table and game.game_id not in self.server.taken:
                self.server.taken.add(game.game_id)
                self._games.add(game.game_id)
                return game.game_id
        return ""

    async def seat(self, *roles: str, game: str = "") -> str:
        """Let users sit down at a game of their own, in this order: its GUID. Raises Broken or Unshown."""
        await self.enrol(*roles)
        game = game or await self.made(roles[0]) or await self.table()
        if not game:
            raise Unshown("no game is to be had in which nobody sits, and POST /games/ makes none")
        for role in roles:
            if not any(place.role == role and place.game == game for place in self.places):
                answer = await self.ask(role, "POST", f"/games/{game}/players/")
                self.joined(answer)
        return game

    async def asked(self, *roles: str) -> tuple[str, str]:
        """Let users sit down at a game of their own: its GUID, and the role whose turn it is. As `seat`."""
        game = await self.seat(*roles)
        role = self.turn(await self.sees(NOBODY, game))
        if not role:
            raise Unshown("it is nobody's turn, although two sit at the table")
        return game, role

    async def made(self, role: str) -> str:
        """A game that this role makes, and sits in; "" where the server makes none."""
        if self.server.opens:
            answer = await self.ask(role, "POST", "/games/")
            if answer.status < 300 and (game := self.opened(answer)):
                return game
            self.server.opens = False
        return ""

    async def leave(self, place: Place) -> Answer:
        """Leave a game."""
        return await self.ask(place.role, "DELETE", f"/games/{place.game}/players/{place.player}")

    def turn(self, shown: Game) -> str:
        """The role whose turn it is; "" where it is nobody's of ours."""
        whose = (shown.game_id, shown.turn.player_id)
        return next((place.role for place in self.places if (place.game, place.player) == whose), "")

    def player(self, role: str, game: str) -> str:
        """The playerID of a role in a game, or its GUID as a user while it has none there."""
        found = [place.player for place in self.places if (place.role, place.game) == (role, game)]
        return found[0] if found else self.user(role).guid

    async def games(self) -> Sequence[Game]:
        """All games, as everybody sees them. Raises Broken where they cannot be read."""
        answer = await self.ask(NOBODY, "GET", "/games/")
        self.succeeded(answer, "holdem-5.1", 200)
        shown = every(answer.body, self.dialect)
        self.slips(shown.slips)
        if not shown.games and shown.slips:
            raise Broken
        return shown.games

    async def sees(self, role: str, game: str) -> Game:
        """A game as a role sees it. Raises Broken where it cannot be read."""
        answer = await self.ask(role, "GET", f"/games/{game}")
        self.succeeded(answer, "holdem-5.2", 200)
        return self.read(answer)

    def read(self, answer: Answer) -> Game:
        """The Game of an answer; departures in its form are noted. Raises Broken where there is none."""
        shown = one(answer.body, self.dialect)
        self.slips(shown.slips)
        if not shown.games:
            raise Broken
        return shown.games[0]

    async def act(self, role: str, game: str, act: Mapping[str, Any] | bytes) -> Answer:
        """Act: an object, or bytes that are none."""
        body = act if isinstance(act, bytes) else encode(act)
        return await self.ask(role, "POST", f"/games/{game}/players/{self.player(role, game)}/acts/", body)

    def succeeded(self, answer: Answer, clause: str, status: int) -> None:
        """Whether something was done: another success than the page has is a departure, a refusal raises Broken."""
        if answer.status != status:
            self.departs(clause, f"status {status}", answer.text, got=answer.shown())
        if not 200 <= answer.status < 300:
            raise Broken

    def joined(self, answer: Answer) -> None:
        """Whether somebody was given a free seat. Raises Broken."""
        if self.dialect == "hspe-go":
            self.succeeded(answer, "holdem-7.2", 202)
        else:
            self.succeeded(answer, "holdem-3.5", 201)

    def guid(self, answer: Answer, clause: str) -> str:
        """The GUID of an answer, however it is told. Raises Broken where there is none."""
        try:
            found = read_guid(answer.body)
        except Violation as violation:
            self.departs(clause, "a GUID as a JSON string", violation.found)
            raise Broken from None
        if self.dialect == "readme" and answer.body.strip() != f'"{found}"'.encode():
            self.departs(clause, "a GUID as a JSON string", answer.text, wanted=f'"{found}"'.encode(), got=answer.body)
        self.slips(guid(found, "playerID"))
        return found
