"""A walk is told as shortly as it shows what is wrong: in a new game with fewer users, who take few of its steps."""

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
"""So many lines of a dialogue are shown."""

TAIL_LENGTHS: Final = (1, 2, 3, 4, 6, 9, 13, 18, 25, 45)
"""So many of the last steps are taken alone."""

FEW_PLAYERS: Final = 3
"""So many users are tried besides two, where more have played."""

ATTEMPTS_PER_SCRIPT: Final = 2
"""So often the same games are tried: luck deals other cards."""

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
"""What many a fault shows in, among two."""


class DeviationTrace(NamedTuple):
    """How something departed: what was said up to there, by how many users, behind which steps."""

    deviation: Deviation
    lines: Sequence[DialogueLine]
    players: int
    steps: Sequence[WalkStep]


type RerunSteps = Callable[[int, Sequence[WalkStep]], Awaitable[Sequence[DeviationTrace]]]
"""What departs in a new game of so many users who take these steps."""


async def shrink(trace: DeviationTrace, rerun: RerunSteps, seconds: float) -> DeviationTrace:
    """The same departure behind as few steps as can be found in so many seconds, else as it was."""
    best = trace

    async def less(steps: Sequence[WalkStep]) -> DeviationTrace | None:
        nonlocal best
        if (found := await _rerun_finds(best, best.players, steps, rerun)) is not None:
            best = found  # it is told also when time runs out
        return found

    try:
        async with asyncio.timeout(seconds):
            best = await _smallest_start(best, rerun)
            await ddmin(best, lambda found: found.steps, less)
    except TimeoutError:
        pass
    return best


async def _smallest_start(trace: DeviationTrace, rerun: RerunSteps) -> DeviationTrace:
    """A game to begin with: the last steps that suffice, or a few usual ones, with as few users as can be."""
    tails = [trace.steps[-many:] for many in TAIL_LENGTHS if many < len(trace.steps)]
    crowds = sorted({2, min(FEW_PLAYERS, trace.players), trace.players})
    games = [(players, steps) for steps in tails[:2] for players in crowds]
    games += [(2, steps) for steps in USUAL_SCRIPTS if len(steps) < len(trace.steps)]
    games += [(players, steps) for steps in tails[2:] for players in crowds]
    for players, steps in games * ATTEMPTS_PER_SCRIPT:
        if (found := await _rerun_finds(trace, players, steps, rerun)) is not None:
            return found
    return trace


async def _rerun_finds(
    trace: DeviationTrace, players: int, steps: Sequence[WalkStep], rerun: RerunSteps
) -> DeviationTrace | None:
    """A game in which these steps lead to a departure from the same clause, if there is one."""
    for found in await rerun(players, steps):
        if (found.deviation.clause, found.deviation.outcome) == (trace.deviation.clause, trace.deviation.outcome):
            return found
    return None


def excerpt(lines: Sequence[DialogueLine]) -> tuple[DialogueLine, ...]:
    """What is shown of the lines up to a departure: where it shows, the acts that led to it, and how it was before."""
    asked = [at for at, line in enumerate(lines) if line.side == CLIENT]
    parts = [lines[at:end] for at, end in pairwise([*asked, len(lines)])]
    parts = [part for part, behind in pairwise([*parts, ()]) if not _is_repeated_look(part, behind)]
    kept: list[int] = []
    for at in sorted(range(len(parts)), key=lambda at: (at != len(parts) - 1, not _is_step(parts[at][0]), -at)):
        if sum(len(parts[one]) for one in (*kept, at)) > MAX_SHOWN_LINES:
            break
        kept.append(at)
    return tuple(line for at in sorted(kept) for line in parts[at])


def _is_repeated_look(part: Sequence[DialogueLine], behind: Sequence[DialogueLine]) -> bool:
    """Whether a look shows nothing that the look behind it does not show."""
    if len(part) < 2 or not behind or not all(str(each[0].message).startswith("GET") for each in (part, behind)):
        return False
    return [line.data for line in part[1:]] == [line.data for line in behind[1:]]


def _is_step(line: DialogueLine) -> bool:
    """Whether it is a step: an act, or somebody leaves."""
    asked = str(line.message)
    return asked.startswith("DELETE") or asked.endswith("/acts/")
