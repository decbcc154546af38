"""Conversations on paper that can be held with any server: what its users say, and what they have to hear."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from msgspec import DecodeError, to_builtins
from msgspec.json import decode, encode

from croupier.conformance.holdem.context import NOBODY, Visit
from croupier.conformance.holdem.differences import differences
from croupier.conformance.holdem.endpoint import User
from croupier.conformance.holdem.requests import Answer
from croupier.conformance.holdem.schema import every
from croupier.conformance.holdem.tolerated import CHOICES, Broken, Unshown
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import NAME, QUOTED, Ask, Expect, Heard, Mismatch, ask, compare, expect
from croupier.core.transcript import Line, Transcript
from croupier.rooms.holdem.engine.blinds import BLINDS

PREAMBLE: Final = re.compile(r'\[\{"gameID": "\$game", "table": \[\], .*\}\]', re.DOTALL)
"""The list of games of a new server."""

FIRST: Final = "POST /games/$game/players/"
"""How somebody joins the game of a paper."""

SHARED: Final = frozenset(
    (
        f'POST /games/$game/players/${small}/acts/ {{"action": 1, "betAmount": 9990}}',
        f'POST /games/$game/players/${big}/acts/ {{"action": 1, "betAmount": 9980}}',
    )
    for small, big in (("cid", "ann"), ("ann", "bob"), ("dan", "cid"))
)
"""The acts of two who are all-in in the first hand, and share it on paper."""

ROUTES: Final = (
    (re.compile(r"POST /users/?"), "holdem-2.2"),
    (re.compile(r"POST /games/?"), "holdem-3.3"),
    (re.compile(r"POST /games/[^/]+/players/?"), "holdem-3.5"),
    (re.compile(r"POST /games/[^/]+/players/[^/]+/acts/?"), "holdem-4.1"),
    (re.compile(r"DELETE /games/[^/]+/players/[^/]+/?"), "holdem-3.10"),
    (re.compile(r"(?:GET|HEAD) /games/?"), "holdem-5.1"),
    (re.compile(r"(?:GET|HEAD) /games/[^/]+/?"), "holdem-5.2"),
)
"""The clauses that say what a request brings about when all is well."""

SOLVED: Final[Mapping[str, str]] = {
    "holdem-2.2": "holdem-7.1",
    "holdem-3.3": "holdem-7.2",
    "holdem-3.5": "holdem-7.2",
    "holdem-3.6": "holdem-7.2",
}
"""The clauses of dialect hspe-go in place of others."""

HELD_UP: Final = 429
"""The status of a server that has been asked too often."""

FAULT: Final = 500
"""From here on a status tells of a fault of the server's own."""

NO_MORE: Final[Mapping[str, int]] = {"": 0}

BUTTON: Final = frozenset({"first-come-has-the-button", "an-unchanged-list"})
"""Papers for which it matters nothing, or everything, who has the first button."""

EVERYTHING: Final = tuple(f'"betAmount": {chips}}}' for chips in (9990, 9980, 9970, 9960, 9940, 9900))
"""Bets of all that somebody has on paper."""

LAX: Final = frozenset({"amounts-that-are-none", "actions-that-are-none"})
"""Papers about numbers that are written as something else: many a parser takes them."""

LONG: Final = 50
"""A name of so many characters is a matter of how long it is."""

LENIENT: Final = frozenset({"www-authenticate"})
"""Headers of which only the beginning is compared: the rest is a server's own."""


@cache
def papers() -> Mapping[str, Transcript]:
    """All papers of the room by their names. Raises ValueError where there are none."""
    return {paper.name: paper for paper in transcripts("holdem")}


def first_to_join(paper: Transcript) -> str:
    """Who joins the game of a paper before anything else happens there; "" if that is nobody."""
    asked = [(line.peer, line.text) for line in paper.lines if line.kind == ">"]
    begun = next((at for at, (_, text) in enumerate(asked) if text.startswith("GET /games/")), len(asked))
    role, text = next(((role, text) for role, text in asked[begun + 1 :] if text != "POST /users/"), ("", ""))
    return role if text == FIRST else ""


async def perform(paper: Transcript, visit: Visit) -> None:
    """Play a paper on a server. What departs from it is noted in the visit; raises Broken where it cannot go on."""
    await Performance(paper, visit).play()


class Performance:
    """A paper that is being played. Every `$name` is bound as on paper, users have names of their own."""

    def __init__(self, paper: Transcript, visit: Visit) -> None:
        self._paper = paper
        self._visit = visit
        self._own = paper.clauses
        self._bound: dict[str, str] = {}
        self._more: Mapping[
            str, int
        ] = {}  # chips that a role has more than on paper, for a hand that was folded before
        self._folded: Mapping[str, int] = {}  # the same, for one that is shared on paper and folded here
        self._first = ""  # who has joined first
        self._seated = ""  # who has joined by making the game
        self._about_users = any(name.startswith(("holdem-2.", "holdem-7.1", "holdem-1.5")) for name in self._own) or (
            "users" in paper.name
        )

    async def play(self) -> None:
        """Play it from the first line to the last."""
        lines = self._unshared()
        for question, answer in zip(lines[::2], lines[1::2], strict=True):
            await self._exchange(question.peer, question.text, expect(answer.text))

    async def _exchange(self, role: str, text: str, expected: Expect) -> None:
        visit = self._visit
        if PREAMBLE.fullmatch(expected.body) and text.startswith("GET /games/") and "game" not in self._bound:
            self._bound["game"] = await self._table()
            return
        if text == FIRST and role == self._seated:
            self._seated = ""
            self._first = role
            return
        if text == "POST /users/" and expected.status == 201 and not self._about_users:
            await visit.enrol(role)
            if visit.users[role].guid:
                self._bound[role] = visit.users[role].guid
            return
        request = ask(text, self._bound)
        if visit.dialect == "hspe-go" and self._paper.head.get("dialect") != "hspe-go":
            expected = self._translated(role, request, expected)
        if not visit.server.opens and expected.status >= 400 and request.method == "POST" and _is_list(request):
            return  # the document has no way to make a game
        answer = await visit.ask(role, request.method, request.path, request.body, self._headers(request))
        self._compare(role, request, expected, answer)
        if text == FIRST and not self._first:
            self._first = role
        elif text == FIRST and self._first != role and expected.status == 201 and not self._more:
            await self._align()

    async def _align(self) -> None:
        """On paper the first to sit down has the first button. Where another has it, he folds a hand before."""
        visit, self._more = self._visit, NO_MORE
        if self._paper.name in BUTTON:
            return
        shown = await visit.sees(NOBODY, self._bound["game"])
        role = visit.turn(shown)
        if len(shown.table) != 2 or role in {"", self._first}:
            return
        if any(text in line.text for line in self._unshared() for text in EVERYTHING):
            raise Unshown("the one who sits down first has not the first button")
        await visit.act(role, self._bound["game"], {"action": 0})
        self._more = {role: -BLINDS[0], self._first: BLINDS[0]}

    def _unshared(self) -> list[Line]:
        """The lines of the paper. A first hand that two share on paper is folded here: luck will not have it so.

        Whoever folds it has less for that, and the other more, as long as the paper lasts.
        """
        lines = list(self._paper.lines)
        at = next((at for at in range(len(lines) - 3) if (lines[at].text, lines[at + 2].text) in SHARED), None)
        if at is None:
            return lines
        small, big = lines[at].peer, lines[at + 2].peer
        self._folded = {small: -BLINDS[0], big: BLINDS[0]}
        fold = f'POST /games/$game/players/${small}/acts/ {{"action": 0}}'
        return [*lines[:at], replace(lines[at], text=fold), lines[at + 1], *lines[at + 4 :]]

    async def _table(self) -> str:
        """A game for this paper, in which nobody has played before: the first to join makes it, if he can."""
        visit = self._visit
        first = first_to_join(self._paper)
        if first and visit.server.opens:
            await visit.enrol(first)
            self._bound[first] = visit.users[first].guid
            if game := await visit.made(first):
                self._seated = first
                return game
        game = await visit.table()
        if not game:
            raise Unshown("no game is to be had in which nobody sits, and POST /games/ makes none")
        return game

    def _translated(self, role: str, request: Ask, expected: Expect) -> Expect:
        """What a paper of the document expects, as dialect hspe-go has it (holdem-7.2, holdem-7.4)."""
        path = request.path.partition("?")[0].strip("/").split("/")
        match request.method, path, expected.status:
            case "POST", ["games"] | ["games", _, "players"], 201 | 202:
                return Expect(202, expected.headers)
            case "POST", ["games", _, "players", player, "acts"], 403 if player == self._bound.get(role):
                return Expect(409, expected.headers)
            case _:
                return expected

    def _headers(self, request: Ask) -> dict[str, str]:
        """The headers of a request; credentials on paper are told with the names that users have here."""
        return {name: self._renamed(value) if name == "Authorization" else value for name, value in request.headers}

    def _renamed(self, value: str) -> str:
        scheme, space, coded = value.partition(" ")
        try:
            name, colon, password = b64decode(coded, validate=True).decode().partition(":")
        except ValueError:
            return value
        if not colon or not name or not name.isprintable():
            return value
        server = self._visit.server
        here = server.name(name) if len(name) < LONG else server.name(name)[-len(name) :]  # as long as it is on paper
        user = self._visit.users.setdefault(name, User(here, password))
        return f"{scheme}{space}{b64encode(f'{user.name}:{password}'.encode()).decode()}"

    # What came.

    def _compare(self, role: str, request: Ask, expected: Expect, answer: Answer) -> None:
        path = request.path.partition("?")[0]
        route = next((name for pattern, name in ROUTES if pattern.fullmatch(f"{request.method} {path}")), "holdem-1.2")
        if self._visit.dialect == "hspe-go":
            route = SOLVED.get(route, route)
        elif expected.status == 202:
            route = "holdem-3.6"
        if not self._status(route, expected, answer):
            return
        for name, value in expected.headers:
            self._header(name, value, answer)
        if expected.status < 300 and not QUOTED.fullmatch(expected.body):
            self._body(role, request, route, expected, answer)

    def _status(self, route: str, expected: Expect, answer: Answer) -> bool:
        """Whether the status is as expected, so that the rest can be compared. Raises Broken."""
        if answer.status == expected.status:
            return True
        wanted, found = expected.status, answer.status
        if found == HELD_UP:
            raise Unshown("the server holds us up: 429")
        both = wanted < 300 and 200 <= found < 300
        folds = [value for name, value in expected.headers if name == "X-Fold-Reason"]
        own = self._own[0]
        if both or (wanted < 300 and folds == [""]):
            own = next((name for name in self._own if name == route), route)
        self._visit.departs(own, f"status {wanted}", answer.text, self._gravity(wanted, found), got=answer.shown())
        if not both and (wanted < 300 or 200 <= found < 300):
            raise Broken
        return both

    def _gravity(self, wanted: int, found: int) -> Outcome | None:
        """What comes of another status than on paper, where the clause does not decide that."""
        if found >= FAULT:
            return Outcome.FAIL
        if self._own[0] == "holdem-4.4" and wanted == 400:  # the document has no status for an act that is none
            if found >= wanted:
                return Outcome.CHOICE
            return Outcome.NON_STRICT if self._paper.name in LAX else None
        return None

    def _header(self, name: str, value: str, answer: Answer) -> None:
        """A header that has to be there, or must not. What headers say is for people: they are a choice."""
        if name.lower() in LENIENT and answer.headers.get(name.lower(), "").startswith("Basic"):
            return
        own = self._own[0]
        heard = Heard(answer.status, answer.headers, answer.body)
        try:
            bound = compare(Expect(answer.status, ((name, value),)), heard, self._bound)
        except Mismatch as error:
            told = f"{name}: {value}" if value else f"no {name}"
            grave = Outcome.FAIL if name == "X-Fold-Reason" and not value else Outcome.CHOICE
            self._visit.departs(own, told, str(error), grave, got=answer.shown())
            if NAME.search(value):  # what follows is about what it should have told
                raise Broken from None
        else:
            self._bound.update(bound)

    def _body(self, role: str, request: Ask, route: str, expected: Expect, answer: Answer) -> None:
        visit = self._visit
        if expected.body == "empty":
            if answer.body:
                visit.departs(route, "no body", answer.text, Outcome.NON_STRICT, wanted=b"", got=answer.body)
            return
        if request.method == "HEAD":
            return
        wanted = decode(expected.body) if expected.body else None
        if request.path.rstrip("/").endswith("users") and isinstance(wanted, dict):
            self._differ(wanted, _json(answer), answer)
            visit.user(role).guid = visit.guid(answer, route)
        elif isinstance(wanted, str):
            self._guid(role, request, wanted, route, answer)
        elif _is_list(request) and request.method == "GET":
            shown = every(answer.body, visit.dialect)
            visit.slips(shown.slips)
            self._listed(wanted, route, [to_builtins(game) for game in shown.games])
        elif wanted is None:
            if (request.method, route) == ("GET", "holdem-5.2"):
                visit.read(answer)
        elif isinstance(wanted, dict) and "gameID" in wanted:
            self._differ(wanted, to_builtins(visit.read(answer)), answer)
        else:
            self._differ(wanted, _json(answer), answer)

    def _guid(self, role: str, request: Ask, wanted: str, route: str, answer: Answer) -> None:
        """A GUID that is told. The document does not say that a player has that of his user."""
        found = self._visit.guid(answer, route)
        name = NAME.fullmatch(wanted)
        if name is None:
            return
        before = self._bound.get(name[1])
        self._bound[name[1]] = found
        if request.path.rstrip("/").endswith("users"):
            self._visit.user(role).guid = found
        elif before not in {None, found}:
            self._visit.departs("holdem-2.3", f"the GUID of the user, {before}", found, Outcome.CHOICE)

    def _listed(self, wanted: Any, route: str, found: Sequence[Any]) -> None:
        """The games that a paper lists have to be in the list, in that order; a server may have others."""
        at = 0
        for game in wanted or ():
            for index in range(at, len(found)):
                trial = dict(self._bound)
                if not list(differences(self._adapted(game), found[index], trial)):
                    self._bound.update(trial)
                    at = index + 1
                    break
            else:
                name = game["gameID"].removeprefix("$")
                told = f"the game {self._bound.get(name, name)} in the list, where it belongs"
                self._visit.departs(self._own[0] if self._own[0] in CHOICES else route, told, "a list without it there")
                return

    def _differ(self, wanted: Any, found: Any, answer: Answer) -> None:
        """Compare what is shown, with the names that users have here."""
        for difference in differences(self._adapted(wanted), found, self._bound):
            self._visit.departs(
                difference.clause(self._own),
                f"{difference.place}: {_told(difference.expected)}",
                _told(difference.found),
                got=answer.shown(),
            )

    def _adapted(self, found: Any) -> Any:
        """What is expected of a game, with the names and the chips that users have here."""
        if isinstance(found, list):
            return [self._adapted(one) for one in found]
        if not isinstance(found, dict):
            return found
        role = found.get("handle")
        if not isinstance(role, str):
            return {key: self._adapted(value) for key, value in found.items()}
        name = self._visit.users[role].name if role in self._visit.users else role
        more = self._more.get(role, 0) + self._folded.get(role, 0)
        wealth = found["wealth"] + more if isinstance(found.get("wealth"), int) else None
        return {**found, "handle": name} | ({} if wealth is None else {"wealth": wealth})


def _is_list(request: Ask) -> bool:
    return request.path.partition("?")[0].strip("/") == "games"


def _json(answer: Answer) -> Any:
    try:
        return decode(answer.body)
    except (DecodeError, UnicodeDecodeError):
        return None


def _told(found: object) -> str:
    return encode(found).decode()[:200]
