"""Play a chunk: a pure function of the plan, the pairing and the number of the chunk."""

from collections.abc import Callable, MutableSequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from croupier.arena.game import Chunk, find_game
from croupier.arena.plan import Pairing, Plan
from croupier.arena.players import NO_CALL, Forfeit
from croupier.arena.tally import Tally
from croupier.clients.contestants import parse_contestant
from croupier.core.bots import Bot, bot_factory
from croupier.rooms import find_room


def play_chunk(plan: Plan, pairing: Pairing, number: int, calls: MutableSequence[int] | None = None) -> Tally:
    """The results of a chunk; of a bot that forfeits in it, only the faults. `calls` is described in `Player`.

    Raises ValueError for a room that the arena does not play, or an invalid contestant.
    """
    first, second = (_bot_maker(plan.room, plan.bots[index]) for index in pairing)
    chunk = Chunk(plan, pairing, number, (first, second), [NO_CALL] if calls is None else calls)
    try:
        tally = find_game(plan.room).play_chunk(chunk)
    except Forfeit as forfeit:
        tally = Tally(0, forfeit=forfeit.bot)
    return replace(tally, faults=tuple(chunk.faults))


@cache
def _bot_maker(room: str, text: str) -> Callable[[], Bot[Any, Any]]:
    """A function that makes a bot, made once in each process: a file has to be run, and a strategy computed."""
    found = find_room(room)
    contestant = parse_contestant(found, text)
    if not contestant.bot_name:
        raise ValueError(f"found the bot {text!r} ({contestant.kind}); allowed: a built-in bot, FILE.py:CLASS")
    return bot_factory(found.bots, contestant.bot_name)
