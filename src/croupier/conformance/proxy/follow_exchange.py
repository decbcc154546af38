"""Judges pairs of hold'em requests and responses, and updates the followed tables."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from croupier.conformance.channel.http import ReceivedResponse
from croupier.conformance.holdem.deviations import default_outcome
from croupier.conformance.holdem.handwritten import server_time
from croupier.conformance.holdem.request_checks import CLAUSE_PATTERN, EXCUSABLE_CLAUSES, EXPECTED_REQUESTS
from croupier.conformance.holdem.schema import SchemaError, parse_game, parse_games, seconds_left
from croupier.conformance.proxy.follow_tables import FollowedTable, FollowedTables, RequestTraffic
from croupier.conformance.proxy.http_reader import NOBODY, ObservedRequest, ObservedResponse, StreamPart
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer
from croupier.http.routes import parse_command
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import (
    DECODE_ACT_BODY,
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

type SideViolation = tuple[Peer, Violation]
"""The side at fault, and its violation."""

type ReportTolerated = Callable[[Peer, Violation], None]
"""Called with each tolerated violation."""

RACE_CLAUSES: Final = frozenset({"holdem-3.7", "holdem-4.13", "holdem-4.14", "holdem-7.4", "holdem-8.4", "holdem-8.5"})
"""Clauses by which a client may be refused because its last view is outdated."""

SUCCESS_STATUSES: Final = {"readme": {Join: (201, 202), Open: (201,), Act: (201,), Leave: (200,)}}
SUCCESS_STATUSES["hspe-go"] = {**SUCCESS_STATUSES["readme"], Join: (202,), Open: (201, 202)}
"""The statuses of success by dialect and request."""

SUCCESS_CLAUSES: Final = {Open: "holdem-3.3", Join: "holdem-3.5", Act: "holdem-4.1", Leave: "holdem-3.10"}
"""The clause that defines the status of success."""


class PendingRequest:
    """A request without a response yet; `table` is the table it is about, if any."""

    def __init__(
        self,
        observed: ObservedRequest,
        request: HoldemRequest | RequestRefused | None,
        table: FollowedTable | None,
        room_traffic: RequestTraffic,
    ) -> None:
        self.observed = observed
        self.request = request
        self.table = table
        self._is_change = isinstance(request, Open | Join | Act | Leave)
        self._traffics = [room_traffic, *([] if table is None else [table.traffic])]
        self._tickets = [traffic.begin(is_change=self._is_change) for traffic in self._traffics]
        self._is_open = True
        if table is not None and isinstance(request, Act):
            table.has_no_acts = False

    def close(self) -> bool:
        """Close the request; return whether no other request overlapped that matters to it."""
        assert self._is_open, "a request is closed once"
        self._is_open = False
        is_certain = [
            traffic.finish(ticket, is_change=self._is_change)
            for traffic, ticket in zip(self._traffics, self._tickets, strict=True)
        ]
        return is_certain[-1]

    def abandon(self) -> None:
        """Close the request without a response: whether it was executed is unknown."""
        if self._is_open:
            self.close()
            if self.table is not None and self._is_change:
                self.table.stop_following()


class ExchangeChecker:
    """The requests and responses of all connections to one house."""

    def __init__(self, dialect: Dialect = "readme") -> None:
        self.dialect = dialect
        self.tables = FollowedTables()
        self._start: datetime | None = None  # the server time at our time 0

    def on_request(self, observed: ObservedRequest) -> PendingRequest:
        """Record a forwarded request."""
        segments = observed.path_segments
        request: HoldemRequest | RequestRefused | None = None
        if observed.method in {"POST", "DELETE"} and segments != ["users"]:
            request = parse_command(observed.method, observed.path.partition("?")[0], observed.user, observed.body)
        at_table = segments[0] == "games" and len(segments) > 1 and not isinstance(request, Open)
        table = self.tables.table(segments[1]) if at_table else None
        return PendingRequest(observed, request, table, self.tables.traffic)

    def on_response(
        self, pending: PendingRequest, response: ObservedResponse, report_tolerated: ReportTolerated
    ) -> Iterator[SideViolation]:
        """Judge a response and its request; yield violations. Tolerated ones go to `report_tolerated`."""
        is_certain = pending.close()
        observed, status = pending.observed, response.status
        yield from self._check_request(pending, response, report_tolerated)
        if status >= 500 and status != 503:
            yield HOUSE, Violation("holdem-8.2", f"the status {status}", "an answer")
        match pending.request:
            case Act() as act if pending.table is not None:
                yield from self._check_act(
                    pending.table, act, observed, response, report_tolerated, is_certain=is_certain
                )
            case Join() | Leave() | Open() as request if 200 <= status < 300:
                yield from self._check_join_or_leave(pending.table, request, response, is_certain=is_certain)
            case None if observed.method == "POST" and observed.path_segments == ["users"] and 200 <= status < 300:
                yield from self._check_registration(observed, response, report_tolerated)
            case None if observed.method == "GET" and status == 200:
                yield from self._check_view(pending, response, report_tolerated, is_certain=is_certain)
        if isinstance(pending.request, Open | Join | Act | Leave) and 200 <= status < 300:
            good = SUCCESS_STATUSES[self.dialect][type(pending.request)]
            if status not in good:
                yield HOUSE, Violation(SUCCESS_CLAUSES[type(pending.request)], f"the status {status}", f"{good[0]}")

    def on_stream_part(
        self, pending: PendingRequest, part: StreamPart, report_tolerated: ReportTolerated
    ) -> Iterator[SideViolation]:
        """Judge a part of an event stream, which shows an earlier state of a table."""
        parsed = parse_game(part.body, self.dialect)
        yield from _report_schema_errors(parsed.errors, report_tolerated)
        if parsed.games and pending.table is not None:
            viewer = self._viewer_of(pending.observed.user)
            game = parsed.games[0]
            pending.table.on_view(game, viewer, part.at, part.at, self._seconds_left(game, part.at), is_certain=False)

    # Clients.

    def _check_request(
        self, pending: PendingRequest, response: ObservedResponse, report_tolerated: ReportTolerated
    ) -> Iterator[SideViolation]:
        request, observed = pending.request, pending.observed
        if isinstance(request, Act) and response.status < 300 and not _is_usual_act(observed.body):
            report_tolerated(
                CLIENT,
                Violation("holdem-4.2", repr(observed.body[:80]), "the keys action and betAmount, and no others"),
            )
        if not 400 <= response.status < 500:
            return
        if isinstance(request, RequestRefused):
            clause = request.clause
        elif match := CLAUSE_PATTERN.match(response.body[:100].decode(errors="replace")):
            clause = match[0]
        elif request is not None and observed.user in {NOBODY, "?"}:
            clause = "holdem-2.7"
        else:
            return
        if clause in EXCUSABLE_CLAUSES or clause in RACE_CLAUSES:
            return
        found = f"{observed.method} {observed.path[:80]}, which is {response.status}"
        violation = Violation(clause, found, EXPECTED_REQUESTS.get(clause, "a request that is not refused"))
        if clause not in EXPECTED_REQUESTS or (clause != "holdem-8.6" and default_outcome(clause) is not Outcome.FAIL):
            report_tolerated(CLIENT, violation)
        else:
            yield CLIENT, violation

    # Houses.

    def _check_act(
        self,
        table: FollowedTable,
        act: Act,
        observed: ObservedRequest,
        response: ObservedResponse,
        report_tolerated: ReportTolerated,
        *,
        is_certain: bool,
    ) -> Iterator[SideViolation]:
        is_done = response.status < 300
        if is_done and (clause := table.invalid_bet_clause(act) if is_certain else None):
            yield CLIENT, Violation(clause, f"a bet of {act.amount}", "a valid bet")
        elif is_done and (reason := response.headers.get("x-fold-reason", "")):
            yield CLIENT, Violation("holdem-4.7", reason[:200], "a valid bet")
        if response.status in {401, 429} or response.status >= 500 or act.player != self.tables.guid_of(act.user):
            if is_done:
                table.stop_following()
            return
        for violation in table.on_act(act, response.status, observed.at, response.at, is_certain=is_certain):
            yield from _report_violation(violation, report_tolerated)

    def _check_join_or_leave(
        self, table: FollowedTable | None, request: Open | Join | Leave, response: ObservedResponse, *, is_certain: bool
    ) -> Iterator[SideViolation]:
        if isinstance(request, Leave):
            if table is not None:
                table.on_leave(request.player, response.at, is_certain=is_certain)
            return
        player = self.tables.guid_of(request.user)
        if self.dialect == "readme":
            try:
                player = read_guid(response.body)
            except Violation as violation:
                yield HOUSE, Violation(SUCCESS_CLAUSES[type(request)], violation.found, violation.allowed)
                return
            self.tables.set_guid(request.user, player)
        if isinstance(request, Open):
            game = response.headers.get("location", "").rstrip("/").rpartition("/")[2]
            table = self.tables.add_open_table(game) if game else None
            is_certain = True
        if table is None:
            return
        if player is None or (self.dialect == "readme" and response.status == 202):
            table.stop_following()
        else:
            table.on_join(player, response.at, is_certain=is_certain)

    def _check_registration(
        self, observed: ObservedRequest, response: ObservedResponse, report_tolerated: ReportTolerated
    ) -> Iterator[SideViolation]:
        if response.status != 201:
            yield HOUSE, Violation("holdem-2.2", f"the status {response.status}", "201")
        try:
            found = read_guid(response.body)
        except Violation as violation:
            yield HOUSE, violation
            return
        if self.dialect == "readme" and response.body.strip() != f'"{found}"'.encode():
            report_tolerated(HOUSE, Violation("holdem-2.2", repr(response.body[:80]), "a GUID as a JSON string"))
        self.tables.set_guid(observed.user, found)

    def _check_view(
        self,
        pending: PendingRequest,
        response: ObservedResponse,
        report_tolerated: ReportTolerated,
        *,
        is_certain: bool,
    ) -> Iterator[SideViolation]:
        segments = pending.observed.path_segments
        if segments not in (["games"], ["games", *segments[1:2]]):
            return
        parsed = (parse_games if segments == ["games"] else parse_game)(response.body, self.dialect)
        yield from _report_schema_errors(parsed.errors, report_tolerated)
        if "date" in response.headers:
            self._start = server_time(ReceivedResponse(response.status, response.headers, b"")) - timedelta(
                seconds=response.at
            )
        viewer = self._viewer_of(pending.observed.user)
        for game in parsed.games:
            table = pending.table or self.tables.table(game.game_id)
            left = self._seconds_left(game, response.at)
            for violation in table.on_view(game, viewer, pending.observed.at, response.at, left, is_certain=is_certain):
                yield from _report_violation(violation, report_tolerated)

    def _seconds_left(self, game: Game, now: float) -> float | None:
        """Return the seconds left of a turn by the server's clock, None if unknown."""
        return None if self._start is None else seconds_left(game.turn.expiry, self._start + timedelta(seconds=now))

    def _viewer_of(self, user: str) -> Guid | None:
        return "" if user == NOBODY else self.tables.guid_of(user)


def summarise_games(response: ObservedResponse | StreamPart, dialect: Dialect) -> str:
    """Return a short description of the tables in a response, "" if it shows none."""
    observed = response.request
    if (
        observed is None
        or observed.method != "GET"
        or (isinstance(response, ObservedResponse) and response.status != 200)
    ):
        return ""
    segments = observed.path_segments
    if segments == ["games"]:
        games = parse_games(response.body, dialect).games
        return f" {len(games)} game{'' if len(games) == 1 else 's'}" + "".join(
            f"; {_summarise_game(game)}" for game in games[:3]
        )
    if segments in (["games", *segments[1:2]], ["games", *segments[1:2], "events"]):
        games = parse_game(response.body, dialect).games
        return f" {_summarise_game(games[0])}" if games else ""
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


def _is_usual_act(body: bytes) -> bool:
    try:
        DECODE_ACT_BODY(body)
    except ValueError:
        return False
    return True


def _report_schema_errors(errors: Sequence[SchemaError], report_tolerated: ReportTolerated) -> Iterator[SideViolation]:
    """Yield deviations in form that the document rules out; report the others as tolerated."""
    for error in errors:
        violation = Violation(error.clause, error.actual, error.expected)
        if (error.outcome or default_outcome(error.clause)) is Outcome.FAIL:
            yield HOUSE, violation
        else:
            report_tolerated(HOUSE, violation)


def _report_violation(violation: Violation, report_tolerated: ReportTolerated) -> Iterator[SideViolation]:
    """Yield a violation found by the referee, or report it as tolerated."""
    if default_outcome(violation.clause) is Outcome.FAIL:
        yield HOUSE, violation
    else:
        report_tolerated(HOUSE, violation)
