"""Cases about how games end at a table: somebody is out of cards, or gone; and how that stands in the status."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Final

from croupier.conformance.oldmaid.cases.dealing import thrown
from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.driven_game import Sitting
from croupier.conformance.oldmaid.findings import Broken, Refused, Unseen
from croupier.conformance.oldmaid.scripted_player import Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.cards import JOKER, Card
from croupier.rooms.oldmaid.table.game import CARDS
from croupier.rooms.oldmaid.wire import Draw, OutOfCards, Standing, Status

GAMES: Final = 4
"""So many games are played until something comes up that needs luck."""


def _in_the_end(clause: str) -> Callable[[Scene], Awaitable[None]]:
    """A whole game, and its standing whenever somebody is out, and at the end."""

    async def play(scene: Scene) -> None:
        sitting = await scene.sit()
        await _status(sitting, sitting.guests[0])
        await sitting.draw()
        out = 0

        async def look(sitting: Sitting) -> None:
            nonlocal out
            if len(sitting.game.finished) > out:
                out = len(sitting.game.finished)
                await _status(sitting, sitting.guests[sitting.game.finished[-1]])

        await sitting.play(between=look)
        if not sitting.game.over:
            raise Unseen("the game has not ended")
        for guest in sitting.guests:
            await _status(sitting, guest, clause)

    return play


async def _status(sitting: Sitting, guest: Guest, clause: str = "oldmaid-6.5") -> None:
    await guest.say(Status())
    heard = await guest.answer(clause)
    if heard.error:
        raise Refused(f"the status is refused: {heard.told}")
    wanted, found = sitting.game.standing, heard.message
    if isinstance(found, Standing) and {*found.inside, *found.outside} != {*wanted.inside, *wanted.outside}:
        raise Broken("oldmaid-6.5", heard.told, f"all players, as in {wanted}", got=heard.data)
    if isinstance(found, Standing) and found != wanted and clause != "oldmaid-6.5":
        raise Broken(clause, heard.told, str(wanted), got=heard.data)
    guest.judged(Status(), heard)


async def last_pair(scene: Scene) -> None:
    """Who is left when the other is rid of his last card may throw away the pair that it makes."""
    for _ in range(GAMES):
        sitting = await scene.sit()
        sitting.hasty = True
        await sitting.draw()
        await sitting.play()
        if sitting.game.over and len(sitting.game.course) > 0 and sitting.game.course[-1][0] == "threw":
            return
    raise Unseen(f"in {GAMES} games the last pair was never made by somebody's last card")


async def cannot_be_out(scene: Scene) -> None:
    """Nobody is out of cards while there are some in the deck, not even with an empty hand."""
    sitting = await scene.sit()
    while sitting.game.drawn < CARDS - 1:
        await sitting.draw(sitting.game.drawn + 1)
        guest = next((guest for guest in sitting.guests if sitting.game.drawn > 20 and not sitting.hand(guest)), None)
        if guest is not None:
            break
    await (guest or sitting.idler).refused(OutOfCards(), "oldmaid-6.2")
    await sitting.draw()


async def njaal_game(scene: Scene) -> None:
    """A whole game in that dialect."""
    if scene.tables.dialect != "njaal":
        raise Unseen("the table is expected to speak as the document has it")
    sitting = await scene.sit()
    await sitting.draw()
    await sitting.play()


# Gone.


async def _hangs_up(scene: Scene, least: int = 3, drawn: int = 7) -> tuple[Sitting, Guest]:
    """A game in which somebody has gone who is not to draw now, while cards are drawn."""
    sitting = await scene.sit(least)
    await sitting.draw(drawn, throw=False)
    guest = sitting.idler
    await sitting.leave(guest)
    return sitting, guest


async def gone(scene: Scene) -> None:
    """Who hangs up is out, and last."""
    sitting, _ = await _hangs_up(scene)
    await _status(sitting, sitting.others[0], "oldmaid-9.1")


async def reset(scene: Scene) -> None:
    """So is whose connection is reset."""
    sitting = await scene.sit(3)
    await sitting.draw(5, throw=False)
    await sitting.leave(sitting.idler, reset=True)
    await sitting.draw(5 + 2 * len(sitting.guests), throw=False)


async def drawn_on(scene: Scene) -> None:
    """The others draw on without him."""
    sitting, _ = await _hangs_up(scene)
    await sitting.draw(throw=False)


async def when_due(scene: Scene) -> None:
    """If he was about to draw, the next one draws."""
    sitting = await scene.sit(3)
    await sitting.draw(5, throw=False)
    await sitting.leave(sitting.taker)
    await sitting.draw(5 + 2 * len(sitting.guests), throw=False)


async def with_cards(scene: Scene) -> None:
    """His cards are gone with him: nobody throws them away."""
    sitting = await scene.sit(3)

    def found() -> tuple[Guest, Guest, Card] | None:
        for one, other in combinations(sitting.guests, 2):
            for card in sitting.hand(one):
                if card != JOKER and card ^ 1 in sitting.hand(other):
                    return one, other, card
        return None

    await sitting.draw_until(found)
    here = found()
    if here is None or sitting.game.drawn == CARDS:
        raise Unseen("no pair was drawn by two players")
    guest, leaver, card = here
    await sitting.leave(leaver)
    await guest.refused(thrown((card, card ^ 1)), "oldmaid-9.2")


async def last_drawer(scene: Scene) -> None:
    """If who has drawn the last card is gone, nothing is drawn again."""
    sitting = await scene.sit(3)
    await sitting.draw()
    seat = [deed[1] for deed in sitting.game.course if deed[0] == "drew"][-1]
    await sitting.leave(sitting.guests[seat])
    await sitting.others[0].refused(Draw(), "oldmaid-4.5")


async def all_but_one(scene: Scene) -> None:
    """When the others are gone the game is over."""
    sitting = await scene.sit()
    await sitting.draw(3, throw=False)
    left, *leavers = sitting.guests
    for guest in leavers:
        await sitting.leave(guest)
    await left.refused(Draw(), "oldmaid-9.3")


async def everybody(scene: Scene) -> None:
    """A game that everybody has left does not disturb the next one."""
    sitting = await scene.sit()
    await sitting.draw(3, throw=False)
    for guest in sitting.guests:
        await sitting.leave(guest)
    following = await scene.sit()
    await following.draw(throw=False)


async def out_and_gone(scene: Scene) -> None:
    """Who is out may leave: he keeps his place."""
    sitting = await scene.sit(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished))
    winner = sitting.guests[sitting.game.finished[0]]
    winner.hang_up()
    await sitting.play()
    await _status(sitting, next(guest for guest in sitting.guests if not guest.gone), "oldmaid-9.4")


async def who_stayed_longer(scene: Scene) -> None:
    """Of those who are gone, who stayed longer comes first."""
    sitting = await scene.sit(4)
    await sitting.draw(5, throw=False)
    for guest in (sitting.guests[3], sitting.guests[1]):
        await sitting.leave(guest)
    await _status(sitting, sitting.guests[0], "oldmaid-6.6")


def cases() -> Sequence[TableCase]:
    """Every case about the end, in the order of the page."""
    return (
        case("2.2", "every-request", "The table knows every request of a player", _in_the_end("oldmaid-2.2")),
        case("2.3", "every-answer", "Every answer has the form that its request asks for", _in_the_end("oldmaid-2.3")),
        case("10.3", "game", "njaal: all but the list is as the document has it", njaal_game),
        case("6.1", "order", "The order of out_of_cards is that in which players are out", _in_the_end("oldmaid-6.1")),
        case("6.2", "deck", "Nobody is out of cards while there are some in the deck", cannot_be_out),
        case("6.5", "everybody", "The status has all players of the game", _in_the_end("oldmaid-6.5")),
        case("6.6", "winner-first", "Of those who are out the winner comes first", _in_the_end("oldmaid-6.6")),
        case(
            "6.6", "stayed-longer", "Of those who are gone, who stayed longer comes first", who_stayed_longer, free=True
        ),
        case("6.8", "one-left", "When one player is left the game is over", _in_the_end("oldmaid-6.8")),
        case("6.11", "ranking", "The one who is left has lost", _in_the_end("oldmaid-6.11")),
        case("6.9", "last-pair", "Who is left may throw away his last pair", last_pair, free=True),
        case("9.1", "gone", "Who hangs up is out, and last", gone),
        case("9.1", "reset", "So is whose connection is reset", reset),
        case("9.2", "drawn-on", "The others draw on without who is gone", drawn_on),
        case("9.2", "when-due", "If he was about to draw, the next one draws", when_due),
        case("9.2", "with-cards", "The cards of who is gone are gone with him", with_cards),
        case("9.2", "last-drawer", "If who has drawn the last card is gone, nothing is drawn again", last_drawer),
        case("9.3", "all-but-one", "When the others are gone the game is over", all_but_one),
        case("9.3", "everybody", "A game that all have left does not disturb the next one", everybody),
        case("9.4", "out-and-gone", "Who is out may leave, and keeps his place", out_and_gone),
    )
