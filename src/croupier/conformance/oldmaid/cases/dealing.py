"""Cases about what is done at a table while a game is played: cards are drawn, and pairs thrown away."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, case
from croupier.conformance.oldmaid.driven_game import Sitting
from croupier.conformance.oldmaid.findings import Broken, Chosen, Unseen
from croupier.conformance.oldmaid.scripted_player import Guest
from croupier.conformance.oldmaid.tables import Scene
from croupier.rooms.oldmaid.cards import JOKER, Card, pairs, wire
from croupier.rooms.oldmaid.table.game import CARDS
from croupier.rooms.oldmaid.wire import Discard, Draw

type Pair = tuple[Card, Card]


def thrown(pair: Pair, *, turned: bool = False) -> Discard:
    """The request that throws two cards away, the second one first if it is turned."""
    one, other = pair[::-1] if turned else pair
    return Discard((wire(one), wire(other)), "false")


async def whole_deck(scene: Scene) -> None:
    """All cards are drawn; the referee counts them, and looks at every answer."""
    await (await scene.sit()).draw(throw=False)


async def shuffled(scene: Scene) -> None:
    """Two games are not dealt alike."""
    dealt = []
    for _ in range(2):
        sitting = await scene.sit()
        await sitting.draw(throw=False)
        dealt.append(sitting.game.dealt)
    if dealt[0] == dealt[1]:
        raise Broken("oldmaid-4.1", "the same cards in the same order in two games", "a deck that is freshly shuffled")


async def not_twice(scene: Scene) -> None:
    """Who has drawn does not draw again before the others have."""
    sitting = await scene.sit()
    guest = sitting.taker
    await guest.ask(Draw())
    await guest.refused(Draw(), "oldmaid-4.3")
    await sitting.draw(len(sitting.guests))


async def takes_no_card(scene: Scene) -> None:
    """A draw that is refused takes no card: there are 53 for those who may draw."""
    sitting = await scene.sit()
    while sitting.game.drawn < CARDS - 1:
        await sitting.idler.refused(Draw(), "oldmaid-4.3")
        await sitting.draw(sitting.game.drawn + 7 if sitting.game.drawn < 40 else CARDS - 1, throw=False)
    await sitting.draw(CARDS)


async def behind_the_last(scene: Scene) -> None:
    """Nobody gets a card when all are drawn."""
    sitting = await scene.sit()
    await sitting.draw()
    for guest in sitting.guests:
        await guest.refused(Draw(), "oldmaid-4.5")


# Throwing away.


async def _own_pair(scene: Scene) -> tuple[Sitting, Guest, Pair]:
    """A game in which somebody has a pair while cards are drawn."""
    sitting = await scene.sit()

    def owner() -> Guest | None:
        return next((guest for guest in sitting.guests if sitting.known(guest).pair), None)

    await sitting.draw_until(owner)
    guest = owner()
    if guest is None:
        raise Unseen("nobody has drawn both cards of a pair")
    pair = sitting.known(guest).pair
    assert pair is not None, "who was found has one"
    return sitting, guest, pair


def _throws(*, turned: bool) -> Callable[[Scene], Awaitable[None]]:
    async def play(scene: Scene) -> None:
        _, guest, pair = await _own_pair(scene)
        await guest.granted(thrown(pair, turned=turned), "oldmaid-5.2")

    return play


async def out_of_turn(scene: Scene) -> None:
    """A pair may be thrown away when it is another's turn to draw."""
    sitting, guest, pair = await _own_pair(scene)
    while sitting.taker is guest:
        await sitting.draw(sitting.game.drawn + 1, throw=False)
    await guest.granted(thrown(pair), "oldmaid-5.8")
    await sitting.draw(sitting.game.drawn + len(sitting.guests), throw=False)


async def late(scene: Scene) -> None:
    """Pairs that were kept may be thrown away when all cards are drawn."""
    sitting = await scene.sit()
    await sitting.draw(throw=False)
    await sitting.throw_all()


async def twice(scene: Scene) -> None:
    """A pair is thrown away once, by whomever."""
    sitting, guest, pair = await _own_pair(scene)
    await guest.ask(thrown(pair))
    await guest.refused(thrown(pair, turned=True), "oldmaid-5.5")
    other = next(other for other in sitting.guests if other is not guest)
    await other.refused(thrown(pair), "oldmaid-5.5")
    await sitting.draw(sitting.game.drawn + 1, throw=False)


def _no_pair(fits: Callable[[Card, Card], bool], clause: str) -> Callable[[Scene], Awaitable[None]]:
    """Two cards of somebody that are no pair, for a reason."""

    async def play(scene: Scene) -> None:
        sitting = await scene.sit()

        def found() -> tuple[Guest, Pair] | None:
            for guest in sitting.guests:
                for one, other in combinations(sorted(sitting.hand(guest)), 2):
                    if fits(one, other):
                        return guest, (one, other)
            return None

        await sitting.draw_until(found)
        here = found()
        if here is None:
            raise Unseen("nobody has drawn two such cards")
        guest, pair = here
        await guest.refused(thrown(pair), clause)
        await guest.refused(thrown(pair, turned=True), clause)

    return play


async def same_card(scene: Scene) -> None:
    """A card makes no pair with itself."""
    sitting = await scene.sit()
    guest = sitting.taker
    await guest.ask(Draw())
    (card,) = sitting.hand(guest)
    await guest.refused(thrown((card, card)), "oldmaid-5.3")
    await sitting.draw(len(sitting.guests))


UNKNOWN: Final = (
    (("1", "spades"), ("1", "clubs")),
    (("3", "Spades"), ("3", "Clubs")),
    (("T", "hearts"), ("T", "diamonds")),
)
"""What is spelt like a pair, and is in no pack."""


async def unknown(scene: Scene) -> None:
    """Cards that are not in the pack are refused, also those that are spelt in another way."""
    sitting = await scene.sit()
    await sitting.draw(throw=False)
    for cards in UNKNOWN:
        await sitting.guests[0].refused(Discard(cards, "false"), "oldmaid-5.4")


async def from_the_deck(scene: Scene) -> None:
    """A card with its partner in the deck is no pair yet."""
    sitting = await scene.sit()
    while True:
        guest = sitting.taker
        await sitting.draw(sitting.game.drawn + 1, throw=False)
        drawn = {*sitting.game.dealt}
        lone = next((card for card in sitting.hand(guest) if card != JOKER and card ^ 1 not in drawn), None)
        if lone is not None:
            break
    await guest.refused(thrown((lone, lone ^ 1)), "oldmaid-5.6")
    await sitting.draw(sitting.game.drawn + len(sitting.guests), throw=False)


async def of_others(scene: Scene) -> None:
    """As long as cards are drawn nobody throws away a card of another."""
    sitting = await scene.sit()

    def found() -> tuple[Guest, Guest, Pair] | None:
        for one, other in combinations(sitting.guests, 2):
            for card in sitting.hand(one):
                if card != JOKER and card ^ 1 in sitting.hand(other):
                    return one, other, (card, card ^ 1)
        return None

    await sitting.draw_until(found)
    here = found()
    if here is None or sitting.game.drawn == CARDS:
        raise Unseen("no pair was drawn by two players")
    *both, pair = here
    for guest in both:
        await guest.refused(thrown(pair), "oldmaid-5.7")


async def of_another(scene: Scene) -> None:
    """Nor a whole pair of another."""
    sitting, guest, pair = await _own_pair(scene)
    if sitting.game.drawn == CARDS:
        raise Unseen("the pair came with the last card")
    other = next(other for other in sitting.guests if other is not guest)
    await other.refused(thrown(pair), "oldmaid-5.7")
    await guest.granted(thrown(pair), "oldmaid-5.7")


async def picked(scene: Scene) -> None:
    """When all cards are drawn the table believes who has what: a pair with a card that was picked is taken."""
    sitting = await scene.sit()
    await sitting.draw()
    before = len(sitting.game.course)
    await sitting.play(lambda: any(deed[0] == "threw" for deed in sitting.game.course[before:]))


async def not_out_yet(scene: Scene) -> None:
    """Who says that these were his last cards is not out."""
    sitting, guest, pair = await _own_pair(scene)
    await guest.granted(Discard(thrown(pair).cards, "true"), "oldmaid-5.10")
    await sitting.draw(min(CARDS, sitting.game.drawn + len(sitting.guests)), throw=False)


def _tolerance(clause: str, keys: str, told: str) -> Callable[[Scene], Awaitable[None]]:
    """What a table makes of another way to tell the last cards: `keys` stand behind the cards."""

    async def play(scene: Scene) -> None:
        sitting, guest, pair = await _own_pair(scene)
        said = thrown(pair)
        cards = str(said).partition(',"last_cards"')[0]
        await guest.say(f"{cards}{keys}}}\n".encode(), judged=False)
        heard = await guest.answer(clause)
        if not heard.error:
            guest.note(said)
        guest.judged(said if not heard.error else None, heard)
        await sitting.draw(min(CARDS, sitting.game.drawn + len(sitting.guests)), throw=False)
        raise Chosen(f"{told} is {'refused' if heard.error else 'taken'}")

    return play


def cases() -> Sequence[TableCase]:
    """Every case about a game, in the order of the page."""
    value, colour = "5.3", "5.1"
    return (
        case("4.1", "each-card-once", "Every card is dealt once", whole_deck),
        case("4.1", "shuffled", "Every game is dealt from a freshly shuffled deck", shuffled),
        case("2.9", "reason", "A discard that is refused is answered with a message", unknown),
        case("2.4", "every-card", "Every card is spelt as it should be", whole_deck),
        case("4.2", "one-card", "A draw is answered with a single card", whole_deck),
        case("4.3", "again-and-again", "The players draw a card each in the order of the list", whole_deck),
        case("4.3", "not-twice", "Who has drawn does not draw again at once", not_twice),
        case("4.3", "takes-no-card", "A draw out of order takes nobody's card", takes_no_card),
        case("4.4", "last-card", "With card 53 the result is last_card, and with no other", whole_deck),
        case("4.5", "behind-the-last", "There is nothing to draw behind the last card", behind_the_last),
        case("5.2", "pair", "A pair is thrown away", _throws(turned=False)),
        case("5.2", "turned", "A pair is one in either order", _throws(turned=True)),
        case(
            value,
            "values",
            "Two values are no pair",
            _no_pair(lambda a, b: b < JOKER and a // 4 != b // 4, "oldmaid-5.3"),
        ),
        case(
            value,
            "colours",
            "A black and a red card are no pair",
            _no_pair(lambda a, b: b < JOKER and a // 4 == b // 4 and not pairs(a, b), "oldmaid-5.3"),
        ),
        case(value, "same-card", "A card makes no pair with itself", same_card),
        case(colour, "joker", "The joker makes no pair", _no_pair(lambda _, b: b == JOKER, "oldmaid-5.1")),
        case("5.4", "unknown", "Cards that are not in the pack, or spelt otherwise, are refused", unknown),
        case("5.5", "twice", "A pair is thrown away once", twice),
        case("5.6", "from-the-deck", "A card in the deck cannot be thrown away", from_the_deck),
        case("5.7", "of-others", "While cards are drawn nobody throws away the card of another", of_others),
        case("5.7", "of-another", "Nor a whole pair of another", of_another),
        case("5.7", "picked", "A pair with a card that was picked is taken", picked),
        case("5.8", "out-of-turn", "A pair may be thrown away when it is another's turn", out_of_turn),
        case("5.8", "late", "Pairs may be thrown away when all cards are drawn", late),
        case("5.10", "not-out-yet", "Who says that these were his last cards is not out", not_out_yet),
        case("2.6", "boolean", "last_cards may be a boolean", _tolerance("2.6", ', "last_cards": false', "a boolean")),
        case(
            "2.7",
            "last-card",
            "The key may be last_card",
            _tolerance("2.7", ', "last_card": "false"', "the key last_card"),
        ),
        case("2.8", "missing", "last_cards may be missing", _tolerance("2.8", "", "a discard without last_cards")),
    )
