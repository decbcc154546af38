"""Judges pairs of hold'em requests and responses, and updates the followed tables."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from croupier.conformance.holdem.deviations import HttpDeviation, default_outcome
from croupier.conformance.holdem.refusals import EXPECTED_REQUESTS, judge_act_keys, judge_refusal, refusal_clause
from croupier.conformance.holdem.schema import parse_game, parse_games, seconds_left, server_time
from croupier.conformance.results import Outcome
from croupier.conformance.tap.exchange import Departure, PendingRequest
from croupier.conformance.tap.follow_tables import FollowedTable, FollowedTables
from croupier.conformance.tap.observed_http import (
    UNKNOWN_USER,
    ObservedRequest,
    ObservedResponse,
    StreamPart,
)
from croupier.conformance.tap.shown_turns import OUT_OF_TURN_STATUSES, contradiction
from croupier.core.errors import Violation
from croupier.core.http_transcript import NOBODY
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE
from croupier.http.routes import parse_command
from croupier.http.wire import ReceivedResponse, is_server_fault
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import (
    Act,
    Dialect,
    Game,
    Guid,
    HoldemRequest,
    Join,
    Leave,
    Open,
    RequestRefused,
)

RACE_CLAUSES: Final = frozenset({"holdem-3.7", "holdem-4.13", "holdem-4.14", "holdem-7.4", "holdem-8.4", "holdem-8.5"})
"""Clauses by which a client may be refused because its last view is outdated."""

SUCCESS_STATUSES: Final = {"readme": {Join: (201, 202), Open: (201,), Act: (201,), Leave: (200,)}}
SUCCESS_STATUSES["hspe-go"] = {**SUCCESS_STATUSES["readme"], Join: (202,), Open: (201, 202)}
"""The statuses of success by dialect and request."""

SUCCESS_CLAUSES: Final = {Open: "holdem-3.3", Join: "holdem-3.5", Act: "holdem-4.1", Leave: "holdem-3.10"}
"""The clause that defines the status of success."""


class HoldemPending(PendingRequest[ObservedRequest, FollowedTable]):
    """A request without a response; `command` is what it asks for, None if it changes nothing.

    `act_clause` is the clause that an act breaks by whose it is, or by the turns that were shown before it.
    `has_overlapped_joins`, once it is closed: of what may change something, it has overlapped joins alone.
    """

    def __init__(self, request: ObservedRequest, command: HoldemRequest | RequestRefused | None) -> None:
        super().__init__(request, is_change=isinstance(command, Open | Join | Act | Leave | RequestRefused))
        self.command = command
        self.act_clause: str | None = None
        self.has_overlapped_joins = False
        self._changes_hand = isinstance(command, Act | Leave | RequestRefused)
        self._hand_ticket: int | None = None
        self._is_in_hand = False

    def enter_game(self, game: FollowedTable) -> None:
        """See `PendingRequest`."""
        super().enter_game(game)
        self._hand_ticket = game.hand_traffic.begin(is_change=self._changes_hand)
        self._is_in_hand = True

    def close(self) -> None:
        """See `PendingRequest`."""
        super().close()
        if self.game is not None and self._is_in_hand:
            is_certain = self.game.hand_traffic.finish(self._hand_ticket, is_change=self._changes_hand)
            self.has_overlapped_joins = is_certain and not self.is_certain
            self._is_in_hand = False

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.path}"


class ExchangeChecker:
    """The requests and responses of all connections to one house.

    `has_house_spoken`: it has sent something. A house that only closes may expect TLS.
    """

    def __init__(self, dialect: Dialect = "readme") -> None:
        self.dialect = dialect
        self.tables = FollowedTables()
        self.has_house_spoken = False
        self._start: datetime | None = None  # the server time at our time 0

    def on_request(self, observed: ObservedRequest) -> HoldemPending:
        """Record a forwarded request."""
        segments = observed.path_segments
        command: HoldemRequest | RequestRefused | None = None
        if observed.method in {"POST", "DELETE"} and segments != ["users"]:
            command = parse_command(observed.method, observed.path.partition("?")[0], observed.user, observed.body)
        pending = HoldemPending(observed, command)
        pending.enter(self.tables.traffic)
        if segments[0] == "games" and len(segments) > 1 and not isinstance(command, Open):
            table = self.tables.table(segments[1])
            pending.enter_game(table)
            table.has_no_acts = table.has_no_acts and not isinstance(command, Act)
            if isinstance(command, Act):
                pending.act_clause = self._broken_act_clause(table, command)
        return pending

    def on_response(self, pending: HoldemPending, response: ObservedResponse) -> Iterator[Departure]:
        """Judge a response and its request."""
        pending.close()
        command, request, status = pending.command, pending.request, response.status
        is_done = 200 <= status < 300
        yield from self._check_request(pending, response)
        if is_server_fault(status) and status != HTTPStatus.SERVICE_UNAVAILABLE:
            yield Departure(HOUSE, Violation("holdem-8.2", f"the status {status}", "an answer"))
        match command:
            case Act() if pending.game is not None:
                yield from self._check_act(pending.game, command, pending, response)
            case RequestRefused(clause="holdem-4.4") if pending.game is not None and is_done:
                pending.game.stop_following()  # some servers read more acts than the document has (holdem-4.17)
            case RequestRefused(clause="holdem-4.4") if pending.game is not None:
                pending.game.on_malformed_act(request.path_segments[3])
            case Leave() if is_done and pending.game is not None:
                pending.game.on_leave(command.player, response.at, is_certain=pending.is_certain)
            case Join() | Open() if is_done:
                yield from self._check_join(command, pending, response)
            case None if is_done and request.method == "POST" and request.path_segments == ["users"]:
                yield from self._check_registration(request, response)
            case None if status == 200 and request.method == "GET":
                yield from self._check_view(pending, response)
        if is_done and isinstance(command, Open | Join | Act | Leave):
            good = SUCCESS_STATUSES[self.dialect][type(command)]
            if status not in good:
                clause = SUCCESS_CLAUSES[type(command)]
                yield Departure(HOUSE, Violation(clause, f"the status {status}", f"{good[0]}"))

    def on_stream_part(self, pending: HoldemPending, part: StreamPart) -> Iterator[Departure]:
        """Judge a part of an event stream, which shows an earlier state of a table."""
        parsed = parse_game(part.body, self.dialect)
        yield from map(_schema_departure, parsed.errors)
        if not parsed.games:
            self.tables.on_unread_games()
        if parsed.games and pending.game is not None:
            viewer = self._viewer_of(pending.request.user)
            game = parsed.games[0]
            pending.game.shown_turns.on_view(game, viewer, part.at)
            pending.game.on_view(game, viewer, part.at, part.at, self._seconds_left(game, part.at), is_certain=False)

    # Clients.

    def _check_request(self, pending: HoldemPending, response: ObservedResponse) -> Iterator[Departure]:
        command, request = pending.command, pending.request
        is_act = isinstance(command, Act) and response.status < 300
        if is_act and (unusual := judge_act_keys(request.body)):
            yield _client_departure(unusual, request.user)
        is_accepted = isinstance(command, RequestRefused) and command.clause == "holdem-4.4" and response.status < 300
        if not (is_accepted or 400 <= response.status < 500):
            return
        clause = command.clause if isinstance(command, RequestRefused) else refusal_clause(response.body)
        if clause is None and command is not None and request.user in {NOBODY, UNKNOWN_USER}:
            clause = "holdem-2.7"
        if clause is None or clause in RACE_CLAUSES:
            clause = pending.act_clause if response.status in OUT_OF_TURN_STATUSES else None
        if clause is None:
            return
        asked = f"an act of {command.user}" if isinstance(command, Act) else f"{request.method} {request.path[:80]}"
        if refused := judge_refusal(clause, f"{asked}, which is {response.status}"):
            yield _client_departure(refused, request.user)

    def _broken_act_clause(self, table: FollowedTable, act: Act) -> str | None:
        if self.tables.belongs_to_another(act.player, act.user):
            return "holdem-8.8"
        return None if table.is_misleading else table.shown_turns.broken_clause(act.player)

    # Houses.

    def _check_act(
        self, table: FollowedTable, act: Act, pending: HoldemPending, response: ObservedResponse
    ) -> Iterator[Departure]:
        is_done, is_certain = response.status < 300, pending.is_certain
        if is_done and (invalid := table.judge_bet(act) if is_certain else None):
            yield Departure(CLIENT, invalid)
        elif (
            is_done
            and (reason := response.headers.get("x-fold-reason", ""))
            and not table.is_misleading
            and (folded := table.shown_turns.judge_folded_bet(act, reason[:200]))
        ):
            yield Departure(CLIENT, folded)
        if response.status in {401, 429} or response.status >= 500 or act.player != self.tables.guid_of(act.user):
            if is_done:
                table.stop_following()
            return
        found = table.on_act(act, response.status, pending.request.at, response.at, is_certain=is_certain)
        yield from map(self._house_departure, found)
        clause = pending.act_clause
        if clause is not None and any(violation.clause == "holdem-4.13" for violation in found):
            taken = f"an act of {act.user}, which is {response.status}"
            yield Departure(CLIENT, Violation(clause, taken, EXPECTED_REQUESTS[clause], about=act.user))
        if is_done:
            table.shown_turns.on_act(act.player, pending.request.at)
        elif response.status in OUT_OF_TURN_STATUSES:
            table.shown_turns.on_refused_act(act.player)

    def _check_join(
        self, command: Open | Join, pending: HoldemPending, response: ObservedResponse
    ) -> Iterator[Departure]:
        player, table, is_certain = self.tables.guid_of(command.user), pending.game, pending.is_certain
        if self.dialect == "readme":
            try:
                player = read_guid(response.body)
            except Violation as violation:
                yield Departure(HOUSE, violation.replace(clause=SUCCESS_CLAUSES[type(command)]))
                return
            self.tables.set_guid(command.user, player)
        if isinstance(command, Open):
            game = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
            table = self.tables.add_open_table(game) if game else None
            is_certain = True
        if table is None:
            return
        if player is not None:
            table.shown_turns.on_join(player)
        if player is None or (self.dialect == "readme" and response.status == 202):
            table.stop_following()
        else:
            table.on_join(player, response.at, is_certain=is_certain)

    def _check_registration(self, request: ObservedRequest, response: ObservedResponse) -> Iterator[Departure]:
        if response.status != 201:
            yield Departure(HOUSE, Violation("holdem-2.2", f"the status {response.status}", "201"))
        try:
            found = read_guid(response.body)
        except Violation as violation:
            yield Departure(HOUSE, violation)
            return
        if self.dialect == "readme" and response.body.strip() != f'"{found}"'.encode():
            allowed = "a GUID as a JSON string"
            yield Departure(HOUSE, Violation("holdem-2.2", repr(response.body[:80]), allowed), is_tolerated=True)
        self.tables.set_guid(request.user, found)

    def _check_view(self, pending: HoldemPending, response: ObservedResponse) -> Iterator[Departure]:
        request = pending.request
        segments = request.path_segments
        if segments not in (["games"], ["games", *segments[1:2]]):
            return
        parsed = (parse_games if segments == ["games"] else parse_game)(response.body, self.dialect)
        yield from map(_schema_departure, parsed.errors)
        if not parsed.games and parsed.errors:
            self.tables.on_unread_games()
        if "date" in response.headers:
            date = server_time(ReceivedResponse(response.status, response.headers, b""))
            self._start = date - timedelta(seconds=response.at)
        viewer = self._viewer_of(request.user)
        for game in parsed.games:
            table = pending.game or self.tables.table(game.game_id)
            left = self._seconds_left(game, response.at)
            table.shown_turns.on_view(game, viewer, response.at)
            is_certain = pending.is_certain or (pending.has_overlapped_joins and table.is_after_joins(game))
            found = table.on_view(game, viewer, request.at, response.at, left, is_certain=is_certain)
            yield from map(self._house_departure, found)
            if not found and (contradictory := contradiction(game)):
                yield self._house_departure(contradictory)

    def _house_departure(self, violation: Violation) -> Departure:
        """A violation that the referee has found, with the names of the players in place of their GUIDs."""
        found, allowed = map(self.tables.with_names, (violation.found, violation.allowed))
        is_tolerated = default_outcome(violation.clause) is not Outcome.FAIL
        return Departure(HOUSE, violation.replace(found=found, allowed=allowed), is_tolerated)

    def _seconds_left(self, game: Game, now: float) -> float | None:
        """Return the seconds left of a turn by the server's clock, None if unknown."""
        return None if self._start is None else seconds_left(game.turn.expiry, self._start + timedelta(seconds=now))

    def _viewer_of(self, user: str) -> Guid | None:
        return "" if user == NOBODY else self.tables.guid_of(user)


def summarise_games(response: ObservedResponse | StreamPart, dialect: Dialect) -> str:
    """Return a short description of the tables in a response, "" if it shows none."""
    request = response.request
    if request is None or request.method != "GET":
        return ""
    if isinstance(response, ObservedResponse) and response.status != 200:
        return ""
    match request.path_segments:
        case ["games"]:
            games = parse_games(response.body, dialect).games
            return "; ".join([f" {format_count(len(games), 'game')}", *map(_summarise_game, games[:3])])
        case ["games", _] | ["games", _, "events"]:
            return "".join(f" {_summarise_game(game)}" for game in parse_game(response.body, dialect).games[:1])
    return ""


def _summarise_game(game: Game) -> str:
    """Describe a table in one line."""
    names = {each.player_id: each.handle or each.player_id for each in game.table}
    player_list = ", ".join(
        f"{names[each.player_id]} {each.wealth}+{each.bet_so_far} {each.state}" for each in game.table
    )
    parts = [player_list or "nobody sits", *([f"hole {' '.join(game.cards.hole)}"] if game.cards.hole else [])]
    parts += [f"board {' '.join(game.cards.board)}"] if game.cards.board else []
    parts += [f"pots {'+'.join(str(pot.size) for pot in game.pots)}"] if game.pots else []
    turn = game.turn
    parts.append(f"turn of {names.get(turn.player_id, turn.player_id)}" if turn.player_id else "nobody's turn")
    return "; ".join(parts)


def _client_departure(deviation: HttpDeviation, user: str) -> Departure:
    """A deviation of a user's client; it is tolerated where a house that refuses it may itself be wrong."""
    is_fault = deviation.outcome is Outcome.FAIL and deviation.clause in EXPECTED_REQUESTS
    violation = Violation(deviation.clause, deviation.actual, deviation.expected, about=user)
    return Departure(CLIENT, violation, is_tolerated=not is_fault)


def _schema_departure(error: HttpDeviation) -> Departure:
    """A deviation in form; it is tolerated unless the document rules it out."""
    violation = Violation(error.clause, error.actual, error.expected, about=error.about)
    return Departure(HOUSE, violation, is_tolerated=error.outcome is not Outcome.FAIL)
