"""What a request of hold'em and its answer show of both ends: what is wrong with either, and what a table is told."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from croupier.conformance.holdem.handwritten import now_there
from croupier.conformance.holdem.judging import CLAUSE, NATURAL, TOLD
from croupier.conformance.holdem.requests import Answer
from croupier.conformance.holdem.schema import Slip, every, one, seconds_left
from croupier.conformance.holdem.tolerated import gravity
from croupier.conformance.proxy.follow_tables import Table, Tables, Traffic
from croupier.conformance.proxy.http_reader import NOBODY, Answered, Asked, Part
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer
from croupier.rooms.holdem.observed.state_reader import read_guid
from croupier.rooms.holdem.wire import USUAL, Act, Dialect, Game, Guid, Join, Leave, Open, Refused, Request, parse

type Found = tuple[Peer, Violation]
"""Who is wrong, and with what."""

type Depart = Callable[[Peer, Violation], None]
"""What is told of everything that is tolerated."""

RACES: Final = frozenset({"holdem-3.7", "holdem-4.13", "holdem-4.14", "holdem-7.4", "holdem-8.4", "holdem-8.5"})
"""With these a client is refused that has seen what was so a moment ago: it need not be wrong."""

GOOD: Final = {"readme": {Join: (201, 202), Open: (201,), Act: (201,), Leave: (200,)}}
GOOD["hspe-go"] = {**GOOD["readme"], Join: (202,), Open: (201, 202)}
"""With which statuses what is asked is done."""

MADE: Final = {Open: "holdem-3.3", Join: "holdem-3.5", Act: "holdem-4.1", Leave: "holdem-3.10"}
"""The clause that has the status of what is done."""


class Pending:
    """A request that is on its way, to a `table` if it is about one."""

    def __init__(
        self, asked: Asked, request: Request | Refused | None, table: Table | None, everywhere: Traffic
    ) -> None:
        self.asked = asked
        self.request = request
        self.table = table
        self._changes = isinstance(request, Open | Join | Act | Leave)
        self._ways = [everywhere, *([] if table is None else [table.traffic])]
        self._seen = [way.asks(change=self._changes) for way in self._ways]
        self._open = True
        if table is not None and isinstance(request, Act):
            table.untouched = False

    def close(self) -> bool:
        """It is answered, or will not be any more: whether nothing else was asked meanwhile that matters to it."""
        assert self._open, "a request is answered once"
        self._open = False
        sure = [way.answered(seen, change=self._changes) for way, seen in zip(self._ways, self._seen, strict=True)]
        return sure[-1]

    def break_off(self) -> None:
        """Nobody knows whether it was heard."""
        if self._open:
            self.close()
            if self.table is not None and self._changes:
                self.table.lost()


class Exchanges:
    """The requests and answers of all connections to one house, which speaks a dialect."""

    def __init__(self, dialect: Dialect = "readme") -> None:
        self.dialect = dialect
        self.tables = Tables()
        self._start: datetime | None = None  # what the time of the house was when ours was 0

    def asked(self, asked: Asked) -> Pending:
        """A request is passed on."""
        steps = asked.steps
        request: Request | Refused | None = None
        if asked.method in {"POST", "DELETE"} and steps != ["users"]:
            request = parse(asked.method, asked.path.partition("?")[0], asked.user, asked.body, self.dialect)
        at_table = steps[0] == "games" and len(steps) > 1 and not isinstance(request, Open)
        table = self.tables.table(steps[1]) if at_table else None
        return Pending(asked, request, table, self.tables.traffic)

    def answered(self, pending: Pending, answer: Answered, depart: Depart) -> Iterator[Found]:
        """It is answered: what is wrong, and with whom. Tolerances are told to `depart`."""
        sure = pending.close()
        asked, status = pending.asked, answer.status
        yield from self._asked_wrong(pending, answer, depart)
        if status >= 500 and status != 503:
            yield HOUSE, Violation("holdem-8.2", f"the status {status}", "an answer")
        match pending.request:
            case Act() as act if pending.table is not None:
                yield from self._acted(pending.table, act, asked, answer, depart, sure=sure)
            case Join() | Leave() | Open() as request if 200 <= status < 300:
                yield from self._came_or_went(pending.table, request, answer, sure=sure)
            case None if asked.method == "POST" and asked.steps == ["users"] and 200 <= status < 300:
                yield from self._enrolled(asked, answer, depart)
            case None if asked.method == "GET" and status == 200:
                yield from self._looked(pending, answer, depart, sure=sure)
        if isinstance(pending.request, Open | Join | Act | Leave) and 200 <= status < 300:
            good = GOOD[self.dialect][type(pending.request)]
            if status not in good:
                yield HOUSE, Violation(MADE[type(pending.request)], f"the status {status}", f"{good[0]}")

    def went_on(self, pending: Pending, part: Part, depart: Depart) -> Iterator[Found]:
        """A part of a stream shows a table as it was a moment ago."""
        shown = one(part.body, self.dialect)
        yield from _slips(shown.slips, depart)
        if shown.games and pending.table is not None:
            viewer = self._viewer(pending.asked.user)
            game = shown.games[0]
            pending.table.saw(game, viewer, part.at, part.at, self._left(game, part.at), sure=False)

    # What is wrong with a client.

    def _asked_wrong(self, pending: Pending, answer: Answered, depart: Depart) -> Iterator[Found]:
        request, asked = pending.request, pending.asked
        if isinstance(request, Act) and answer.status < 300 and not _is_usual(asked.body):
            depart(
                CLIENT, Violation("holdem-4.2", repr(asked.body[:80]), "the keys action and betAmount, and no others")
            )
        if not 400 <= answer.status < 500:
            return
        if isinstance(request, Refused):
            clause = request.clause
        elif match := CLAUSE.match(answer.body[:100].decode(errors="replace")):
            clause = match[0]
        elif request is not None and asked.user in {NOBODY, "?"}:
            clause = "holdem-2.7"
        else:
            return
        if clause in NATURAL or clause in RACES:
            return
        found = f"{asked.method} {asked.path[:80]}, which is {answer.status}"
        violation = Violation(clause, found, TOLD.get(clause, "a request that is not refused"))
        if clause not in TOLD or (clause != "holdem-8.6" and gravity(clause) is not Outcome.FAIL):
            depart(CLIENT, violation)
        else:
            yield CLIENT, violation

    # What is wrong with a house, and what it tells of its tables.

    def _acted(
        self,
        table: Table,
        act: Act,
        asked: Asked,
        answer: Answered,
        depart: Depart,
        *,
        sure: bool,
    ) -> Iterator[Found]:
        done = answer.status < 300
        if done and (clause := table.invalid(act) if sure else ""):
            yield CLIENT, Violation(clause, f"a bet of {act.amount}", "a valid bet")
        elif done and (reason := answer.headers.get("x-fold-reason", "")):
            yield CLIENT, Violation("holdem-4.7", reason[:200], "a valid bet")
        if answer.status in {401, 429} or answer.status >= 500 or act.player != self.tables.guid(act.user):
            if done:
                table.lost()
            return
        for violation in table.acted(act, answer.status, asked.at, answer.at, sure=sure):
            yield from _told(violation, depart)

    def _came_or_went(
        self, table: Table | None, request: Open | Join | Leave, answer: Answered, *, sure: bool
    ) -> Iterator[Found]:
        if isinstance(request, Leave):
            if table is not None:
                table.left(request.player, answer.at, sure=sure)
            return
        player = self.tables.guid(request.user)
        if self.dialect == "readme":
            try:
                player = read_guid(answer.body)
            except Violation as violation:
                yield HOUSE, Violation(MADE[type(request)], violation.found, violation.allowed)
                return
            self.tables.is_called(request.user, player)
        if isinstance(request, Open):
            game = answer.headers.get("location", "").rstrip("/").rpartition("/")[2]
            table = self.tables.opened(game) if game else None
            sure = True
        if table is None:
            return
        if player is None or (self.dialect == "readme" and answer.status == 202):
            table.lost()
        else:
            table.joined(player, answer.at, sure=sure)

    def _enrolled(self, asked: Asked, answer: Answered, depart: Depart) -> Iterator[Found]:
        if answer.status != 201:
            yield HOUSE, Violation("holdem-2.2", f"the status {answer.status}", "201")
        try:
            found = read_guid(answer.body)
        except Violation as violation:
            yield HOUSE, violation
            return
        if self.dialect == "readme" and answer.body.strip() != f'"{found}"'.encode():
            depart(HOUSE, Violation("holdem-2.2", repr(answer.body[:80]), "a GUID as a JSON string"))
        self.tables.is_called(asked.user, found)

    def _looked(self, pending: Pending, answer: Answered, depart: Depart, *, sure: bool) -> Iterator[Found]:
        steps = pending.asked.steps
        if steps not in (["games"], ["games", *steps[1:2]]):
            return
        shown = (every if steps == ["games"] else one)(answer.body, self.dialect)
        yield from _slips(shown.slips, depart)
        if "date" in answer.headers:
            self._start = now_there(Answer(answer.status, answer.headers, b"")) - timedelta(seconds=answer.at)
        viewer = self._viewer(pending.asked.user)
        for game in shown.games:
            table = pending.table or self.tables.table(game.game_id)
            left = self._left(game, answer.at)
            for violation in table.saw(game, viewer, pending.asked.at, answer.at, left, sure=sure):
                yield from _told(violation, depart)

    def _left(self, game: Game, now: float) -> float | None:
        """How many seconds are left of a turn, by the time of the house; None where that is not known."""
        return None if self._start is None else seconds_left(game.turn.expiry, self._start + timedelta(seconds=now))

    def _viewer(self, user: str) -> Guid | None:
        return "" if user == NOBODY else self.tables.guid(user)


def shown(answer: Answered | Part, dialect: Dialect) -> str:
    """What an answer shows of a table, in short; "" where it shows none."""
    asked = answer.request
    if asked is None or asked.method != "GET" or (isinstance(answer, Answered) and answer.status != 200):
        return ""
    steps = asked.steps
    if steps == ["games"]:
        games = every(answer.body, dialect).games
        return f" {len(games)} game{'' if len(games) == 1 else 's'}" + "".join(f"; {_game(game)}" for game in games[:3])
    if steps in (["games", *steps[1:2]], ["games", *steps[1:2], "events"]):
        games = one(answer.body, dialect).games
        return f" {_game(games[0])}" if games else ""
    return ""


def _game(game: Game) -> str:
    """A table in a line."""
    names = {each.player_id: each.handle or each.player_id for each in game.table}
    told = ", ".join(f"{names[each.player_id]} {each.wealth}+{each.bet_so_far} {each.state}" for each in game.table)
    cards = [name for part in (game.cards.flop, game.cards.turn, game.cards.river) for name in part or ()]
    parts = [told or "nobody sits", *([f"hole {' '.join(game.cards.hole)}"] if game.cards.hole else [])]
    parts += [f"board {' '.join(cards)}"] if cards else []
    parts += [f"pots {'+'.join(str(pot.size) for pot in game.pots)}"] if game.pots else []
    turn = game.turn
    parts.append(f"turn of {names.get(turn.player_id, turn.player_id)}" if turn.player_id else "nobody's turn")
    return "; ".join(parts)


def _is_usual(body: bytes) -> bool:
    try:
        USUAL(body)
    except ValueError:
        return False
    return True


def _slips(slips: Sequence[Slip], depart: Depart) -> Iterator[Found]:
    """Departures in form: those that the document does not leave open are wrong."""
    for slip in slips:
        violation = Violation(slip.clause, slip.actual, slip.expected)
        if (slip.outcome or gravity(slip.clause)) is Outcome.FAIL:
            yield HOUSE, violation
        else:
            depart(HOUSE, violation)


def _told(violation: Violation, depart: Depart) -> Iterator[Found]:
    """What a referee has found."""
    if gravity(violation.clause) is Outcome.FAIL:
        yield HOUSE, violation
    else:
        depart(HOUSE, violation)
