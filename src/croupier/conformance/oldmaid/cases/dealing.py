"""Cases about what is done at a table while a game is played: cards are drawn, and pairs thrown away."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice, NotReached
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import JOKER, Card, is_pair, to_wire
from croupier.rooms.oldmaid.table.game import CARD_COUNT
from croupier.rooms.oldmaid.wire import Discard, Draw

type Pair = tuple[Card, Card]


def discard_of(pair: Pair, *, is_reversed: bool = False) -> Discard:
    """The request that throws two cards away, the second one first if it is turned."""
    one, other = pair[::-1] if is_reversed else pair
    return Discard((to_wire(one), to_wire(other)), "false")


async def whole_deck(context: TableContext) -> None:
    """All cards are drawn; the referee counts them, and looks at every answer."""
    await (await context.start_game()).draw(discards_pairs=False)


async def deck_is_shuffled(context: TableContext) -> None:
    """Two games are not dealt alike."""
    dealt = []
    for _ in range(2):
        sitting = await context.start_game()
        await sitting.draw(discards_pairs=False)
        dealt.append(sitting.game.dealt_cards)
    if dealt[0] == dealt[1]:
        raise Failed("oldmaid-4.1", "the same cards in the same order in two games", "a deck that is freshly shuffled")


async def no_second_draw(context: TableContext) -> None:
    """Who has drawn does not draw again before the others have."""
    sitting = await context.start_game()
    guest = sitting.drawer
    await guest.request(Draw())
    await guest.require_error(Draw(), "oldmaid-4.3")
    await sitting.draw(len(sitting.players))


async def refused_draw_takes_no_card(context: TableContext) -> None:
    """A draw that is refused takes no card: there are 53 for those who may draw."""
    sitting = await context.start_game()
    while sitting.game.drawn_count < CARD_COUNT - 1:
        await sitting.waiting_player.require_error(Draw(), "oldmaid-4.3")
        await sitting.draw(
            sitting.game.drawn_count + 7 if sitting.game.drawn_count < 40 else CARD_COUNT - 1, discards_pairs=False
        )
    await sitting.draw(CARD_COUNT)


async def draw_after_last_card(context: TableContext) -> None:
    """Nobody gets a card when all are drawn."""
    sitting = await context.start_game()
    await sitting.draw()
    for guest in sitting.players:
        await guest.require_error(Draw(), "oldmaid-4.5")


# Throwing away.


async def _game_with_pair(context: TableContext) -> tuple[DrivenGame, ScriptedPlayer, Pair]:
    """A game in which somebody has a pair while cards are drawn."""
    sitting = await context.start_game()

    def owner() -> ScriptedPlayer | None:
        return next((guest for guest in sitting.players if sitting.observed(guest).pair), None)

    await sitting.draw_until(owner)
    guest = owner()
    if guest is None:
        raise NotReached("nobody has drawn both cards of a pair")
    pair = sitting.observed(guest).pair
    assert pair is not None, "who was found has one"
    return sitting, guest, pair


def _discard_case(*, is_reversed: bool) -> Callable[[TableContext], Awaitable[None]]:
    async def play(scene: TableContext) -> None:
        _, guest, pair = await _game_with_pair(scene)
        await guest.require_ok(discard_of(pair, is_reversed=is_reversed), "oldmaid-5.2")

    return play


async def discard_out_of_turn(context: TableContext) -> None:
    """A pair may be thrown away when it is another's turn to draw."""
    sitting, guest, pair = await _game_with_pair(context)
    while sitting.drawer is guest:
        await sitting.draw(sitting.game.drawn_count + 1, discards_pairs=False)
    await guest.require_ok(discard_of(pair), "oldmaid-5.8")
    await sitting.draw(sitting.game.drawn_count + len(sitting.players), discards_pairs=False)


async def late_discard(context: TableContext) -> None:
    """Pairs that were kept may be thrown away when all cards are drawn."""
    sitting = await context.start_game()
    await sitting.draw(discards_pairs=False)
    await sitting.discard_all_pairs()


async def discard_twice(context: TableContext) -> None:
    """A pair is thrown away once, by whomever."""
    sitting, guest, pair = await _game_with_pair(context)
    await guest.request(discard_of(pair))
    await guest.require_error(discard_of(pair, is_reversed=True), "oldmaid-5.5")
    other = next(other for other in sitting.players if other is not guest)
    await other.require_error(discard_of(pair), "oldmaid-5.5")
    await sitting.draw(sitting.game.drawn_count + 1, discards_pairs=False)


def _no_pair_case(matches: Callable[[Card, Card], bool], clause: str) -> Callable[[TableContext], Awaitable[None]]:
    """Two cards of somebody that are no pair, for a reason."""

    async def play(scene: TableContext) -> None:
        sitting = await scene.start_game()

        def found() -> tuple[ScriptedPlayer, Pair] | None:
            for guest in sitting.players:
                for one, other in combinations(sorted(sitting.hand(guest)), 2):
                    if matches(one, other):
                        return guest, (one, other)
            return None

        await sitting.draw_until(found)
        here = found()
        if here is None:
            raise NotReached("nobody has drawn two such cards")
        guest, pair = here
        await guest.require_error(discard_of(pair), clause)
        await guest.require_error(discard_of(pair, is_reversed=True), clause)

    return play


async def card_with_itself(context: TableContext) -> None:
    """A card makes no pair with itself."""
    sitting = await context.start_game()
    guest = sitting.drawer
    await guest.request(Draw())
    (card,) = sitting.hand(guest)
    await guest.require_error(discard_of((card, card)), "oldmaid-5.3")
    await sitting.draw(len(sitting.players))


UNKNOWN_PAIRS: Final = (
    (("1", "spades"), ("1", "clubs")),
    (("3", "Spades"), ("3", "Clubs")),
    (("T", "hearts"), ("T", "diamonds")),
)
"""What is spelt like a pair, and is in no pack."""


async def unknown_cards(context: TableContext) -> None:
    """Cards that are not in the pack are refused, also those that are spelt in another way."""
    sitting = await context.start_game()
    await sitting.draw(discards_pairs=False)
    for cards in UNKNOWN_PAIRS:
        await sitting.players[0].require_error(Discard(cards, "false"), "oldmaid-5.4")


async def partner_in_deck(context: TableContext) -> None:
    """A card with its partner in the deck is no pair yet."""
    sitting = await context.start_game()
    while True:
        guest = sitting.drawer
        await sitting.draw(sitting.game.drawn_count + 1, discards_pairs=False)
        drawn = {*sitting.game.dealt_cards}
        lone = next((card for card in sitting.hand(guest) if card != JOKER and card ^ 1 not in drawn), None)
        if lone is not None:
            break
    await guest.require_error(discard_of((lone, lone ^ 1)), "oldmaid-5.6")
    await sitting.draw(sitting.game.drawn_count + len(sitting.players), discards_pairs=False)


async def partner_of_another(context: TableContext) -> None:
    """As long as cards are drawn nobody throws away a card of another."""
    sitting = await context.start_game()

    def found() -> tuple[ScriptedPlayer, ScriptedPlayer, Pair] | None:
        for one, other in combinations(sitting.players, 2):
            for card in sitting.hand(one):
                if card != JOKER and card ^ 1 in sitting.hand(other):
                    return one, other, (card, card ^ 1)
        return None

    await sitting.draw_until(found)
    here = found()
    if here is None or sitting.game.drawn_count == CARD_COUNT:
        raise NotReached("no pair was drawn by two players")
    *both, pair = here
    for guest in both:
        await guest.require_error(discard_of(pair), "oldmaid-5.7")


async def pair_of_another(context: TableContext) -> None:
    """Nor a whole pair of another."""
    sitting, guest, pair = await _game_with_pair(context)
    if sitting.game.drawn_count == CARD_COUNT:
        raise NotReached("the pair came with the last card")
    other = next(other for other in sitting.players if other is not guest)
    await other.require_error(discard_of(pair), "oldmaid-5.7")
    await guest.require_ok(discard_of(pair), "oldmaid-5.7")


async def pair_with_picked_card(context: TableContext) -> None:
    """When all cards are drawn the table believes who has what: a pair with a card that was picked is taken."""
    sitting = await context.start_game()
    await sitting.draw()
    before = len(sitting.game.log)
    await sitting.play(lambda: any(deed[0] == "threw" for deed in sitting.game.log[before:]))


async def last_cards_claim(context: TableContext) -> None:
    """Who says that these were his last cards is not out."""
    sitting, guest, pair = await _game_with_pair(context)
    await guest.require_ok(Discard(discard_of(pair).cards, "true"), "oldmaid-5.10")
    await sitting.draw(min(CARD_COUNT, sitting.game.drawn_count + len(sitting.players)), discards_pairs=False)


def _tolerance_case(clause: str, keys: str, description: str) -> Callable[[TableContext], Awaitable[None]]:
    """What a table makes of another way to tell the last cards: `keys` stand behind the cards."""

    async def play(scene: TableContext) -> None:
        sitting, guest, pair = await _game_with_pair(scene)
        said = discard_of(pair)
        cards = str(said).partition(',"last_cards"')[0]
        await guest.send(f"{cards}{keys}}}\n".encode(), is_judged=False)
        heard = await guest.receive_answer(clause)
        if not heard.is_error:
            guest.report_request(said)
        guest.judge_answer(said if not heard.is_error else None, heard)
        await sitting.draw(min(CARD_COUNT, sitting.game.drawn_count + len(sitting.players)), discards_pairs=False)
        raise ImplementationChoice(f"{description} is {'refused' if heard.is_error else 'taken'}")

    return play


def cases() -> Sequence[TableCase]:
    """Every case about a game, in the order of the page."""
    value, colour = "5.3", "5.1"
    return (
        table_case("4.1", "each-card-once", "Every card is dealt once", whole_deck),
        table_case("4.1", "shuffled", "Every game is dealt from a freshly shuffled deck", deck_is_shuffled),
        table_case("2.9", "reason", "A discard that is refused is answered with a message", unknown_cards),
        table_case("2.4", "every-card", "Every card is spelt as it should be", whole_deck),
        table_case("4.2", "one-card", "A draw is answered with a single card", whole_deck),
        table_case("4.3", "again-and-again", "The players draw a card each in the order of the list", whole_deck),
        table_case("4.3", "not-twice", "Who has drawn does not draw again at once", no_second_draw),
        table_case("4.3", "takes-no-card", "A draw out of order takes nobody's card", refused_draw_takes_no_card),
        table_case("4.4", "last-card", "With card 53 the result is last_card, and with no other", whole_deck),
        table_case("4.5", "behind-the-last", "There is nothing to draw behind the last card", draw_after_last_card),
        table_case("5.2", "pair", "A pair is thrown away", _discard_case(is_reversed=False)),
        table_case("5.2", "turned", "A pair is one in either order", _discard_case(is_reversed=True)),
        table_case(
            value,
            "values",
            "Two values are no pair",
            _no_pair_case(lambda a, b: b < JOKER and a // 4 != b // 4, "oldmaid-5.3"),
        ),
        table_case(
            value,
            "colours",
            "A black and a red card are no pair",
            _no_pair_case(lambda a, b: b < JOKER and a // 4 == b // 4 and not is_pair(a, b), "oldmaid-5.3"),
        ),
        table_case(value, "same-card", "A card makes no pair with itself", card_with_itself),
        table_case(colour, "joker", "The joker makes no pair", _no_pair_case(lambda _, b: b == JOKER, "oldmaid-5.1")),
        table_case("5.4", "unknown", "Cards that are not in the pack, or spelt otherwise, are refused", unknown_cards),
        table_case("5.5", "twice", "A pair is thrown away once", discard_twice),
        table_case("5.6", "from-the-deck", "A card in the deck cannot be thrown away", partner_in_deck),
        table_case(
            "5.7", "of-others", "While cards are drawn nobody throws away the card of another", partner_of_another
        ),
        table_case("5.7", "of-another", "Nor a whole pair of another", pair_of_another),
        table_case("5.7", "picked", "A pair with a card that was picked is taken", pair_with_picked_card),
        table_case("5.8", "out-of-turn", "A pair may be thrown away when it is another's turn", discard_out_of_turn),
        table_case("5.8", "late", "Pairs may be thrown away when all cards are drawn", late_discard),
        table_case("5.10", "not-out-yet", "Who says that these were his last cards is not out", last_cards_claim),
        table_case(
            "2.6",
            "boolean",
            "last_cards may be a boolean",
            _tolerance_case("2.6", ', "last_cards": false', "a boolean"),
        ),
        table_case(
            "2.7",
            "last-card",
            "The key may be last_card",
            _tolerance_case("2.7", ', "last_card": "false"', "the key last_card"),
        ),
        table_case(
            "2.8", "missing", "last_cards may be missing", _tolerance_case("2.8", "", "a discard without last_cards")
        ),
    )
