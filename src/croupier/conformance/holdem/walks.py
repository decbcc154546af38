"""Runs walks, and keeps what they have shown: the deviations by clause, and the cards that were dealt."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, groupby
from random import Random
from time import monotonic
from typing import Final, NamedTuple

from croupier.conformance.deviations import NotReached
from croupier.conformance.fair_deal import FIRST_CARDS
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deals import FAIR_DEAL
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.refereed_games import MIN_PLAYERS
from croupier.conformance.holdem.steps import StepChoice, WalkStep, random_step, showdown_step
from croupier.conformance.holdem.walk import MAX_ACTS, DeviationTrace, Walk
from croupier.conformance.parallel import count_parallel
from croupier.conformance.servers.deals import DealJudge
from croupier.conformance.suite import Attempt
from croupier.net.event_loop import run_together

WALK_SIZES: Final = (2, 2, 3, 3, 4, 5, 6, 2, 3, 4)
SHOWDOWN_WALK_SIZES: Final = (3, 5, 3, 5)
"""The number of players of each random walk, and of the ones after it, in which nearly all hands come to a showdown.

There are more of these, because few hands show a wrong rank or an odd chip. The pots of an odd number of players are
often odd.
"""

MAX_SHOWDOWN_ACTS: Final = 100

MAX_WALK_SECONDS: Final = 10.0
"""No further walk starts after this time. Counting cards may take as long again."""

MIN_WALKS: Final = 12
ENOUGH_TIES: Final = 12
EXTRA_WALK_SECONDS: Final = 20.0
"""A slow server, or a busy machine, gets N seconds more, until both minimums are reached: walks and shared pots.

Every second or third shared pot shows that its odd chip goes to the wrong winner.
"""

RUNNING_CLAUSE: Final = "holdem-1.8"
"""The clause of servers that end."""

TIE_CLAUSE: Final = "holdem-6.15"
"""The clause that a showdown with a shared pot is judged by."""


MAX_WALKS_AT_ONCE: Final = 16
"""At most this many walks are played at the same time, at a slow or pausing server that serves several clients."""


class WalkPlan(NamedTuple):
    """The players of a walk, and how they choose their acts."""

    players: int
    choose: StepChoice
    max_acts: int

    @property
    def clients(self) -> int:
        """The number of connections: each player has one, and one is nobody's."""
        return self.players + 1


class WalkRunner:
    """Runs walks until there is a finding about the requested clause: one after another, or several at once."""

    def __init__(self, server: ServerUnderTest, rng: Random, timeout: float) -> None:
        self._server = server
        self._rng = rng
        self._timeout = timeout
        self._plans_left = [
            plan
            for size in WALK_SIZES
            for plan in (
                WalkPlan(size, random_step, MAX_ACTS),
                *(WalkPlan(each, showdown_step, MAX_SHOWDOWN_ACTS) for each in SHOWDOWN_WALK_SIZES),
            )
        ]
        self._walks_at_once: int | None = None  # None if that is not known
        self._walk_seconds_left = MAX_WALK_SECONDS
        self._walk_count = 0
        self._traces_by_clause: defaultdict[str, list[DeviationTrace]] = defaultdict(list)
        self._judged_counts: Counter[str] = Counter()
        self._skip_reason = "it did not occur in any hand"
        self._deals = DealJudge(FAIR_DEAL, None)

    async def find_traces(self, clause: str) -> tuple[Sequence[DeviationTrace], str]:
        """Return the deviations from a clause in the first walk with any, and why it was not judged ("" if it was)."""
        while not self._traces_by_clause[clause] and await self._walk_on():
            pass
        traces = self._traces_by_clause[clause]
        return traces, "" if self._judged_counts[clause] else self._skip_reason

    async def judge_deals(self) -> Attempt:
        """Run all walks, and return the outcome for the cards that were dealt in them."""
        self._walk_seconds_left += MAX_WALK_SECONDS
        while await self._walk_on():
            pass
        return self._deals.judge()

    async def first_cards(self) -> Sequence[str]:
        """Run walks until some cards are known; return the first ones."""
        while len(self._deals.first_cards) < FIRST_CARDS and await self._walk_on():
            pass
        return self._deals.first_cards

    async def _walk_on(self) -> bool:
        """Run the next walk, or the next ones at the same time; return whether there was one, and time for it."""
        is_enough = self._walk_count >= MIN_WALKS and self._judged_counts[TIE_CLAUSE] >= ENOUGH_TIES
        spare = 0.0 if is_enough else EXTRA_WALK_SECONDS
        if not self._plans_left or self._walk_seconds_left + spare <= 0:
            return False
        walks_at_once = await self._count_walks_at_once()
        plans, self._plans_left = self._plans_left[:walks_at_once], self._plans_left[walks_at_once:]
        self._walk_count += len(plans)
        began = monotonic()
        walks = [self._new_walk(plan) for plan in plans]
        for walk, reason in zip(walks, await run_together(*map(self._run_walk, walks)), strict=True):
            self._record(walk, reason)
        self._walk_seconds_left -= monotonic() - began
        return True

    async def _count_walks_at_once(self) -> int:
        """Return how many of the next walks may be played at once: the server is slow or pauses, and serves all."""
        if not self._server.is_shareable:
            return 1
        if self._walks_at_once is None:
            clients = [*accumulate(plan.clients for plan in self._plans_left)]
            most = min(MAX_WALKS_AT_ONCE, len(clients))
            self._walks_at_once = await count_parallel(most, lambda walks: self._server.serves(clients[walks - 1]))
        return self._walks_at_once

    def _new_walk(self, plan: WalkPlan) -> Walk:
        """Return a random walk."""
        return Walk(
            HoldemContext(self._server),
            Random(self._rng.random()),  # noqa: S311 -- runs are reproducible
            plan.players,
            choose=plan.choose,
            max_acts=plan.max_acts,
            is_hasty=plan.choose is showdown_step,
        )

    def _record(self, walk: Walk, reason: str) -> None:
        """Record the findings of a walk, and the reason if it was not possible."""
        if walk.context.turn_may_have_expired:
            self._skip_reason = "its responses take so long that turns may have expired"
            return
        self._skip_reason = reason or self._skip_reason
        self._judged_counts.update(walk.judged_counts())
        self._deals.observe(walk.observed_hands)
        for clause, traces in groupby(sorted(walk.traces(), key=_clause), _clause):
            self._traces_by_clause[clause] = self._traces_by_clause[clause] or [*traces]

    async def replay(self, steps: Sequence[WalkStep]) -> Sequence[DeviationTrace]:
        """Return the deviations of a new game with these steps."""
        players = next((step.seat_offset for step in steps if step.kind == "seat"), MIN_PLAYERS)
        script = [step for step in steps if step.kind != "seat"]
        walk = Walk(HoldemContext(self._server), Random(0), players, script)  # noqa: S311 -- unused: all steps are given
        await self._run_walk(walk)
        return () if walk.context.turn_may_have_expired else walk.traces()

    async def _run_walk(self, walk: Walk) -> str:
        """Run a walk; return the reason if it was not possible, else "". Raises TargetGone."""
        await self._server.make_room()
        try:
            async with asyncio.timeout(max(1.0, self._timeout)):
                await walk.play()
        except NotReached as error:
            return str(error)
        except ConnectionRefusedError as error:
            raise self._server.gone(error, walk.context.lines, RUNNING_CLAUSE) from None
        except (CaseAborted, TimeoutError, OSError):
            pass
        finally:
            with suppress(CaseAborted, OSError):
                await walk.context.close()
        return ""


def _clause(trace: DeviationTrace) -> str:
    return trace.deviation.clause
