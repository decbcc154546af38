"""A game in which a table has done something wrong is played again with less in it, until nothing can be left out."""

from asyncio import get_running_loop, timeout
from collections.abc import Sequence
from random import Random
from typing import Final

from croupier.conformance.conversation import Line
from croupier.conformance.ddmin import fewer
from croupier.conformance.oldmaid.driven_game import Deed, Sitting
from croupier.conformance.oldmaid.excerpt import SHOWN
from croupier.conformance.oldmaid.findings import Broken, Silent, Unseen
from croupier.conformance.oldmaid.tables import Scene, Tables, drained

TRIES: Final = 2
"""So often the same is done once more: the cards have a part in most faults."""

type Found = tuple[Broken, Sequence[Line]]
"""A fault, and the dialogue that shows it."""


async def shortened(scene: Scene, broken: Broken, seconds: float) -> Found:
    """The same fault in a game with as few deeds as can be found in so many seconds; as it was where there is none."""
    found: Found = broken, scene.dialogue
    sitting = _guilty(scene)
    if sitting is None or isinstance(broken, Silent) or len(scene.dialogue) <= SHOWN:
        return found
    clock = get_running_loop().time
    end = clock() + seconds

    async def again(deeds: Sequence[Deed]) -> tuple[Sequence[Deed], Found] | None:
        for _ in range(TRIES):
            if clock() < end and (shorter := await _once(scene.tables, deeds, broken.clause, end - clock())):
                return deeds, shorter
        return None

    first = await again(sitting.deeds)
    return found if first is None else (await fewer(first, lambda shown: shown[0], again))[1]


def _guilty(scene: Scene) -> Sitting | None:
    """The game in which somebody plays with whom the last words were changed."""
    ends = {scene.dialogue[-1].message.sender, scene.dialogue[-1].message.receiver} if scene.dialogue else set()
    return next((one for one in scene.sittings[::-1] if ends & {guest.nick for guest in one.guests}), None)


async def _once(tables: Tables, deeds: Sequence[Deed], clause: str, seconds: float) -> Found | None:
    """A game in which this is done, and the fault under this clause that shows there, if one does in time."""
    scene = Scene(tables, Random(len(deeds)), alone=False)  # noqa: S311 -- luck that can be had again
    try:
        async with timeout(seconds):
            await (await scene.sit()).again(deeds)
    except Broken as found:
        return (found, scene.dialogue) if found.clause == clause else None
    except (Unseen, TimeoutError, ConnectionError):
        return None
    finally:
        await drained(scene)
    return None
