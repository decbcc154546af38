"""Play a chunk: a pure function of the plan, the pairing and the number of the chunk."""

from collections.abc import MutableSequence
from functools import cache

from msgspec.structs import replace

from croupier.arena.game import Chunk, find_game
from croupier.arena.plan import Pairing, Plan
from croupier.arena.players import NO_CALL, Forfeit
from croupier.arena.tally import Tally
from croupier.clients.contestants import Contestant, parse_contestant
from croupier.rooms import find_room


def play_chunk(plan: Plan, pairing: Pairing, number: int, calls: MutableSequence[int] | None = None) -> Tally:
    """The results of a chunk; of a bot that forfeits in it, only the faults. `calls` is described in `Player`.

    Raises ValueError for a room that the arena does not play, or an invalid contestant.
    """
    chunk = make_chunk(plan, pairing, number, calls)
    try:
        tally = find_game(plan.room).play_chunk(chunk)
    except Forfeit as forfeit:
        tally = Tally(0, forfeit=forfeit.bot)
    return replace(tally, faults=tuple(chunk.faults))


def make_chunk(plan: Plan, pairing: Pairing, number: int, calls: MutableSequence[int] | None = None) -> Chunk:
    """A chunk with its bots. Raises ValueError for an invalid contestant."""
    first, second = (_contestant(plan.room, plan.bots[index]) for index in pairing)
    return Chunk(
        plan,
        pairing,
        number,
        (first.make, second.make),
        (first if first.is_program else None, second if second.is_program else None),
        [NO_CALL] if calls is None else calls,
    )


@cache
def _contestant(room: str, text: str) -> Contestant:
    """Parse a contestant once in each process."""
    return parse_contestant(find_room(room), text)
