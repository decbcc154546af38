"""Compares the responses of a server with those of a transcript, and charges each difference to a clause."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.json import decode, encode
from msgspec.structs import replace

from croupier.conformance.channel.json_values import parse_json
from croupier.conformance.clauses import find_clause
from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.differences import differences, wrong_blinds_of_two
from croupier.conformance.holdem.endpoint import JoinedSeat
from croupier.conformance.holdem.operations import operation_name
from croupier.conformance.holdem.replay_tables import (
    ADDED_HEADERS,
    BLINDS_OF_TWO_CLAUSE,
    CLAUSES_BY_OPERATION,
    DEAL_CLAUSE,
    FOLD_REASON,
    FORBIDDEN,
    HANDLE_PATTERN,
    HSPE_GO_CLAUSES,
    IDLE_CLAUSE,
    IDLE_FIELDS,
    JOIN_GAME_REQUEST,
    LEAVING_CLAUSES,
    LOGIN_CLAUSES,
    NOT_FOUND,
    OPENING_CLAUSE,
    OTHER_LOGIN_CLAUSES,
    PREFIX_COMPARED_HEADERS,
    READING_CLAUSES,
    REFUSALS,
    RULED_HEADERS,
    SEAT_CLAUSE,
    SETUP_CLAUSES,
    SUCCESS_CLAUSES,
    TOO_MANY_REQUESTS,
    UNAUTHORIZED,
)
from croupier.conformance.holdem.schema import parse_game, parse_games
from croupier.conformance.results import Outcome
from croupier.core.errors import FoundKind
from croupier.core.http_transcript import (
    NAME_PATTERN,
    NOBODY,
    QUOTED_PATTERN,
    ExpectedResponse,
    Mismatch,
    TranscriptRequest,
    TranscriptResponse,
    match_response,
)
from croupier.core.transcript import Transcript
from croupier.http.wire import ReceivedResponse, SentRequest, is_server_fault, path_segments
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.observed.differences import rotated


class ReplayChecks:
    """Compares the responses of one replay. Binds each `$name` of the transcript.

    `chip_corrections` are the chips that a role has more than in the transcript.
    """

    def __init__(
        self,
        transcript: Transcript,
        context: HoldemContext,
        bindings: dict[str, str],
        chip_corrections: Mapping[str, int],
    ) -> None:
        self._transcript = transcript
        self._clauses = transcript.clauses
        self._context = context
        self._bindings = bindings
        self._chip_corrections = chip_corrections
        self._seating = seating(transcript)
        self._opened: JoinedSeat | None = None  # the seat that the compared POST /games/ has brought, if it has

    async def compare(
        self, role: str, request: TranscriptRequest, expected: ExpectedResponse, response: ReceivedResponse
    ) -> None:
        """Compare a response. Raises CaseAborted and NotReached."""
        route = CLAUSES_BY_OPERATION.get(operation_name(f"{request.method} {request.path}"), "holdem-1.2")
        if self._context.dialect == "hspe-go":
            route = HSPE_GO_CLAUSES.get(route, route)
        elif expected.status == 202:
            route = "holdem-3.6"
        if not await self._check_status(role, request, route, expected, response):
            return
        self._opened = await self._context.opened_seat(role, response) if route == OPENING_CLAUSE else None
        for name, value in expected.headers:
            if name == FOLD_REASON and bool(value) != (name.lower() in response.headers):
                game = path_segments(request.path)[1]
                await self._context.get_game(NOBODY, game)  # the fold, or the bet, may show there
                self._require_seats(game)
            self._check_header(name, value, response)
        if route == "holdem-4.1" and self._transcript.head.get("needs") == "luck":
            await self._check_dealt_board(path_segments(request.path)[1])
        if expected.status < 300 and not QUOTED_PATTERN.fullmatch(expected.body):
            self._check_body(role, request, route, expected, response)

    async def _check_dealt_board(self, game: str) -> None:
        """Check that the board is from a deck of the transcript, each of which ends with it. Raises CaseAborted."""
        shown = (await self._context.get_game(NOBODY, game)).cards.board
        boards = [deck.split()[-BOARD_CARDS:] for deck in self._transcript.head["deck"].split("/")]
        if [*shown] not in [board[: len(shown)] for board in boards]:
            expected = " or ".join(" ".join(board[: len(shown)]) for board in boards)
            self._context.add_deviation(DEAL_CLAUSE, f"the board {expected}, from the deck", " ".join(shown))
            raise CaseAborted

    async def _check_status(
        self,
        role: str,
        request: TranscriptRequest,
        route: str,
        expected: ExpectedResponse,
        response: ReceivedResponse,
    ) -> bool:
        """Compare the status; return whether the rest of the response can be compared.

        Raises CaseAborted if the conversation cannot go on, and NotReached for status 429.
        """
        if response.status == expected.status:
            return True
        if "/players/" in request.path:
            self._require_seats(path_segments(request.path)[1])
        wanted, found = expected.status, response.status
        if found == TOO_MANY_REQUESTS:
            raise NotReached("the server limits the rate of requests: status 429")
        exchange = self._context.last_exchange
        both = wanted < 300 and 200 <= found < 300
        own = self._clauses[0]
        if own == "holdem-1.6" and wanted >= 400 and found >= 400:
            return False  # cases of other clauses are about the status of a refusal
        if wanted < 300 and (both or await self._is_about_route(role, request, route, expected, found)):
            own = route
        if wanted < 300 and (route, found) == ("holdem-4.1", FORBIDDEN):
            own = await self._clause_of_refused_turn(role, request, own)
        clause = own if wanted < 300 else self._refusal_clause(role, request, wanted, is_refused=found >= 400)
        self._context.add_status_deviation(clause, wanted, response, self._status_outcome(wanted, found))
        self._context.deviations[-1] = replace(self._context.deviations[-1], exchange=exchange)
        if not both and (wanted < 300 or 200 <= found < 300):
            raise CaseAborted
        return both

    def blame_end(self, role: str, request: TranscriptRequest, wanted: int) -> None:
        """Charge the end of a connection in place of a refusal to the clause of the refusal."""
        last = self._context.deviations[-1]
        if last.kind is FoundKind.CLOSED:
            clause = self._refusal_clause(role, request, wanted, is_refused=False)
            self._context.deviations[-1] = replace(last, clause=clause, expected=f"status {wanted}")

    def _refusal_clause(self, role: str, request: TranscriptRequest, status: int, *, is_refused: bool) -> str:
        """Return the clause of a refusal: the transcript's own one, unless that is about successful requests.

        A transcript about something else does not prove that a request with wrong credentials `is_refused` at all.
        """
        own = self._clauses[0]
        is_about_login = (is_refused or own in LOGIN_CLAUSES) and not OTHER_LOGIN_CLAUSES & {*self._clauses}
        if status == UNAUTHORIZED and is_about_login:
            return "holdem-2.8" if request.method == "GET" else "holdem-2.7"
        if own not in SUCCESS_CLAUSES:
            return own
        found = [clause for refused, route, clause in REFUSALS if refused == status and route.match(request.path)]
        is_own_player = f"/players/{self._bindings.get(role)}/" in request.path
        return "holdem-4.13" if is_own_player and found == ["holdem-8.8"] else (*found, own)[0]

    async def _is_about_route(
        self, role: str, request: TranscriptRequest, route: str, expected: ExpectedResponse, found: int
    ) -> bool:
        """Whether a request refused with the status `found` should succeed whatever the transcript is about."""
        own = self._clauses[0]
        if own == "holdem-1.3":
            return not await self._depends_on_slash(role, request)
        if own in {"holdem-1.4", "holdem-1.5"}:
            return request.method == "GET" and route in READING_CLAUSES
        if route == "holdem-3.10":
            return not LEAVING_CLAUSES & {*self._clauses} and not own.startswith("holdem-1.")
        if found == NOT_FOUND and own.startswith("holdem-3."):
            return False
        if own == "holdem-3.8" and route == "holdem-4.1":  # it has to distinguish the games of a user
            return False
        is_valid_bet = any((name, value) == (FOLD_REASON, "") for name, value in expected.headers)
        return is_valid_bet or (route in SETUP_CLAUSES and not own.startswith("holdem-1."))

    async def _clause_of_refused_turn(self, role: str, request: TranscriptRequest, own: str) -> str:
        """Return the clause of an act that was refused as out of turn: `own`, or that of a departure.

        Raises NotReached if the game shows that another player has the turn, and the referee of the game agrees: the
        button is at another player than in the transcript. That referee judges who has the button.
        """
        game = path_segments(request.path)[1]
        player = self._context.player_id(role, game)
        turn = (await self._context.get_game(NOBODY, game)).turn.player_id
        if turn in {"", player}:
            return own
        if self._has_moved_turn_after_departure(game, player):
            return "holdem-3.11"
        if self._context.refereed_games.follows(game):
            raise NotReached("another player has the turn: the button is elsewhere than in the transcript")
        return own

    def _has_moved_turn_after_departure(self, game: str, player: str) -> bool:
        """Whether a player had the turn until the last change of a game, which was that somebody left."""
        messages = [line.message for line in self._context.lines]
        sent = [(at, one) for at, one in enumerate(messages) if isinstance(one, SentRequest) and one.method != "GET"]
        if len(sent) < 2 or sent[-2][1].method != "DELETE":
            return False
        before = [one for one in messages[: sent[-2][0]] if isinstance(one, ReceivedResponse)]
        turns = [
            shown.turn.player_id
            for one in before
            for shown in parse_game(one.body, self._context.dialect).games
            if shown.game_id == game
        ]
        return turns[-1:] in ([], [player])

    async def _depends_on_slash(self, role: str, request: TranscriptRequest) -> bool:
        """Whether a request that was refused is not refused with the usual end of its path (1.2)."""
        path, mark, query = request.path.partition("?")
        has_usual_slash = len(path_segments(path)) in {1, 3, 5}
        if path.endswith("/") == has_usual_slash:
            return False
        usual = path.rstrip("/") + "/" * has_usual_slash + mark + query
        return (await self._context.request(role, request.method, usual, request.body)).status < 300

    def _status_outcome(self, wanted: int, found: int) -> Outcome | None:
        """Return the outcome of an unexpected status, None if the clause decides it."""
        if is_server_fault(found):
            return Outcome.FAIL
        if self._clauses[0] == "holdem-4.4" and wanted == 400:  # the document defines no status for a malformed act
            return Outcome.CHOICE if found >= wanted else None
        return None

    def _check_header(self, name: str, value: str, response: ReceivedResponse) -> None:
        """Compare a header that must be present or, with an empty value, absent.

        Header texts are for people: most mismatches are implementation choices, if no ruling demands the header. A
        media type may have parameters, such as its charset, and a path a slash at its end (1.3).
        """
        sent = response.headers.get(name.lower(), "")
        if name.lower() in PREFIX_COMPARED_HEADERS and sent.startswith("Basic"):
            return
        if name == "Content-Type" and sent.partition(";")[0].rstrip().lower() == value:
            return
        own = self._clauses[0]
        if name in ADDED_HEADERS and name.lower() not in response.headers and not own.startswith("holdem-9."):
            return
        headers = {**response.headers, name.lower(): sent.rstrip("/")} if sent else response.headers
        received = TranscriptResponse(response.status, headers, response.body)
        try:
            bound = match_response(ExpectedResponse(response.status, ((name, value),)), received, self._bindings)
        except Mismatch as error:
            described = f"{name}: {value}" if value else f"no {name}"
            if value and name in RULED_HEADERS and name.lower() not in response.headers:
                self._context.add_deviation(RULED_HEADERS[name], f"the header {name}", "none")
                return
            outcome = Outcome.FAIL if name in RULED_HEADERS and not value else Outcome.CHOICE
            outcome = Outcome.NON_STRICT if own == "holdem-1.5" else outcome
            self._context.add_deviation(own, described, str(error), outcome)
            if bound_name := NAME_PATTERN.search(value):  # later lines need the value of this header
                if self._opened is None:
                    raise CaseAborted from None
                self._bindings[bound_name[1]] = self._opened.game
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
            context.user(role).guid = context.require_guid(role, response, route)
        elif isinstance(wanted, str):
            self._check_guid(role, request, wanted, route, response)
        elif is_list(request) and request.method == "GET":
            shown = parse_games(response.body, context.dialect)
            context.judge_games(shown)
            if shown.errors and not shown.games:
                raise CaseAborted  # it is not known which games cannot be read
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
        found = self._context.require_guid(role, response, route, self._opened)
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
        expected = self._adapt_expected(wanted)
        is_game = isinstance(wanted, dict) and isinstance(wanted.get("turn"), dict)
        if is_game and isinstance(wanted["table"], list):
            self._require_seats(found["gameID"], expected["table"])
            found = self._without_open_points(expected, found)
            if (reversed_blinds := wrong_blinds_of_two(expected, found)) is not None:
                _, due, posted = reversed_blinds
                is_choice = self._transcript.head.get("free") == "yes"  # then the case is about whose blind it is
                clause = self._clauses[0] if is_choice else BLINDS_OF_TWO_CLAUSE
                self._context.add_deviation(clause, f"{due}", f"{posted}")
                return
        idle = is_game and not wanted["turn"].get("playerID")
        for difference in differences(expected, found, self._bindings):
            self._context.add_deviation(
                IDLE_CLAUSE if idle and difference.field in IDLE_FIELDS else difference.clause_for(self._clauses),
                f"{difference.path}: {_render_json(difference.expected)}",
                _render_json(difference.found),
            )

    def _without_open_points(self, expected: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a Game without what the document leaves open: with which player the table begins (5.3).

        In a running hand these are also empty pots, as in the document's example, players who wait for the next hand
        (5.19, 5.20), whether a player who is all-in is called or active (5.9), and a minimum raise of which a referee
        knows that the chips of the player allow no other (5.10).
        """
        table = expected["table"]
        first = self._bindings.get(table[0]["playerID"].removeprefix("$")) if table else None
        found = {**found, "table": rotated(found["table"], lambda player: player["playerID"] == first)}
        if not found["turn"]["playerID"]:
            return found
        pots = [pot for pot in found["pots"] if pot["size"]]
        payers = {payer for pot in pots for payer in pot["players"]}
        seated = {seat.player_id for seat in self._context.joined_seats if seat.game == found["gameID"]}
        handles = {player["handle"] for player in table}
        players = [
            {**player, "state": "called"} if (player["wealth"], player["state"]) == (0, "active") else player
            for player in found["table"]
            if player["handle"] in handles or player["playerID"] not in seated - payers
        ]
        turn = found["turn"]
        if self._context.refereed_games.follows(found["gameID"]):
            turn = {**turn, "minimum_raise": expected["turn"]["minimum_raise"]}
        return {**found, "table": players, "turn": turn, "pots": pots}

    def _require_seats(self, game: str, table: Sequence[Any] = ()) -> None:
        """Require that the players of a game sit in the order of a table, or of the transcript if that is of two.

        It does not matter with whom the circle begins. The document does not say where a newcomer sits (3.5). Raises
        CaseAborted in a case about that, after recording a choice, else NotReached.
        """
        handles = [player["handle"] for player in table]
        if len(handles) <= 2 and game == self._bindings.get("game"):
            handles = [self._context.user(role).name for role in self._seating]
        shown = [handle for handle in self._context.shown_handles.get(game, ()) if handle in handles]
        due = [handle for handle in handles if handle in shown]
        if not due or rotated(shown, lambda handle: handle == due[0]) == due:
            return
        if self._clauses[0] != SEAT_CLAUSE:
            raise NotReached("the players do not sit in the order in which they have joined")
        self._context.add_deviation(SEAT_CLAUSE, f"the seats {', '.join(due)}", ", ".join(shown), Outcome.CHOICE)
        raise CaseAborted

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
        wealth = found["wealth"] + self._chip_corrections.get(role, 0) if isinstance(found.get("wealth"), int) else None
        return {**found, "handle": name} | ({} if wealth is None else {"wealth": wealth})


def seating(transcript: Transcript) -> Sequence[str]:
    """Return the roles of $game in the order of the seats: of the fullest table, or by joining if that is of two."""
    shown = [line.text for line in transcript.lines if line.text.startswith('200 {"gameID": "$game"')]
    table = max((HANDLE_PATTERN.findall(text) for text in shown), key=len, default=[])
    joined = [line.peer for line in transcript.lines if line.text == JOIN_GAME_REQUEST]
    return table if len(table) > 2 else list(dict.fromkeys(joined))


def is_list(request: TranscriptRequest) -> bool:
    """Whether a request is about all games."""
    return path_segments(request.path) == ["games"]


def _decode_json(response: ReceivedResponse) -> Any:
    try:
        return parse_json(response.body)
    except ValueError:
        return None


def _render_json(found: object) -> str:
    return encode(found).decode()[:200]
