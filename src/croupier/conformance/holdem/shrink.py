"""Shrinks a walk to few players and few steps that still lead to the same deviation, and excerpts its dialogue."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.ddmin import ddmin
from croupier.conformance.holdem.deviations import Deviation
from croupier.conformance.holdem.steps import WalkStep
from croupier.core.referee import CLIENT
from croupier.rooms.holdem.wire import ACTION_FOLD

MAX_SHOWN_LINES: Final = 6

TAIL_LENGTHS: Final = (1, 2, 3, 4, 6, 9, 13, 18, 25, 45)
"""The numbers of last steps that are tried alone."""

FEW_PLAYERS: Final = 3
"""The number of players to try besides two, if the walk had more."""

ATTEMPTS_PER_SCRIPT: Final = 2
"""Attempts per script, since every game deals other cards."""

CALL_STEP: Final = WalkStep("act", chips="call")
FOLD_STEP: Final = WalkStep("act", action=ACTION_FOLD)
RAISE_STEP: Final = WalkStep("act", chips="smallest raise")
ALL_IN_STEP: Final = WalkStep("act", chips="everything")
USUAL_SCRIPTS: Final[Sequence[Sequence[WalkStep]]] = (
    (),
    (FOLD_STEP,),
    (CALL_STEP,),
    (RAISE_STEP,),
    (ALL_IN_STEP, CALL_STEP),
    (ALL_IN_STEP, FOLD_STEP),
    (CALL_STEP, CALL_STEP),
    (RAISE_STEP, CALL_STEP),
    (RAISE_STEP, RAISE_STEP),
    (FOLD_STEP, FOLD_STEP),
)
"""Short scripts for two players, in which many faults show."""


class DeviationTrace(NamedTuple):
    """A deviation with the dialogue up to it, the number of players and the steps that led to it."""

    deviation: Deviation
    lines: Sequence[DialogueLine]
    players: int
    steps: Sequence[WalkStep]


type RerunSteps = Callable[[int, Sequence[WalkStep]], Awaitable[Sequence[DeviationTrace]]]
"""Runs a new game with these players and steps, and returns its deviations."""


async def shrink(trace: DeviationTrace, rerun: RerunSteps, seconds: float) -> DeviationTrace:
    """Return the shortest trace to the same deviation that is found in `seconds`, else `trace`."""
    best = trace

    async def less(steps: Sequence[WalkStep]) -> DeviationTrace | None:
        nonlocal best
        if (found := await _rerun_finds(best, best.players, steps, rerun)) is not None:
            best = found  # kept if the time runs out
        return found

    try:
        async with asyncio.timeout(seconds):
            best = await _smallest_start(best, rerun)
            await ddmin(best, lambda found: found.steps, less)
    except TimeoutError:
        pass
    return best


async def _smallest_start(trace: DeviationTrace, rerun: RerunSteps) -> DeviationTrace:
    """Find a short start: the last steps of the trace, or a usual script, with as few players as possible."""
    tails = [trace.steps[-many:] for many in TAIL_LENGTHS if many < len(trace.steps)]
    player_counts = sorted({2, min(FEW_PLAYERS, trace.players), trace.players})
    games = [(players, steps) for steps in tails[:2] for players in player_counts]
    games += [(2, steps) for steps in USUAL_SCRIPTS if len(steps) < len(trace.steps)]
    games += [(players, steps) for steps in tails[2:] for players in player_counts]
    for players, steps in games * ATTEMPTS_PER_SCRIPT:
        if (found := await _rerun_finds(trace, players, steps, rerun)) is not None:
            return found
    return trace


async def _rerun_finds(
    trace: DeviationTrace, players: int, steps: Sequence[WalkStep], rerun: RerunSteps
) -> DeviationTrace | None:
    """Rerun the steps; return a trace with a deviation of the same clause and outcome, None if there is none."""
    for found in await rerun(players, steps):
        if (found.deviation.clause, found.deviation.outcome) == (trace.deviation.clause, trace.deviation.outcome):
            return found
    return None


def excerpt(lines: Sequence[DialogueLine]) -> tuple[DialogueLine, ...]:
    """Return the lines to show: the exchange with the deviation, and the acts that led to it as far as they fit."""
    request_indices = [at for at, line in enumerate(lines) if line.side == CLIENT]
    exchanges = [lines[at:end] for at, end in pairwise([*request_indices, len(lines)])]
    exchanges = [
        exchange for exchange, next_part in pairwise([*exchanges, ()]) if not _is_repeated_look(exchange, next_part)
    ]
    kept: list[int] = []
    for at in sorted(
        range(len(exchanges)), key=lambda at: (at != len(exchanges) - 1, not _is_step(exchanges[at][0]), -at)
    ):
        if sum(len(exchanges[one]) for one in (*kept, at)) > MAX_SHOWN_LINES:
            break
        kept.append(at)
    return tuple(line for at in sorted(kept) for line in exchanges[at])


def _is_repeated_look(exchange: Sequence[DialogueLine], next_part: Sequence[DialogueLine]) -> bool:
    """Whether a read shows nothing that the next read does not show."""
    if (
        len(exchange) < 2
        or not next_part
        or not all(str(each[0].message).startswith("GET") for each in (exchange, next_part))
    ):
        return False
    return [line.data for line in exchange[1:]] == [line.data for line in next_part[1:]]


def _is_step(line: DialogueLine) -> bool:
    """Whether a request line is an act or a leave."""
    request_indices = str(line.message)
    return request_indices.startswith("DELETE") or request_indices.endswith("/acts/")
