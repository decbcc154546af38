"""Walks: users play whole games by legal and illegal acts, come and go, and a referee follows every hand."""

import asyncio
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from random import Random
from time import monotonic
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, NotReached
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.http_client import ReceivedResponse
from croupier.conformance.holdem.shrink import DeviationTrace, shrink
from croupier.conformance.holdem.steps import WalkStep, random_step, resolve_amount
from croupier.conformance.results import Outcome
from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.referee import Referee
from croupier.rooms.holdem.wire import ACTION_BET, Game

WALK_CLAUSES: Final[Mapping[str, str]] = {
    "holdem-2.2": "Every user is told a GUID",
    "holdem-3.5": "Who joins plays from the beginning of the next hand",
    "holdem-3.10": "Who leaves is no more at the table",
    "holdem-3.11": "What somebody has bet who leaves stays in the pots",
    "holdem-3.13": "Who is broke leaves the game",
    "holdem-4.1": "Every valid act is accepted",
    "holdem-4.4": "An act that is none changes nothing",
    "holdem-4.5": "A bet adds what it says",
    "holdem-4.6": "Everybody may fold in his turn",
    "holdem-4.7": "Every invalid bet folds the hand",
    "holdem-4.8": "No bet is below nothing",
    "holdem-4.9": "No bet is above the wealth",
    "holdem-4.10": "No bet is below the call",
    "holdem-4.11": "No raise is below the smallest",
    "holdem-4.13": "Nobody acts out of turn",
    "holdem-5.3": "A Game has its keys and types in all games",
    "holdem-5.4": "Every card is written as it should be",
    "holdem-5.5": "The cards of every street are there in time",
    "holdem-5.6": "Nobody is shown what is not his",
    "holdem-5.7": "A Player has its keys and types in all games",
    "holdem-5.8": "The table lists those who play",
    "holdem-5.9": "Every state is what it should be",
    "holdem-5.10": "Every turn tells what has to be matched",
    "holdem-5.11": "Every turn tells when it ends",
    "holdem-5.13": "Every pot names who has paid into it",
    "holdem-5.14": "Who has folded is still named in the pots",
    "holdem-5.15": "There are as many pots as are needed",
    "holdem-5.17": "No chip is made or lost",
    "holdem-6.1": "No card is dealt twice",
    "holdem-6.2": "The button moves on",
    "holdem-6.3": "Both blinds are posted in every hand",
    "holdem-6.4": "Of two, the button acts first before the flop and last after it",
    "holdem-6.5": "The board grows and never changes",
    "holdem-6.6": "The first to act is the right one",
    "holdem-6.7": "A round is over when all have acted and bet the same",
    "holdem-6.8": "The smallest raise is that of the last full one",
    "holdem-6.12": "Side pots are what they should be",
    "holdem-6.13": "Who is left alone wins everything",
    "holdem-6.14": "The best hand wins",
    "holdem-6.15": "Equal hands share",
}
"""The clauses that walks speak about, and a title for each."""

FORM_CLAUSES: Final = frozenset(
    {"holdem-2.2", "holdem-3.10", "holdem-5.3", "holdem-5.4", "holdem-5.5", "holdem-5.7", "holdem-5.11", "holdem-4.4"}
)
"""Clauses about form: every look judges them."""

WALK_SIZES: Final = (2, 2, 3, 3, 4, 5, 6, 2, 3, 4)
"""How many users play in each walk."""

MAX_ACTS: Final = 45
"""So many acts are tried in a walk."""

MAX_WALK_SECONDS: Final = 8.0
"""After so many seconds no further walk is begun: a slow server is walked less."""

MAX_SHRINK_SECONDS: Final = 2.0
MAX_TOTAL_SHRINK_SECONDS: Final = 10.0
"""A walk is made shorter for so many seconds; all of them, for so many."""

POLL_INTERVAL_SECONDS: Final = 0.05
MAX_POLLS: Final = 60
"""Between hands a server may pause: it is looked so often, so many seconds apart."""

ROLES: Final = ("ann", "bob", "cid", "dan", "eve", "fay")


class WalkRunner:
    """All walks of a run; they are walked, one after another, until there is something to tell about a clause."""

    def __init__(self, server: ServerUnderTest, luck: Random, timeout: float) -> None:
        self._server = server
        self._luck = luck
        self._timeout = timeout
        self._sizes_left = iter(WALK_SIZES)
        self._walk_seconds_left = MAX_WALK_SECONDS
        self._shrink_seconds_left = MAX_TOTAL_SHRINK_SECONDS
        self._traces_by_clause: defaultdict[str, list[DeviationTrace]] = defaultdict(list)
        self._shortest_traces: dict[
            tuple[str, Outcome], DeviationTrace
        ] = {}  # what was found while others were made shorter
        self._judged_counts: Counter[str] = Counter()
        self._skip_reason = "it has not come up in any hand"

    async def find_traces(self, clause: str) -> tuple[Sequence[DeviationTrace], str]:
        """What departed from a clause in the first walk in which anything did, or why nothing is known of it."""
        while not self._traces_by_clause[clause] and self._walk_seconds_left > 0:
            players = next(self._sizes_left, 0)
            if not players:
                break
            began = monotonic()
            await self._walk(players)
            self._walk_seconds_left -= monotonic() - began
        found = self._traces_by_clause[clause]
        return found, "" if self._judged_counts[clause] else self._skip_reason

    async def shrink(self, trace: DeviationTrace) -> DeviationTrace:
        """The same departure behind as few steps as can be found in a while; of all walks, that takes a few moments."""
        began = monotonic()
        known = self._shortest_traces.get((trace.deviation.clause, trace.deviation.outcome), trace)
        best = await shrink(known, self._rerun, min(MAX_SHRINK_SECONDS, self._shrink_seconds_left))
        self._shrink_seconds_left -= monotonic() - began
        return best

    async def _walk(self, players: int) -> None:
        """One walk, and what came of it."""
        walk = Walk(HoldemContext(self._server), Random(self._luck.random()), players)  # noqa: S311 -- it has to be repeatable
        why = await self._run_walk(walk)
        if walk.context.turn_may_have_expired:
            self._skip_reason = "its answers take so long that turns may have ended by themselves"
            return
        self._skip_reason = why or self._skip_reason
        self._judged_counts.update(walk.judged_counts())
        for clause, traces in groupby(sorted(walk.traces(), key=_clause), _clause):
            self._traces_by_clause[clause] = self._traces_by_clause[clause] or [*traces]

    async def _rerun(self, players: int, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        """What departs in a game of so many that takes these steps."""
        walk = Walk(HoldemContext(self._server), Random(0), players, steps)  # noqa: S311 -- nothing is left to it
        await self._run_walk(walk)
        traces = () if walk.context.turn_may_have_expired else walk.traces()
        for trace in traces:  # what shows another fault as well need not be looked for again
            key = trace.deviation.clause, trace.deviation.outcome
            if key not in self._shortest_traces or len(trace.steps) < len(self._shortest_traces[key].steps):
                self._shortest_traces[key] = trace
        return traces

    async def _run_walk(self, walk: "Walk") -> str:
        """Walk; why that was not possible, if it was not."""
        try:
            async with asyncio.timeout(max(1.0, self._timeout)):
                await walk.play()
        except NotReached as unshown:
            return str(unshown)
        except (CaseAborted, TimeoutError, OSError):
            pass
        finally:
            with suppress(CaseAborted, OSError):
                await walk.context.close()
        return ""


class Walk:
    """One walk of so many users at a game of their own: at random, or by a script of steps."""

    def __init__(
        self, context: HoldemContext, luck: Random, players: int, script: Sequence[WalkStep] | None = None
    ) -> None:
        self.context = context
        self.steps: list[WalkStep] = []
        self.step_starts: list[int] = []  # how many lines there were before each step
        self._script = script
        self._luck = luck
        self._roles = ROLES[:players]
        self._referee = Referee(context.server.blinds, context.server.stack)
        self._game = ""
        self._hands = 0

    def judged_counts(self) -> Counter[str]:
        """How often each clause was looked at."""
        looks = Counter(dict.fromkeys(FORM_CLAUSES, 1)) if self._referee.hand_count else Counter()
        return self._referee.clause_counts + looks

    def traces(self) -> Sequence[DeviationTrace]:
        """What has departed, and behind which steps."""
        lines, players = self.context.lines, len(self._roles)
        return [
            DeviationTrace(
                one, lines[: one.line_count], players, self.steps[: bisect_left(self.step_starts, one.line_count)]
            )
            for one in self.context.deviations
        ]

    async def play(self) -> None:
        """Play until enough has been tried, or something is wrong by which the hand cannot be followed."""
        visit = self.context
        await visit.register(*self._roles)
        self._game = await visit.seat(*self._roles[:2])
        for role in self._roles[:2]:
            self._referee.player_joined(visit.player_id(role, self._game))
        await self._look()
        for role in self._roles[2:]:
            await self._join(role)
        for number in range(MAX_ACTS if self._script is None else len(self._script)):
            if self._referee.is_lost or not await self._ready():
                return
            self.steps.append(self._random_step() if self._script is None else self._script[number])
            self.step_starts.append(len(visit.lines))
            await self._take_step(self.steps[-1])
        if self._script is not None and not self._referee.is_lost and await self._ready():
            for role in self._roles_in_hand():
                await self._look(role)

    # Looking.

    async def _look(self, role: str = NOBODY) -> Game:
        visit = self.context
        game = await visit.get_game(role, self._game)
        viewer = "" if role == NOBODY else visit.player_id(role, self._game)
        for violation in self._referee.observe(game, viewer):
            self._add_violation(violation)
        return game

    def _add_violation(self, violation: Violation) -> None:
        outcome = None
        if (violation.clause, violation.found.partition(" ")[0]) == ("holdem-5.15", "an") or (
            violation.clause == "holdem-5.8" and violation.found.endswith("at the table")
        ):
            outcome = Outcome.CHOICE
        self.context.add_deviation(violation.clause, violation.allowed, violation.found, outcome)

    async def _ready(self) -> bool:
        """Wait until it is somebody's turn. Everybody looks at his cards when a hand has begun."""
        for _ in range(MAX_POLLS):
            if self._referee.player_to_act():  # it has been looked at behind whatever was done last
                break
            shown = await self._look()
            if self._referee.is_lost:
                return False
            if self._referee.player_to_act():
                break
            if not shown.turn.player_id and len(shown.table) < 2:
                await self._reseat()
            if not self._referee.player_to_act():
                await asyncio.sleep(POLL_INTERVAL_SECONDS)
        else:
            self._add_violation(Violation("holdem-6.1", "no hand", "one: more than two players sit at the table"))
            return False
        if self._hands != self._referee.hand_count:
            self._hands = self._referee.hand_count
            await self._reseat()
            for role in self._roles_in_hand():
                await self._look(role)
        return not self._referee.is_lost

    async def _reseat(self) -> None:
        """Who is not at the table any more comes back."""
        sits = {place.role for place in self.context.joined_seats if place.game == self._game}
        shown = await self.context.get_game(NOBODY, self._game)
        running = self._referee.observed
        known = {one.player_id for one in shown.table} | ({*running.players} if running is not None else set())
        for role in self._roles:
            if role in sits and self.context.player_id(role, self._game) not in known and not self._waits(role):
                self.context.joined_seats = [
                    place for place in self.context.joined_seats if (place.role, place.game) != (role, self._game)
                ]
                sits.discard(role)
            if role not in sits:
                await self._join(role)

    def _waits(self, role: str) -> bool:
        """Whether somebody sits, and waits for the next hand."""
        return self.context.player_id(role, self._game) in self._referee.seated_players

    def _roles_in_hand(self) -> Sequence[str]:
        running = self._referee.observed
        players = () if running is None else running.players
        return [role for role in self._roles if self.context.player_id(role, self._game) in players]

    # Doing.

    async def _join(self, role: str) -> None:
        visit = self.context
        answer = await visit.request(role, "POST", f"/games/{self._game}/players/")
        visit.require_seat(answer)
        self._referee.player_joined(visit.player_id(role, self._game))
        await self._look()

    def _options_to_act(self) -> tuple[Legal, int]:
        """What the one whose turn it is may do, and how many chips he has."""
        running = self._referee.observed
        assert running is not None, "a turn in no hand"
        return running.hand.legal, running.hand.stacks[running.players.index(self._referee.player_to_act())]

    def _roles_from_turn(self) -> Sequence[str]:
        """Who sits, from the one whose turn it is."""
        player = self._referee.player_to_act()
        mine = next(role for role in self._roles if self.context.player_id(role, self._game) == player)
        return [mine, *(role for role in self._roles if role != mine and self._sits(role))]

    def _random_step(self) -> WalkStep:
        return random_step(self._luck, *self._options_to_act(), len(self._roles_from_turn()))

    async def _take_step(self, step: WalkStep) -> None:
        sitting = self._roles_from_turn()
        role = sitting[step.seat_offset % len(sitting)]
        match step.kind:
            case "garbage":
                await self._send_malformed_act(role, step.body)
            case "leave":
                await self._leave(role)
            case "act":
                await self._act(
                    role,
                    step.action,
                    resolve_amount(step.chips, *self._options_to_act()),
                    looks=step.is_followed_by_look,
                )

    def _sits(self, role: str) -> bool:
        return any(place.role == role and place.game == self._game for place in self.context.joined_seats)

    async def _act(self, role: str, action: int, chips: int, *, looks: bool) -> None:
        visit = self.context
        player = visit.player_id(role, self._game)
        answer = await visit.act(role, self._game, encode(_act_body(action, chips)))
        for violation in self._referee.player_acted(player, action, chips, answer.status):
            self._add_violation(violation)
        self._check_act_status(answer)
        await self._look()
        if looks:
            await self._look(role)

    def _check_act_status(self, response: ReceivedResponse) -> None:
        """An act that was done is 201; a refusal inside is nobody's fault but the server's."""
        if 200 <= response.status < 300 and response.status != 201:
            self.context.add_deviation("holdem-4.1", "status 201", response.summary, got=response.render())

    async def _send_malformed_act(self, role: str, body: bytes) -> None:
        visit = self.context
        answer = await visit.act(role, self._game, body)
        if 200 <= answer.status < 300 or answer.status >= 500:
            visit.add_deviation("holdem-4.4", "status 400", answer.summary, Outcome.FAIL, got=answer.render())
            raise CaseAborted
        await self._look()

    async def _leave(self, role: str) -> None:
        visit = self.context
        place = next(place for place in visit.joined_seats if (place.role, place.game) == (role, self._game))
        answer = await visit.leave(place)
        visit.require_success(answer, "holdem-3.10", 200)
        self._referee.player_left(place.player_id)
        await self._look()


def _clause(trace: DeviationTrace) -> str:
    return trace.deviation.clause


def _act_body(action: int, chips: int) -> Mapping[str, Any]:
    return {"action": action, "betAmount": chips} if action == ACTION_BET else {"action": action}
