"""A game in which a table has done something wrong is played again with less in it, until nothing can be left out."""

from asyncio import get_running_loop, timeout
from collections.abc import Sequence
from random import Random
from typing import Final

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.ddmin import ddmin
from croupier.conformance.oldmaid.driven_game import DrivenGame, GameAction
from croupier.conformance.oldmaid.excerpt import MAX_SHOWN_LINES
from croupier.conformance.oldmaid.outcomes import Failed, NoAnswer, NotReached
from croupier.conformance.oldmaid.table_context import TableContext, TableUnderTest, close_context

ATTEMPTS_PER_GAME: Final = 2
"""So often the same is done once more: the cards have a part in most faults."""

type ShownFailure = tuple[Failed, Sequence[DialogueLine]]
"""A fault, and the dialogue that shows it."""


async def shrink(context: TableContext, failed: Failed, seconds: float) -> ShownFailure:
    """The same fault in a game with as few deeds as can be found in so many seconds; as it was where there is none."""
    found: ShownFailure = failed, context.dialogue
    sitting = _failed_game(context)
    if sitting is None or isinstance(failed, NoAnswer) or len(context.dialogue) <= MAX_SHOWN_LINES:
        return found
    clock = get_running_loop().time
    end = clock() + seconds

    async def again(deeds: Sequence[GameAction]) -> tuple[Sequence[GameAction], ShownFailure] | None:
        for _ in range(ATTEMPTS_PER_GAME):
            if clock() < end and (shorter := await _replay_game(context.table, deeds, failed.clause, end - clock())):
                return deeds, shorter
        return None

    first = await again(sitting.actions)
    return found if first is None else (await ddmin(first, lambda shown: shown[0], again))[1]


def _failed_game(context: TableContext) -> DrivenGame | None:
    """The game in which somebody plays with whom the last words were changed."""
    ends = {context.dialogue[-1].message.sender, context.dialogue[-1].message.receiver} if context.dialogue else set()
    return next((one for one in context.games[::-1] if ends & {guest.nick for guest in one.players}), None)


async def _replay_game(
    table: TableUnderTest, deeds: Sequence[GameAction], clause: str, seconds: float
) -> ShownFailure | None:
    """A game in which this is done, and the fault under this clause that shows there, if one does in time."""
    scene = TableContext(table, Random(len(deeds)), holds_lobby=False)  # noqa: S311 -- luck that can be had again
    try:
        async with timeout(seconds):
            await (await scene.start_game()).replay(deeds)
    except Failed as found:
        return (found, scene.dialogue) if found.clause == clause else None
    except (NotReached, TimeoutError, ConnectionError):
        return None
    finally:
        await close_context(scene)
    return None
