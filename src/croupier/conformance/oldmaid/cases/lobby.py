"""Cases about those who wait for a game: when it starts without more of them, who leaves again, and who comes later."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.findings import Broken, Unseen
from croupier.conformance.oldmaid.scripted_player import MOMENT, Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.table.lobby import MOST_KEPT
from croupier.rooms.oldmaid.wire import Draw, Join, Status

WINDOW: Final = 10.0
"""The seconds that a table waits for more than two players unless it is set otherwise (oldmaid-3.11)."""

GLANCE: Final = 2.0
"""As that is too long for a case, it is looked for so many seconds whether they are set to less."""

LONG: Final = 0.3
"""So many seconds a single player is watched."""


async def window(scene: Scene) -> None:
    """Two do not wait for ever."""
    await scene.survey(3)
    guests = [await scene.waiting(), await scene.waiting()]
    longest = scene.tables.patience.longest
    seconds = longest if longest > WINDOW else min(longest, GLANCE)
    heard = await guests[1].hear(seconds)
    if heard is None:
        raise Unseen(f"two have waited {seconds:g} seconds, and no game has started yet")
    await scene.listed(guests, heard, guests[1])


async def alone(scene: Scene) -> None:
    """A single player waits."""
    await scene.survey()
    guest = await scene.waiting()
    await guest.quiet("oldmaid-3.11", LONG)
    await scene.fill([guest])


async def blocks(scene: Scene) -> None:
    """Nobody is told anything before the game starts."""
    await scene.survey()
    guests = [await scene.waiting() for _ in range(scene.players - 1)]
    for guest in guests:
        await guest.quiet("oldmaid-3.2")
    await scene.fill(guests)


async def leaves(scene: Scene) -> None:
    """Who leaves before the start frees his nick."""
    await scene.survey()
    one = await scene.waiting()
    one.hang_up()
    await asyncio.sleep(MOMENT)
    other = await scene.waiting(one.nick)
    heard = await other.hear(MOMENT)
    if heard is not None:
        wanted = f"the nick of somebody who has left, {one.nick!r}, to be free"
        raise Broken("oldmaid-3.12", heard.told, wanted, got=heard.data)
    await scene.fill([other])


async def moves_up(scene: Scene) -> None:
    """Those behind who has left move up, and he is not listed."""
    await scene.survey(3)
    one, other = await scene.waiting(), await scene.waiting()
    one.hang_up()
    await asyncio.sleep(MOMENT)
    sitting = await scene.fill([other])
    if sitting.guests[0] is not other:
        found = ", ".join(guest.nick for guest in sitting.guests)
        raise Broken("oldmaid-3.12", f"the order {found}", f"{other.nick!r} first, for who was before him has left")


async def two_games(scene: Scene) -> None:
    """Two games are played at the same time, each with its own deck."""
    sittings = [await scene.sit(), await scene.sit()]
    for count in range(1, 54):
        for sitting in sittings:
            await sitting.draw(count)


async def joins_late(scene: Scene) -> None:
    """Who joins after the start waits for the next game."""
    sitting = await scene.sit()
    guest = await scene.waiting()
    await guest.quiet("oldmaid-3.13")
    await sitting.draw(4)
    following = await scene.fill([guest])
    await following.draw(4)
    await sitting.draw(8)


async def joins_again(scene: Scene) -> None:
    """When a game is over its players may join again."""
    sitting = await scene.sit()
    await sitting.draw()
    await sitting.play()
    await _again(scene, sitting.guests[sitting.game.finished[0]])


async def joins_when_out(scene: Scene) -> None:
    """Who is out may join the next game while the others play on."""
    sitting = await scene.sit(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished))
    await _again(scene, sitting.guests[sitting.game.finished[0]])
    await sitting.play()


async def _again(scene: Scene, guest: Guest) -> None:
    guest.referee, guest.nick = None, scene.nick()
    await guest.say(Join(guest.nick))
    heard = await guest.hear(MOMENT)
    if heard is not None:
        raise Broken("oldmaid-3.14", heard.told, "that who is out may join the next game", got=heard.data)
    sitting = await scene.fill([guest])
    await sitting.draw(len(sitting.guests))


async def kept(scene: Scene) -> None:
    """Requests that come behind a join are answered behind it."""
    await scene.survey()
    guest = await scene.waiting()
    await guest.say(Draw())
    await guest.say(Status())
    early = await guest.hear(MOMENT)
    if early is not None:
        raise Broken("oldmaid-3.15", f"{early.told} before the game", "the answer behind that to join", got=early.data)
    await scene.fill([guest])
    for request in (Draw(), Status()):
        guest.note(request)
        guest.judged(request, await guest.answer("oldmaid-3.15", f"the answer to {request}, which was sent ahead"))


async def too_much(scene: Scene) -> None:
    """What is sent ahead is not kept without a limit."""
    await scene.survey()
    guest = await scene.waiting()
    for _ in range(MOST_KEPT + 1):
        await guest.say(Draw())
    heard = await guest.reaction()
    if heard is None and not guest.gone:
        raise Broken("oldmaid-3.15", f"nothing to {MOST_KEPT + 1} requests behind a join", "an error, and the end")


def cases() -> Sequence[TableCase]:
    """Every case about waiting."""
    return [replace(found, alone=True) for found in _cases()]


def _cases() -> Sequence[TableCase]:
    return (
        case("3.2", "join-blocks", "Nobody is told anything before the game starts", blocks),
        case("3.11", "alone", "A single player waits", alone),
        case("3.12", "nick-is-free", "Who leaves before the start frees his nick", leaves),
        case("3.12", "moves-up", "Those behind who leaves before the start move up", moves_up),
        case("3.13", "two-games", "Two games are played at the same time, each with its own deck", two_games),
        case("3.13", "joins-late", "Who joins after the start waits for the next game", joins_late),
        case("3.14", "joins-again", "When a game is over its players may join again", joins_again, free=True),
        case("3.14", "joins-when-out", "Who is out may join the next game", joins_when_out, free=True),
        case("3.15", "kept", "Requests sent ahead wait behind the join, and are answered behind it", kept),
        case("3.15", "too-much", "Who sends too much ahead is dropped", too_much, free=True),
    )


def last() -> Sequence[TableCase]:
    """The case that takes its time."""
    return (case("3.11", "window", "Two players need not wait for the others for ever", window, alone=True),)
