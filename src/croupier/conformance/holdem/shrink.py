"""A walk is told as shortly as it shows what is wrong: in a new game with fewer users, who take few of its steps."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from croupier.conformance.conversation import Line
from croupier.conformance.ddmin import fewer
from croupier.conformance.holdem.steps import Step
from croupier.conformance.holdem.tolerated import Departure
from croupier.core.referee import CLIENT
from croupier.rooms.holdem.wire import FOLD

SHOWN: Final = 6
"""So many lines of a dialogue are shown."""

TAILS: Final = (1, 2, 3, 4, 6, 9, 13, 18, 25, 45)
"""So many of the last steps are taken alone."""

FEW: Final = 3
"""So many users are tried besides two, where more have played."""

ROUNDS: Final = 2
"""So often the same games are tried: luck deals other cards."""

CALL: Final = Step("act", chips="call")
FOLDED: Final = Step("act", action=FOLD)
RAISE: Final = Step("act", chips="smallest raise")
SHOVE: Final = Step("act", chips="everything")
USUAL: Final[Sequence[Sequence[Step]]] = (
    (), (FOLDED,), (CALL,), (RAISE,), (SHOVE, CALL), (SHOVE, FOLDED), (CALL, CALL), (RAISE, CALL), (RAISE, RAISE),
    (FOLDED, FOLDED),
)  # fmt: skip
"""What many a fault shows in, among two."""


class Trace(NamedTuple):
    """How something departed: what was said up to there, by how many users, behind which steps."""

    departure: Departure
    lines: Sequence[Line]
    players: int
    steps: Sequence[Step]


type Again = Callable[[int, Sequence[Step]], Awaitable[Sequence[Trace]]]
"""What departs in a new game of so many users who take these steps."""


async def shorter(trace: Trace, again: Again, seconds: float) -> Trace:
    """The same departure behind as few steps as can be found in so many seconds, else as it was."""
    best = trace

    async def less(steps: Sequence[Step]) -> Trace | None:
        nonlocal best
        if (found := await _same(best, best.players, steps, again)) is not None:
            best = found  # it is told also when time runs out
        return found

    try:
        async with asyncio.timeout(seconds):
            best = await _begun(best, again)
            await fewer(best, lambda found: found.steps, less)
    except TimeoutError:
        pass
    return best


async def _begun(trace: Trace, again: Again) -> Trace:
    """A game to begin with: the last steps that suffice, or a few usual ones, with as few users as can be."""
    tails = [trace.steps[-many:] for many in TAILS if many < len(trace.steps)]
    crowds = sorted({2, min(FEW, trace.players), trace.players})
    games = [(players, steps) for steps in tails[:2] for players in crowds]
    games += [(2, steps) for steps in USUAL if len(steps) < len(trace.steps)]
    games += [(players, steps) for steps in tails[2:] for players in crowds]
    for players, steps in games * ROUNDS:
        if (found := await _same(trace, players, steps, again)) is not None:
            return found
    return trace


async def _same(trace: Trace, players: int, steps: Sequence[Step], again: Again) -> Trace | None:
    """A game in which these steps lead to a departure from the same clause, if there is one."""
    for found in await again(players, steps):
        if (found.departure.clause, found.departure.outcome) == (trace.departure.clause, trace.departure.outcome):
            return found
    return None


def told(lines: Sequence[Line]) -> tuple[Line, ...]:
    """What is shown of the lines up to a departure: where it shows, the acts that led to it, and how it was before."""
    asked = [at for at, line in enumerate(lines) if line.side == CLIENT]
    parts = [lines[at:end] for at, end in pairwise([*asked, len(lines)])]
    parts = [part for part, behind in pairwise([*parts, ()]) if not _seen_again(part, behind)]
    kept: list[int] = []
    for at in sorted(range(len(parts)), key=lambda at: (at != len(parts) - 1, not _acts(parts[at][0]), -at)):
        if sum(len(parts[one]) for one in (*kept, at)) > SHOWN:
            break
        kept.append(at)
    return tuple(line for at in sorted(kept) for line in parts[at])


def _seen_again(part: Sequence[Line], behind: Sequence[Line]) -> bool:
    """Whether a look shows nothing that the look behind it does not show."""
    if len(part) < 2 or not behind or not all(str(each[0].message).startswith("GET") for each in (part, behind)):
        return False
    return [line.data for line in part[1:]] == [line.data for line in behind[1:]]


def _acts(line: Line) -> bool:
    """Whether it is a step: an act, or somebody leaves."""
    asked = str(line.message)
    return asked.startswith("DELETE") or asked.endswith("/acts/")
