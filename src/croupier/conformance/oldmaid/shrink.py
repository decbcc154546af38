"""Shrinks a failed game: replays it with fewer actions until none can be left out."""

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
"""Attempts per game, since most faults depend on the cards."""

type ShownFailure = tuple[Failed, Sequence[DialogueLine]]
"""A failure and the dialogue that shows it."""


async def shrink(context: TableContext, failed: Failed, seconds: float) -> ShownFailure:
    """Return the same failure with the fewest actions found in `seconds`, else the original one."""
    original: ShownFailure = failed, context.dialogue
    failed_game = _failed_game(context)
    if failed_game is None or isinstance(failed, NoAnswer) or len(context.dialogue) <= MAX_SHOWN_LINES:
        return original
    clock = get_running_loop().time
    end = clock() + seconds

    async def replay(actions: Sequence[GameAction]) -> tuple[Sequence[GameAction], ShownFailure] | None:
        for _ in range(ATTEMPTS_PER_GAME):
            if clock() < end and (shorter := await _replay_game(context.table, actions, failed.clause, end - clock())):
                return actions, shorter
        return None

    first = await replay(failed_game.actions)
    return original if first is None else (await ddmin(first, lambda shown: shown[0], replay))[1]


def _failed_game(context: TableContext) -> DrivenGame | None:
    """Return the game of the players in the last line of the dialogue."""
    ends = {context.dialogue[-1].message.sender, context.dialogue[-1].message.receiver} if context.dialogue else set()
    return next((one for one in context.games[::-1] if ends & {player.nick for player in one.players}), None)


async def _replay_game(
    table: TableUnderTest, actions: Sequence[GameAction], clause: str, seconds: float
) -> ShownFailure | None:
    """Repeat actions in a new game; return the failure of the same clause, None if it does not occur in time."""
    new_context = TableContext(table, Random(len(actions)), holds_lobby=False)  # noqa: S311 -- reproducible
    try:
        async with timeout(seconds):
            await (await new_context.start_game()).replay(actions)
    except Failed as failed:
        return (failed, new_context.dialogue) if failed.clause == clause else None
    except (NotReached, TimeoutError, ConnectionError):
        return None
    finally:
        await close_context(new_context)
    return None
