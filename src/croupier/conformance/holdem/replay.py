"""Replays transcripts against any hold'em server: sends their requests and compares the responses."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from msgspec import DecodeError, to_builtins
from msgspec.json import decode, encode

from croupier.conformance.channel.http import ReceivedResponse
from croupier.conformance.clauses import find_clause
from croupier.conformance.holdem.chips import scale_text
from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, NotReached
from croupier.conformance.holdem.differences import differences
from croupier.conformance.holdem.endpoint import ServerUser
from croupier.conformance.holdem.replay_tables import (
    ADDED_HEADERS,
    ALL_IN_BETS,
    CLAUSES_BY_ROUTE,
    GAME_NAME_PATTERN,
    HSPE_GO_CLAUSES,
    IDLE_CLAUSE,
    IDLE_FIELDS,
    JOIN_GAME_REQUEST,
    LONG_NAME_CHARS,
    MAX_SEATINGS,
    NEW_SERVER_GAMES_PATTERN,
    NO_CORRECTION,
    OTHER_JOIN_PATTERN,
    PREFIX_COMPARED_HEADERS,
    REDIRECT_TRANSCRIPT,
    SERVER_ERROR,
    SETUP_CLAUSES,
    SPLIT_POT_ACTS,
    TOO_MANY_REQUESTS,
)
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


@cache
def transcripts_by_name() -> Mapping[str, Transcript]:
    """Return all hold'em transcripts by name. Raises ValueError if there are none."""
    return {transcript.name: transcript for transcript in transcripts("holdem")}


def first_to_join(transcript: Transcript) -> str:
    """Return the role that joins the game before any other request of the transcript, "" if none does."""
    requests = [(line.peer, line.text) for line in transcript.lines if line.kind == ">"]
    list_at = next((at for at, (_, text) in enumerate(requests) if text.startswith("GET /games/")), len(requests))
    role, text = next(((role, text) for role, text in requests[list_at + 1 :] if text != "POST /users/"), ("", ""))
    return role if text == JOIN_GAME_REQUEST else ""


async def replay(transcript: Transcript, context: HoldemContext) -> None:
    """Replay a transcript on a server and record deviations in the context.

    Raises CaseAborted if the conversation cannot go on, and NotReached if the server's state does not allow it.
    """
    await HoldemReplay(transcript, context).play()


class HoldemReplay:
    """One replay of a transcript. Binds each `$name` of the transcript; roles are played by users with fresh names."""

    def __init__(self, transcript: Transcript, context: HoldemContext) -> None:
        self._transcript = transcript
        self._context = context
        self._clauses = transcript.clauses
        self._bindings: dict[str, str] = {}
        self._chip_corrections: Mapping[
            str, int
        ] = {}  # role -> chips more than in the transcript, after a hand that was folded to move the button
        self._fold_corrections: Mapping[str, int] = {}  # the same, for a split pot that was replaced by a fold
        self._first_role = ""  # the role that joined first
        self._seated_opener = ""  # the role that has a seat because it opened the game
        self._about_users = any(
            name.startswith(("holdem-2.", "holdem-7.1", "holdem-1.5")) for name in self._clauses
        ) or ("users" in transcript.name)

    async def play(self) -> None:
        """Replay all lines."""
        lines = [replace(line, text=self._scale(line.text)) for line in self._lines_without_split_pot()]
        for request_line, response in zip(lines[::2], lines[1::2], strict=True):
            await self._exchange(request_line.peer, request_line.text, parse_expected_response(response.text))
        if self._context.redirects and self._transcript.name == REDIRECT_TRANSCRIPT:
            found = self._context.redirects[0]
            self._context.add_deviation("holdem-1.3", "an answer without a redirect", found, Outcome.NON_STRICT)

    def _scale(self, text: str) -> str:
        """Return a line with its chips as they are at this server. Raises NotReached if it cannot be played there."""
        server = self._context.server
        scaled = scale_text(text, server.stakes, server.stack)
        if scaled is None:
            here = f"{server.stakes.small_blind}/{server.stakes.big_blind} and {server.stack}"
            raise NotReached(f"it is about blinds of 10/20 and 10000 chips; here are {here}")
        return scaled

    async def _exchange(self, role: str, text: str, expected: ExpectedResponse) -> None:
        context = self._context
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
            self._bind_players()
            return
        if text == "POST /users/" and expected.status == 201 and not self._about_users:
            await context.register(role)
            if context.users[role].guid:
                self._bindings[role] = context.users[role].guid
            return
        self._bind_players(text)
        request = parse_request(text, self._bindings)
        if context.dialect == "hspe-go" and self._transcript.head.get("dialect") != "hspe-go":
            expected = self._translate_expected(role, request, expected)
        if (
            not context.server.can_open_games
            and expected.status >= 400
            and request.method == "POST"
            and _is_list(request)
        ):
            return  # the document has no way to make a game
        response = await context.request(role, request.method, request.path, request.body, self._headers(request))
        self._bind_players(text)
        self._compare(role, request, expected, response)
        if text == JOIN_GAME_REQUEST and not self._first_role:
            self._first_role = role
        elif (
            text == JOIN_GAME_REQUEST
            and self._first_role != role
            and expected.status == 201
            and not self._chip_corrections
        ):
            await self._align_button()
        elif expected.status == 201 and (name := OTHER_JOIN_PATTERN.fullmatch(text)):
            shown = await context.get_game(NOBODY, self._bindings[name[1]])
            if len(shown.table) == 2 and context.role_to_act(shown) == role:
                raise NotReached("the one who sits down first has not the first button in every game")

    def _bind_players(self, request: str = JOIN_GAME_REQUEST) -> None:
        """Bind the names of the roles to their playerIDs in the game of a request: they may differ by game."""
        name = GAME_NAME_PATTERN.search(request)
        game = self._bindings.get(name[1] if name else "game")
        for seat in self._context.joined_seats:
            if seat.game == game:
                self._bindings[seat.role] = seat.player_id

    async def _align_button(self) -> None:
        """Give the first button to the role that has it in the transcript.

        Transcripts deal the first button to the first player who joins. If the server deals it to the other player,
        both sit down in other games. If it always does, that player folds one hand first, and the expected stacks are
        corrected by the small blind.
        """
        context, self._chip_corrections = self._context, NO_CORRECTION
        if self._transcript.head.get("button") == "any":
            return
        for _ in range(MAX_SEATINGS):
            shown = await context.get_game(NOBODY, self._bindings["game"])
            role = context.role_to_act(shown)
            if len(shown.table) != 2 or role in {"", self._first_role}:
                context.server.has_dealt_first_button_first = True
                return
            if context.server.deals_first_button_elsewhere:
                break
            await self._seat_again(role)
        context.server.deals_first_button_elsewhere = not context.server.has_dealt_first_button_first
        if any(text in line.text for line in self._lines_without_split_pot() for text in ALL_IN_BETS):
            raise NotReached("the one who sits down first has not the first button")
        await context.act(role, self._bindings["game"], {"action": 0})
        chips = context.server.stakes.small_blind
        self._chip_corrections = {role: -chips, self._first_role: chips}

    async def _seat_again(self, second_role: str) -> None:
        """Seat both players in another game, whose button may begin elsewhere. Raises NotReached if there is none."""
        context = self._context
        for seat in [seat for seat in context.joined_seats if seat.game == self._bindings["game"]]:
            await context.leave(seat)
        game = await context.open_game(self._first_role) or await context.claim_empty_game()
        if not game:
            raise NotReached("the one who sits down first has not the first button, and no other game is to be had")
        await context.seat(self._first_role, second_role, game=game)
        self._bindings["game"] = game
        self._bind_players()

    def _lines_without_split_pot(self) -> list[TranscriptLine]:
        """Return the lines, with a fold in place of a first hand that ends in a split pot.

        A split pot depends on the cards. The player who folds instead has a small blind less for the rest of the
        transcript, and the other player a small blind more.
        """
        lines = list(self._transcript.lines)
        at = next((at for at in range(len(lines) - 3) if (lines[at].text, lines[at + 2].text) in SPLIT_POT_ACTS), None)
        if at is None or self._transcript.head.get("needs") == "luck":
            return lines
        chips = self._context.server.stakes.small_blind
        small, big = lines[at].peer, lines[at + 2].peer
        self._fold_corrections = {small: -chips, big: chips}
        fold = f'POST /games/$game/players/${small}/acts/ {{"action": 0}}'
        return [*lines[:at], replace(lines[at], text=fold), lines[at + 1], *lines[at + 4 :]]

    async def _claim_game(self) -> str:
        """Return a game in which nobody has played yet: the first role to join opens it if the server allows that."""
        context = self._context
        first = first_to_join(self._transcript)
        if first and context.server.can_open_games:
            await context.register(first)
            self._bindings[first] = context.users[first].guid
            if game := await context.open_game(first):
                self._seated_opener = first
                return game
        game = await context.claim_empty_game()
        if not game:
            raise NotReached("no game is to be had in which nobody sits, and POST /games/ makes none")
        return game

    def _translate_expected(
        self, role: str, request: TranscriptRequest, expected: ExpectedResponse
    ) -> ExpectedResponse:
        """Return what dialect hspe-go answers where the document expects `expected` (holdem-7.2, holdem-7.4)."""
        path = request.path.partition("?")[0].strip("/").split("/")
        match request.method, path, expected.status:
            case "POST", ["games"] | ["games", _, "players"], 201 | 202:
                return ExpectedResponse(202, expected.headers)
            case "POST", ["games", _, "players", player, "acts"], 403 if player == self._bindings.get(role):
                return ExpectedResponse(409, expected.headers)
            case _:
                return expected

    def _headers(self, request: TranscriptRequest) -> dict[str, str]:
        """Return the headers of a request, with the credentials of the users who play the roles."""
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
        )  # keeps the length of the name in the transcript
        user = self._context.users.setdefault(name, ServerUser(here, password))
        return f"{scheme}{space}{b64encode(f'{user.name}:{password}'.encode()).decode()}"

    # Comparing responses.

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
        if not self._check_status(route, expected, response, is_usual_path=_is_usual(path)):
            return
        for name, value in expected.headers:
            self._check_header(name, value, response)
        if expected.status < 300 and not QUOTED_PATTERN.fullmatch(expected.body):
            self._check_body(role, request, route, expected, response)

    def _check_status(
        self, route: str, expected: ExpectedResponse, response: ReceivedResponse, *, is_usual_path: bool
    ) -> bool:
        """Compare the status; return whether the rest of the response can be compared.

        Raises CaseAborted if the conversation cannot go on, and NotReached for status 429.
        """
        if response.status == expected.status:
            return True
        wanted, found = expected.status, response.status
        if found == TOO_MANY_REQUESTS:
            raise NotReached("the server holds us up: 429")
        both = wanted < 300 and 200 <= found < 300
        folds = [value for name, value in expected.headers if name == "X-Fold-Reason"]
        own = self._clauses[0]
        is_setup = is_usual_path if own == "holdem-1.3" else route in SETUP_CLAUSES and not own.startswith("holdem-1.")
        if both or (wanted < 300 and (folds == [""] or is_setup)):
            own = next((name for name in self._clauses if name == route), route)
        self._context.add_deviation(own, f"status {wanted}", response.summary, self._status_outcome(wanted, found))
        if not both and (wanted < 300 or 200 <= found < 300):
            raise CaseAborted
        return both

    def _status_outcome(self, wanted: int, found: int) -> Outcome | None:
        """Return the outcome of an unexpected status, None if the clause decides it."""
        if found >= SERVER_ERROR:
            return Outcome.FAIL
        if self._clauses[0] == "holdem-4.4" and wanted == 400:  # the document defines no status for a malformed act
            if found >= wanted:
                return Outcome.CHOICE
            return Outcome.NON_STRICT if self._transcript.head.get("tolerated") == "yes" else None
        return None

    def _check_header(self, name: str, value: str, response: ReceivedResponse) -> None:
        """Compare a header that must be present or, with an empty value, absent.

        Header texts are for people: most mismatches are implementation choices.
        """
        if name.lower() in PREFIX_COMPARED_HEADERS and response.headers.get(name.lower(), "").startswith("Basic"):
            return
        own = self._clauses[0]
        if name in ADDED_HEADERS and name.lower() not in response.headers and not own.startswith("holdem-9."):
            return
        received = TranscriptResponse(response.status, response.headers, response.body)
        try:
            bound = match_response(ExpectedResponse(response.status, ((name, value),)), received, self._bindings)
        except Mismatch as error:
            described = f"{name}: {value}" if value else f"no {name}"
            outcome = Outcome.FAIL if name == "X-Fold-Reason" and not value else Outcome.CHOICE
            self._context.add_deviation(own, described, str(error), outcome)
            if NAME_PATTERN.search(value):  # later lines need the value of this header
                raise CaseAborted from None
        else:
            self._bindings.update(bound)

    def _check_body(
        self, role: str, request: TranscriptRequest, route: str, expected: ExpectedResponse, response: ReceivedResponse
    ) -> None:
        context = self._context
        if expected.body == "empty":
            if response.body:
                context.add_deviation(
                    route, "no body", response.summary, Outcome.NON_STRICT, wanted=b"", got=response.body
                )
            return
        if request.method == "HEAD":
            return
        wanted = decode(expected.body) if expected.body else None
        if request.path.rstrip("/").endswith("users") and isinstance(wanted, dict):
            self._check_json(wanted, _decode_json(response))
            context.user(role).guid = context.require_guid(response, route)
        elif isinstance(wanted, str):
            self._check_guid(role, request, wanted, route, response)
        elif _is_list(request) and request.method == "GET":
            shown = parse_games(response.body, context.dialect)
            context.add_schema_errors(shown.errors)
            self._check_listed_games(wanted, route, [to_builtins(game) for game in shown.games])
        elif wanted is None:
            if (request.method, route) == ("GET", "holdem-5.2"):
                context.require_game(response)
        elif isinstance(wanted, dict) and "gameID" in wanted:
            game = context.require_game(response)
            if any(one.outcome is Outcome.FAIL and one.line_count == len(context.lines) for one in context.deviations):
                raise CaseAborted  # what stands in for a key that cannot be read is not to be compared
            self._check_json(wanted, to_builtins(game))
        else:
            self._check_json(wanted, _decode_json(response))

    def _check_guid(
        self, role: str, request: TranscriptRequest, wanted: str, route: str, response: ReceivedResponse
    ) -> None:
        """Compare a GUID; the document does not require that a playerID equals its user's GUID."""
        found = self._context.require_guid(response, route)
        name = NAME_PATTERN.fullmatch(wanted)
        if name is None:
            return
        user = self._context.users.get(role)
        before = user.guid if user is not None and user.guid else None
        self._bindings[name[1]] = found
        if request.path.rstrip("/").endswith("users"):
            self._context.user(role).guid = found
        elif before not in {None, found}:
            self._context.add_deviation("holdem-2.3", f"the GUID of the user, {before}", found, Outcome.CHOICE)

    def _check_listed_games(self, wanted: Any, route: str, found: Sequence[Any]) -> None:
        """Check that the expected games are listed in this order; a server may list others."""
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
                listed = next((one for one in found if one["gameID"] == self._bindings.get(name)), None)
                if listed is not None and list(differences(self._adapt_expected(game), listed, dict(self._bindings))):
                    self._check_json(game, listed)
                    return
                described = f"the game {self._bindings.get(name, name)} in the list, where it belongs"
                self._context.add_deviation(
                    self._clauses[0] if find_clause(self._clauses[0]).is_open else route,
                    described,
                    "a list without it there",
                )
                return

    def _check_json(self, wanted: Any, found: Any) -> None:
        """Compare JSON, with the names of the users who play the roles."""
        idle = isinstance(wanted, dict) and isinstance(wanted.get("turn"), dict) and not wanted["turn"].get("playerID")
        for difference in differences(self._adapt_expected(wanted), found, self._bindings):
            self._context.add_deviation(
                IDLE_CLAUSE if idle and difference.field in IDLE_FIELDS else difference.clause_for(self._clauses),
                f"{difference.path}: {_render_json(difference.expected)}",
                _render_json(difference.found),
            )

    def _adapt_expected(self, found: Any) -> Any:
        """Replace roles by the names of their users in expected JSON, and correct their chips."""
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


def _is_usual(path: str) -> bool:
    """Whether a path is written as in the table of paths (1.2): with a slash at its end unless it names one thing."""
    return path.endswith("/") == (len(path.strip("/").split("/")) in {1, 3, 5})


def _is_list(request: TranscriptRequest) -> bool:
    return request.path.partition("?")[0].strip("/") == "games"


def _decode_json(response: ReceivedResponse) -> Any:
    try:
        return decode(response.body)
    except (DecodeError, UnicodeDecodeError):
        return None


def _render_json(found: object) -> str:
    return encode(found).decode()[:200]
