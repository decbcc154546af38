"""Whole games at a table, watched by the referee: by players who do everything right, and by those who do not."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.driven_game import Sitting
from croupier.conformance.oldmaid.scripted_player import Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.cards import JOKER, wire
from croupier.rooms.oldmaid.table.game import CARDS
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, OutOfCards, Status

OFTEN: Final = 3
"""Between two steps of a game one in so many times something is done that does not belong to it."""


async def _fair(scene: Scene) -> None:
    """A game in which everybody does what he should."""
    sitting = await scene.sit()
    await sitting.draw()
    await sitting.play()


async def _asked(scene: Scene) -> None:
    """A game in which the status is asked for again and again, by whomever."""
    sitting = await scene.sit()

    async def ask(sitting: Sitting) -> None:
        if not scene.random.randrange(OFTEN):
            await sitting.guests[scene.random.randrange(len(sitting.guests))].ask(Status())

    await sitting.draw(between=ask)
    await sitting.play(between=ask)


async def _lied(scene: Scene) -> None:
    """A game in which somebody now and then asks for what is not his; the referee knows what is to be refused."""
    sitting = await scene.sit()
    lie = partial(_lie, scene)
    await sitting.draw(between=lie)
    await sitting.play(between=lie)


async def _lie(scene: Scene, sitting: Sitting) -> None:
    game, random = sitting.game, scene.random
    if random.randrange(OFTEN) or game.over:
        return
    liar = sitting.guests[random.randrange(len(sitting.guests))]
    seat = sitting.guests.index(liar)
    lies: list[Callable[[], Awaitable[object]]] = [partial(liar.refused, b"[]\n", "oldmaid-8.4")]
    if game.inside[seat]:
        lies.append(partial(liar.refused, Join(scene.nick()), "oldmaid-3.14"))
    if game.drawn == CARDS:
        lies.append(partial(liar.ask, Draw()))
    else:
        lies.append(partial(liar.ask, OutOfCards()))
        if game.taker != seat:
            lies.append(partial(liar.ask, Draw()))
    lies += [partial(liar.ask, discard) for discard in _wrong(sitting, liar)]
    await lies[random.randrange(len(lies))]()


def _wrong(sitting: Sitting, liar: Guest) -> list[Discard]:
    """Discards that the table has to refuse, as far as it can know."""
    found = [Discard((wire(JOKER), wire(0)), "false"), Discard((wire(0), wire(2)), "false")]
    threw = [deed for deed in sitting.game.course if deed[0] == "threw"]
    if threw:
        found.append(Discard((wire(threw[-1][2]), wire(threw[-1][3])), "false"))
    lone = {*range(JOKER)} - {*sitting.game.dealt}
    found += [Discard((wire(card & ~1), wire(card | 1)), "false") for card in sorted(lone)[:1]]
    if sitting.game.drawn < CARDS:
        others = [card for guest in sitting.guests if guest is not liar for card in sorted(sitting.hand(guest))]
        found += [Discard((wire(card & ~1), wire(card | 1)), "false") for card in others[:1] if card != JOKER]
    return found


async def _dies(drawn: int, scene: Scene) -> None:
    """A game in which somebody is gone when so many cards are drawn, and then another one."""
    sitting = await scene.sit(4)
    await sitting.draw(drawn)
    await sitting.leave(sitting.idler)
    await sitting.draw(min(CARDS, drawn + 9))
    await sitting.leave(sitting.taker)
    await sitting.draw()
    await sitting.others[-1].ask(Status())


async def _dies_later(scene: Scene) -> None:
    """A game in which somebody is gone when cards are picked."""
    sitting = await scene.sit(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished) or len(sitting.game.course) > CARDS + 12)
    leaver = sitting.others[0]
    await sitting.leave(leaver)
    for guest in sitting.others:
        await guest.ask(Status())
        await guest.ask(Draw())


async def _chopped(scene: Scene) -> None:
    """A game in which everybody sends a few bytes at a time."""
    sitting = await scene.sit()
    while sitting.game.drawn < CARDS:
        guest = sitting.taker
        await guest.ask(Draw(), chop=5)
        while (pair := sitting.discard(guest)) is not None:
            await guest.ask(pair, chop=7)
    await sitting.draw()
    await sitting.play()


async def _late(scene: Scene) -> None:
    """A game in which nobody throws anything away before all cards are drawn."""
    sitting = await scene.sit()
    await sitting.draw(throw=False)
    await sitting.throw_all()
    await sitting.play()


GAMES: Final[Sequence[tuple[str, str, str, Callable[[Scene], Awaitable[None]]]]] = (
    ("6.8", "game-1", "A whole game", _fair),
    ("6.8", "game-2", "Another one", _fair),
    ("6.8", "game-3", "And another one", _fair),
    ("6.7", "asked-often", "A game in which the status is asked for again and again", _asked),
    ("8.1", "lies-1", "A game in which some ask for what is not theirs", _lied),
    ("8.1", "lies-2", "Another one", _lied),
    ("9.2", "deaths-early", "A game in which two go when few cards are drawn", partial(_dies, 6)),
    ("9.2", "deaths-late", "A game in which two go when most cards are drawn", partial(_dies, 38)),
    ("9.1", "death-in-the-ring", "A game in which somebody goes when cards are picked", _dies_later),
    ("1.4", "game-in-pieces", "A game in which everybody sends a few bytes at a time", _chopped),
    ("5.8", "game-of-the-patient", "A game in which pairs are kept until all cards are drawn", _late),
)


def cases() -> Sequence[TableCase]:
    """Every whole game."""
    return [case(clause, slug, title, play, alone=play is _lied) for clause, slug, title, play in GAMES]
