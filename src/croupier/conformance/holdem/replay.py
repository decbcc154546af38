"""Conversations on paper that can be held with any server: what its users say, and what they have to hear."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from msgspec import DecodeError, to_builtins
from msgspec.json import decode, encode

from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.holdem.deviations import RULED_CLAUSES, CaseAborted, NotReached
from croupier.conformance.holdem.differences import differences
from croupier.conformance.holdem.endpoint import ServerUser
from croupier.conformance.holdem.http_client import ReceivedResponse
from croupier.conformance.holdem.schema import parse_games
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import (
    NAME_PATTERN,
    QUOTED_PATTERN,
    ExpectedResponse,
    Mismatch,
    TranscriptRequest,
    TranscriptResponse,
    match_response,
    parse_expected_response,
    parse_request,
)
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms.holdem.engine.blinds import BLINDS

NEW_SERVER_GAMES_PATTERN: Final = re.compile(r'\[\{"gameID": "\$game", "table": \[\], .*\}\]', re.DOTALL)
"""The list of games of a new server."""

JOIN_GAME_REQUEST: Final = "POST /games/$game/players/"
"""How somebody joins the game of a paper."""

SPLIT_POT_ACTS: Final = frozenset(
    (
        f'POST /games/$game/players/${small}/acts/ {{"action": 1, "betAmount": 9990}}',
        f'POST /games/$game/players/${big}/acts/ {{"action": 1, "betAmount": 9980}}',
    )
    for small, big in (("cid", "ann"), ("ann", "bob"), ("dan", "cid"))
)
"""The acts of two who are all-in in the first hand, and share it on paper."""

CLAUSES_BY_ROUTE: Final = (
    (re.compile(r"POST /users/?"), "holdem-2.2"),
    (re.compile(r"POST /games/?"), "holdem-3.3"),
    (re.compile(r"POST /games/[^/]+/players/?"), "holdem-3.5"),
    (re.compile(r"POST /games/[^/]+/players/[^/]+/acts/?"), "holdem-4.1"),
    (re.compile(r"DELETE /games/[^/]+/players/[^/]+/?"), "holdem-3.10"),
    (re.compile(r"(?:GET|HEAD) /games/?"), "holdem-5.1"),
    (re.compile(r"(?:GET|HEAD) /games/[^/]+/?"), "holdem-5.2"),
)
"""The clauses that say what a request brings about when all is well."""

HSPE_GO_CLAUSES: Final[Mapping[str, str]] = {
    "holdem-2.2": "holdem-7.1",
    "holdem-3.3": "holdem-7.2",
    "holdem-3.5": "holdem-7.2",
    "holdem-3.6": "holdem-7.2",
}
"""The clauses of dialect hspe-go in place of others."""

TOO_MANY_REQUESTS: Final = 429
"""The status of a server that has been asked too often."""

SERVER_ERROR: Final = 500
"""From here on a status tells of a fault of the server's own."""

NO_CORRECTION: Final[Mapping[str, int]] = {"": 0}

BUTTON_TRANSCRIPTS: Final = frozenset({"first-come-has-the-button", "an-unchanged-list"})
"""Papers for which it matters nothing, or everything, who has the first button."""

ALL_IN_BETS: Final = tuple(f'"betAmount": {chips}}}' for chips in (9990, 9980, 9970, 9960, 9940, 9900))
"""Bets of all that somebody has on paper."""

LAX_NUMBER_TRANSCRIPTS: Final = frozenset({"amounts-that-are-none", "actions-that-are-none"})
"""Papers about numbers that are written as something else: many a parser takes them."""

LONG_NAME_CHARS: Final = 50
"""A name of so many characters is a matter of how long it is."""

PREFIX_COMPARED_HEADERS: Final = frozenset({"www-authenticate"})
"""Headers of which only the beginning is compared: the rest is a server's own."""


@cache
def transcripts_by_name() -> Mapping[str, Transcript]:
    """All papers of the room by their names. Raises ValueError where there are none."""
    return {paper.name: paper for paper in transcripts("holdem")}


def first_to_join(transcript: Transcript) -> str:
    """Who joins the game of a paper before anything else happens there; "" if that is nobody."""
    asked = [(line.peer, line.text) for line in transcript.lines if line.kind == ">"]
    begun = next((at for at, (_, text) in enumerate(asked) if text.startswith("GET /games/")), len(asked))
    role, text = next(((role, text) for role, text in asked[begun + 1 :] if text != "POST /users/"), ("", ""))
    return role if text == JOIN_GAME_REQUEST else ""


async def replay(transcript: Transcript, context: HoldemContext) -> None:
    """Play a paper on a server. What departs from it is noted in the visit; raises Broken where it cannot go on."""
    await HoldemReplay(transcript, context).play()


class HoldemReplay:
    """A paper that is being played. Every `$name` is bound as on paper, users have names of their own."""

    def __init__(self, transcript: Transcript, context: HoldemContext) -> None:
        self._transcript = transcript
        self._context = context
        self._clauses = transcript.clauses
        self._bindings: dict[str, str] = {}
        self._chip_corrections: Mapping[
            str, int
        ] = {}  # chips that a role has more than on paper, for a hand that was folded before
        self._fold_corrections: Mapping[str, int] = {}  # the same, for one that is shared on paper and folded here
        self._first_role = ""  # who has joined first
        self._seated_opener = ""  # who has joined by making the game
        self._about_users = any(
            name.startswith(("holdem-2.", "holdem-7.1", "holdem-1.5")) for name in self._clauses
        ) or ("users" in transcript.name)

    async def play(self) -> None:
        """Play it from the first line to the last."""
        lines = self._lines_without_split_pot()
        for question, answer in zip(lines[::2], lines[1::2], strict=True):
            await self._exchange(question.peer, question.text, parse_expected_response(answer.text))

    async def _exchange(self, role: str, text: str, expected: ExpectedResponse) -> None:
        visit = self._context
        if (
            NEW_SERVER_GAMES_PATTERN.fullmatch(expected.body)
            and text.startswith("GET /games/")
            and "game" not in self._bindings
        ):
            self._bindings["game"] = await self._claim_game()
            return
        if text == JOIN_GAME_REQUEST and role == self._seated_opener:
            self._seated_opener = ""
            self._first_role = role
            return
        if text == "POST /users/" and expected.status == 201 and not self._about_users:
            await visit.register(role)
            if visit.users[role].guid:
                self._bindings[role] = visit.users[role].guid
            return
        request = parse_request(text, self._bindings)
        if visit.dialect == "hspe-go" and self._transcript.head.get("dialect") != "hspe-go":
            expected = self._translate_expected(role, request, expected)
        if (
            not visit.server.can_open_games
            and expected.status >= 400
            and request.method == "POST"
            and _is_list(request)
        ):
            return  # the document has no way to make a game
        answer = await visit.request(role, request.method, request.path, request.body, self._headers(request))
        self._compare(role, request, expected, answer)
        if text == JOIN_GAME_REQUEST and not self._first_role:
            self._first_role = role
        elif (
            text == JOIN_GAME_REQUEST
            and self._first_role != role
            and expected.status == 201
            and not self._chip_corrections
        ):
            await self._align_button()

    async def _align_button(self) -> None:
        """On paper the first to sit down has the first button. Where another has it, he folds a hand before."""
        visit, self._chip_corrections = self._context, NO_CORRECTION
        if self._transcript.name in BUTTON_TRANSCRIPTS:
            return
        shown = await visit.get_game(NOBODY, self._bindings["game"])
        role = visit.role_to_act(shown)
        if len(shown.table) != 2 or role in {"", self._first_role}:
            return
        if any(text in line.text for line in self._lines_without_split_pot() for text in ALL_IN_BETS):
            raise NotReached("the one who sits down first has not the first button")
        await visit.act(role, self._bindings["game"], {"action": 0})
        self._chip_corrections = {role: -BLINDS[0], self._first_role: BLINDS[0]}

    def _lines_without_split_pot(self) -> list[TranscriptLine]:
        """The lines of the paper. A first hand that two share on paper is folded here: luck will not have it so.

        Whoever folds it has less for that, and the other more, as long as the paper lasts.
        """
        lines = list(self._transcript.lines)
        at = next((at for at in range(len(lines) - 3) if (lines[at].text, lines[at + 2].text) in SPLIT_POT_ACTS), None)
        if at is None:
            return lines
        small, big = lines[at].peer, lines[at + 2].peer
        self._fold_corrections = {small: -BLINDS[0], big: BLINDS[0]}
        fold = f'POST /games/$game/players/${small}/acts/ {{"action": 0}}'
        return [*lines[:at], replace(lines[at], text=fold), lines[at + 1], *lines[at + 4 :]]

    async def _claim_game(self) -> str:
        """A game for this paper, in which nobody has played before: the first to join makes it, if he can."""
        visit = self._context
        first = first_to_join(self._transcript)
        if first and visit.server.can_open_games:
            await visit.register(first)
            self._bindings[first] = visit.users[first].guid
            if game := await visit.open_game(first):
                self._seated_opener = first
                return game
        game = await visit.claim_empty_game()
        if not game:
            raise NotReached("no game is to be had in which nobody sits, and POST /games/ makes none")
        return game

    def _translate_expected(
        self, role: str, request: TranscriptRequest, expected: ExpectedResponse
    ) -> ExpectedResponse:
        """What a paper of the document expects, as dialect hspe-go has it (holdem-7.2, holdem-7.4)."""
        path = request.path.partition("?")[0].strip("/").split("/")
        match request.method, path, expected.status:
            case "POST", ["games"] | ["games", _, "players"], 201 | 202:
                return ExpectedResponse(202, expected.headers)
            case "POST", ["games", _, "players", player, "acts"], 403 if player == self._bindings.get(role):
                return ExpectedResponse(409, expected.headers)
            case _:
                return expected

    def _headers(self, request: TranscriptRequest) -> dict[str, str]:
        """The headers of a request; credentials on paper are told with the names that users have here."""
        return {
            name: self._rename_credentials(value) if name == "Authorization" else value
            for name, value in request.headers
        }

    def _rename_credentials(self, value: str) -> str:
        scheme, space, coded = value.partition(" ")
        try:
            name, colon, password = b64decode(coded, validate=True).decode().partition(":")
        except ValueError:
            return value
        if not colon or not name or not name.isprintable():
            return value
        server = self._context.server
        here = (
            server.new_name(name) if len(name) < LONG_NAME_CHARS else server.new_name(name)[-len(name) :]
        )  # as long as it is on paper
        user = self._context.users.setdefault(name, ServerUser(here, password))
        return f"{scheme}{space}{b64encode(f'{user.name}:{password}'.encode()).decode()}"

    # What came.

    def _compare(
        self, role: str, request: TranscriptRequest, expected: ExpectedResponse, response: ReceivedResponse
    ) -> None:
        path = request.path.partition("?")[0]
        route = next(
            (name for pattern, name in CLAUSES_BY_ROUTE if pattern.fullmatch(f"{request.method} {path}")), "holdem-1.2"
        )
        if self._context.dialect == "hspe-go":
            route = HSPE_GO_CLAUSES.get(route, route)
        elif expected.status == 202:
            route = "holdem-3.6"
        if not self._check_status(route, expected, response):
            return
        for name, value in expected.headers:
            self._check_header(name, value, response)
        if expected.status < 300 and not QUOTED_PATTERN.fullmatch(expected.body):
            self._check_body(role, request, route, expected, response)

    def _check_status(self, route: str, expected: ExpectedResponse, response: ReceivedResponse) -> bool:
        """Whether the status is as expected, so that the rest can be compared. Raises Broken."""
        if response.status == expected.status:
            return True
        wanted, found = expected.status, response.status
        if found == TOO_MANY_REQUESTS:
            raise NotReached("the server holds us up: 429")
        both = wanted < 300 and 200 <= found < 300
        folds = [value for name, value in expected.headers if name == "X-Fold-Reason"]
        own = self._clauses[0]
        if both or (wanted < 300 and folds == [""]):
            own = next((name for name in self._clauses if name == route), route)
        self._context.add_deviation(
            own, f"status {wanted}", response.summary, self._status_outcome(wanted, found), got=response.render()
        )
        if not both and (wanted < 300 or 200 <= found < 300):
            raise CaseAborted
        return both

    def _status_outcome(self, wanted: int, found: int) -> Outcome | None:
        """What comes of another status than on paper, where the clause does not decide that."""
        if found >= SERVER_ERROR:
            return Outcome.FAIL
        if self._clauses[0] == "holdem-4.4" and wanted == 400:  # the document has no status for an act that is none
            if found >= wanted:
                return Outcome.CHOICE
            return Outcome.NON_STRICT if self._transcript.name in LAX_NUMBER_TRANSCRIPTS else None
        return None

    def _check_header(self, name: str, value: str, response: ReceivedResponse) -> None:
        """A header that has to be there, or must not. What headers say is for people: they are a choice."""
        if name.lower() in PREFIX_COMPARED_HEADERS and response.headers.get(name.lower(), "").startswith("Basic"):
            return
        own = self._clauses[0]
        heard = TranscriptResponse(response.status, response.headers, response.body)
        try:
            bound = match_response(ExpectedResponse(response.status, ((name, value),)), heard, self._bindings)
        except Mismatch as error:
            told = f"{name}: {value}" if value else f"no {name}"
            grave = Outcome.FAIL if name == "X-Fold-Reason" and not value else Outcome.CHOICE
            self._context.add_deviation(own, told, str(error), grave, got=response.render())
            if NAME_PATTERN.search(value):  # what follows is about what it should have told
                raise CaseAborted from None
        else:
            self._bindings.update(bound)

    def _check_body(
        self, role: str, request: TranscriptRequest, route: str, expected: ExpectedResponse, response: ReceivedResponse
    ) -> None:
        visit = self._context
        if expected.body == "empty":
            if response.body:
                visit.add_deviation(
                    route, "no body", response.summary, Outcome.NON_STRICT, wanted=b"", got=response.body
                )
            return
        if request.method == "HEAD":
            return
        wanted = decode(expected.body) if expected.body else None
        if request.path.rstrip("/").endswith("users") and isinstance(wanted, dict):
            self._check_json(wanted, _decode_json(response), response)
            visit.user(role).guid = visit.require_guid(response, route)
        elif isinstance(wanted, str):
            self._check_guid(role, request, wanted, route, response)
        elif _is_list(request) and request.method == "GET":
            shown = parse_games(response.body, visit.dialect)
            visit.add_schema_errors(shown.errors)
            self._check_listed_games(wanted, route, [to_builtins(game) for game in shown.games])
        elif wanted is None:
            if (request.method, route) == ("GET", "holdem-5.2"):
                visit.require_game(response)
        elif isinstance(wanted, dict) and "gameID" in wanted:
            self._check_json(wanted, to_builtins(visit.require_game(response)), response)
        else:
            self._check_json(wanted, _decode_json(response), response)

    def _check_guid(
        self, role: str, request: TranscriptRequest, wanted: str, route: str, response: ReceivedResponse
    ) -> None:
        """A GUID that is told. The document does not say that a player has that of his user."""
        found = self._context.require_guid(response, route)
        name = NAME_PATTERN.fullmatch(wanted)
        if name is None:
            return
        before = self._bindings.get(name[1])
        self._bindings[name[1]] = found
        if request.path.rstrip("/").endswith("users"):
            self._context.user(role).guid = found
        elif before not in {None, found}:
            self._context.add_deviation("holdem-2.3", f"the GUID of the user, {before}", found, Outcome.CHOICE)

    def _check_listed_games(self, wanted: Any, route: str, found: Sequence[Any]) -> None:
        """The games that a paper lists have to be in the list, in that order; a server may have others."""
        at = 0
        for game in wanted or ():
            for index in range(at, len(found)):
                trial = dict(self._bindings)
                if not list(differences(self._adapt_expected(game), found[index], trial)):
                    self._bindings.update(trial)
                    at = index + 1
                    break
            else:
                name = game["gameID"].removeprefix("$")
                told = f"the game {self._bindings.get(name, name)} in the list, where it belongs"
                self._context.add_deviation(
                    self._clauses[0] if self._clauses[0] in RULED_CLAUSES else route, told, "a list without it there"
                )
                return

    def _check_json(self, wanted: Any, found: Any, response: ReceivedResponse) -> None:
        """Compare what is shown, with the names that users have here."""
        for difference in differences(self._adapt_expected(wanted), found, self._bindings):
            self._context.add_deviation(
                difference.clause_for(self._clauses),
                f"{difference.path}: {_render_json(difference.expected)}",
                _render_json(difference.found),
                got=response.render(),
            )

    def _adapt_expected(self, found: Any) -> Any:
        """What is expected of a game, with the names and the chips that users have here."""
        if isinstance(found, list):
            return [self._adapt_expected(one) for one in found]
        if not isinstance(found, dict):
            return found
        role = found.get("handle")
        if not isinstance(role, str):
            return {key: self._adapt_expected(value) for key, value in found.items()}
        name = self._context.users[role].name if role in self._context.users else role
        more = self._chip_corrections.get(role, 0) + self._fold_corrections.get(role, 0)
        wealth = found["wealth"] + more if isinstance(found.get("wealth"), int) else None
        return {**found, "handle": name} | ({} if wealth is None else {"wealth": wealth})


def _is_list(request: TranscriptRequest) -> bool:
    return request.path.partition("?")[0].strip("/") == "games"


def _decode_json(response: ReceivedResponse) -> Any:
    try:
        return decode(response.body)
    except (DecodeError, UnicodeDecodeError):
        return None


def _render_json(found: object) -> str:
    return encode(found).decode()[:200]
