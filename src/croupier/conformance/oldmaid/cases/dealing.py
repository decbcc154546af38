"""Table cases about drawing cards and discarding pairs."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.driven_game import DrivenGame, Pair
from croupier.conformance.oldmaid.outcomes import Failed, NonStrict
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.conformance.suite import FAIR_DEAL_SLUG
from croupier.rooms.oldmaid.cards import CARD_COUNT, JOKER, Card, is_pair, to_wire
from croupier.rooms.oldmaid.wire import Discard, Draw, Standing, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid")

FAIR_DEALS: Final = 60
"""With this many games, a card that never comes among the first ones is found, and the same order in every game."""

FAIR_DEAL_RANK: Final = 1000
"""The deals are judged when all other games are over."""


def discard_of(pair: Pair, *, is_reversed: bool = False) -> Discard:
    """Return the request that discards two cards, in reverse order if `is_reversed`."""
    first, second = pair[::-1] if is_reversed else pair
    return Discard((to_wire(first), to_wire(second)), "false")


@CASES.add("4.1", "each-card-once", "Every card is dealt once")
@CASES.add("2.4", "every-card", "Every card is spelt as it should be")
@CASES.add("4.2", "one-card", "A draw is answered with a single card")
@CASES.add("4.3", "again-and-again", "The players draw a card each in the order of the list")
@CASES.add("4.4", "last-card", "With card 53 the result is last_card, and with no other")
async def whole_deck(context: TableContext) -> None:
    """All cards are drawn under the referee."""
    await context.start_game(drawn=CARD_COUNT, discards_pairs=False)


@CASES.add("4.1", "shuffled", "Every game is dealt from a freshly shuffled deck")
async def _deck_is_shuffled(context: TableContext) -> None:
    dealt = []
    for _ in range(2):
        driven_game = await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
        dealt.append(driven_game.game.dealt_cards)
    if dealt[0] == dealt[1]:
        raise Failed("oldmaid-4.1", "the same cards in the same order in two games", "a deck that is freshly shuffled")


@CASES.add("4.1", FAIR_DEAL_SLUG, "No card comes too often or too rarely", rank=FAIR_DEAL_RANK)
async def _deals_are_fair(context: TableContext) -> None:
    while context.table.deals.deals < FAIR_DEALS:
        await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
        context.count_deals()
    if (unfair := context.table.deals.find_unfair()) is not None:
        raise Failed("oldmaid-4.1", unfair.found, unfair.fair)


@CASES.add("4.3", "not-twice", "A player that has drawn does not draw again at once")
async def _no_second_draw(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = driven_game.drawer
    await player.request(Draw())
    await player.require_error(Draw(), "oldmaid-4.3")
    await driven_game.draw(len(driven_game.players))


@CASES.add("4.3", "takes-no-card", "A draw out of order takes no card from the deck")
async def _refused_draw_takes_no_card(context: TableContext) -> None:
    driven_game = await context.start_game()
    while driven_game.game.drawn_count < CARD_COUNT - 1:
        await driven_game.waiting_player.require_error(Draw(), "oldmaid-4.3")
        await driven_game.draw(
            driven_game.game.drawn_count + 7 if driven_game.game.drawn_count < 40 else CARD_COUNT - 1,
            discards_pairs=False,
        )
    await driven_game.draw(discards_pairs=False)


@CASES.add("4.5", "behind-the-last", "A draw after the last card is refused")
async def _draw_after_last_card(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
    for player in driven_game.players:
        await player.require_error(Draw(), "oldmaid-4.5")


# Discarding.


async def _game_with_pair(context: TableContext) -> tuple[DrivenGame, ScriptedPlayer, Pair]:
    """Start a game and draw until a player has a pair; return the game, the player and the pair."""
    driven_game = await context.start_game()
    return driven_game, *await driven_game.draw_pair()


@CASES.add("5.2", "pair", "A pair is discarded")
async def _discard_pair(context: TableContext) -> None:
    driven_game, player, _ = await _game_with_pair(context)
    await driven_game.discard_pairs(player)


@CASES.add("5.2", "turned", "A pair is one in either order")
async def _discard_turned_pair(context: TableContext) -> None:
    _, player, pair = await _game_with_pair(context)
    await player.require_ok(discard_of(pair, is_reversed=True), "oldmaid-5.2")


async def _early_discard(context: TableContext, *, in_turn: bool) -> None:
    """A pair may be discarded while cards are drawn."""
    driven_game, player, pair = await _game_with_pair(context)
    while (driven_game.drawer is player) is not in_turn and driven_game.game.drawn_count < CARD_COUNT:
        await driven_game.draw_more(1)
    await player.require_ok(discard_of(pair), "oldmaid-5.8")
    await driven_game.draw_more()


CASES.add("5.8", "out-of-turn", "A pair may be discarded out of turn")(partial(_early_discard, in_turn=False))
CASES.add("5.8", "in-turn", "A pair may be discarded before the player draws its next card")(
    partial(_early_discard, in_turn=True)
)


@CASES.add("5.8", "late", "Pairs may be discarded when all cards are drawn")
async def _late_discard(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
    await driven_game.discard_all_pairs()


@CASES.add("5.5", "twice", "A pair is discarded once")
async def _discard_twice(context: TableContext) -> None:
    driven_game, player, pair = await _game_with_pair(context)
    await player.request(discard_of(pair))
    await player.require_error(discard_of(pair, is_reversed=True), "oldmaid-5.5")
    second = next(second for second in driven_game.players if second is not player)
    await second.require_error(discard_of(pair), "oldmaid-5.5")
    await driven_game.draw_more(1)


async def _no_pair(matches: Callable[[Card, Card], bool], clause: str, context: TableContext) -> None:
    """Two cards of a player that are not a pair cannot be discarded."""
    driven_game = await context.start_game()

    def find() -> tuple[ScriptedPlayer, Pair] | None:
        for player in driven_game.players:
            for first, second in combinations(sorted(driven_game.hand(player)), 2):
                if matches(first, second):
                    return player, (first, second)
        return None

    player, pair = await driven_game.draw_until(find, "no player has drawn two such cards")
    await player.require_error(discard_of(pair), clause)
    await player.require_error(discard_of(pair, is_reversed=True), clause)


@CASES.add("5.3", "same-card", "A card makes no pair with itself")
async def _card_with_itself(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=2)
    player = next(player for player in driven_game.players[:2] if driven_game.hand(player) != {JOKER})
    (card,) = driven_game.hand(player)
    await player.require_error(discard_of((card, card)), "oldmaid-5.3")
    await driven_game.draw(len(driven_game.players))


UNKNOWN_PAIRS: Final = (
    (("1", "spades"), ("1", "clubs")),
    (("3", "Spades"), ("3", "Clubs")),
    (("T", "hearts"), ("T", "diamonds")),
)
"""Pairs of cards that are not in the pack."""


@CASES.add("2.9", "reason", "A discard that is refused is answered with a message")
@CASES.add("5.4", "unknown", "Cards that are not in the pack, or spelt otherwise, are refused")
async def unknown_cards(context: TableContext) -> None:
    """Discards of cards that are not in the pack, or misspelt, are refused."""
    driven_game = await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
    for cards in UNKNOWN_PAIRS:
        await driven_game.players[0].require_error(Discard(cards, "false"), "oldmaid-5.4")


@CASES.add("5.6", "from-the-deck", "A card in the deck cannot be discarded")
async def _partner_in_deck(context: TableContext) -> None:
    driven_game = await context.start_game()
    while True:
        player = driven_game.drawer
        await driven_game.draw_more(1)
        drawn = {*driven_game.game.dealt_cards}
        single = next((card for card in driven_game.hand(player) if card != JOKER and card ^ 1 not in drawn), None)
        if single is not None:
            break
    await player.require_error(discard_of((single, single ^ 1)), "oldmaid-5.6")
    await driven_game.draw_more()


@CASES.add("5.7", "of-others", "While cards are drawn, the card of another player cannot be discarded")
async def _partner_of_another(context: TableContext) -> None:
    driven_game = await context.start_game()
    *both, pair = await driven_game.draw_split_pair()
    for player in both:
        for is_reversed in (False, True):
            await player.require_error(discard_of(pair, is_reversed=is_reversed), "oldmaid-5.7")
    await driven_game.draw()
    await driven_game.play(lambda: not any({*pair} & driven_game.hand(player) for player in driven_game.players))


@CASES.add("5.7", "of-another", "While cards are drawn, a pair of another player cannot be discarded")
async def _pair_of_another(context: TableContext) -> None:
    driven_game, player, pair = await _game_with_pair(context)
    if driven_game.game.drawn_count == CARD_COUNT:
        raise NotReached("the pair came with the last card")
    second = next(second for second in driven_game.players if second is not player)
    await second.require_error(discard_of(pair), "oldmaid-5.7")
    await driven_game.discard_pairs(player)


@CASES.add("5.12", "one-text", "A refused discard does not reveal where its cards are")
async def _one_refusal_text(context: TableContext) -> None:
    driven_game = await context.start_game()
    asker, *others = driven_game.players
    texts: dict[Pair, str] = {}
    for card in range(0, JOKER, 2):
        pair = card, card + 1
        answer = await asker.require_error(discard_of(pair), "oldmaid-5.6")
        texts[pair] = _refusal_text(answer)
    holder, pair = await driven_game.draw_pair(others, before_last=True)
    await _require_same_text(asker, pair, texts[pair], "oldmaid-5.7")
    await holder.require_ok(discard_of(pair), "oldmaid-5.2")
    await _require_same_text(asker, pair, texts[pair], "oldmaid-5.5")


async def _require_same_text(player: ScriptedPlayer, pair: Pair, text: str, clause: str) -> None:
    answer = await player.require_error(discard_of(pair), clause)
    if _refusal_text(answer) != text:
        expected = f"the answer as before, wherever the cards are, with the message {text!r}"
        raise answer.failure("oldmaid-5.12", expected)


def _refusal_text(answer: ReceivedMessage) -> str:
    """The message of a refusal; other keys, such as the time, may differ for other reasons."""
    return str(answer.json_object.get("message"))


@CASES.add("5.7", "picked", "A pair with a picked card is accepted")
async def _pair_with_picked_card(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=CARD_COUNT)
    before = len(driven_game.game.log)
    await driven_game.play(lambda: any(entry[0] == "threw" for entry in driven_game.game.log[before:]))


@CASES.add("5.10", "not-out-yet", "A discard with last_cards does not end the game for its player")
async def _last_cards_claim(context: TableContext) -> None:
    driven_game, player, pair = await _game_with_pair(context)
    await player.require_ok(Discard(discard_of(pair).cards, "true"), "oldmaid-5.10")
    refused_draw = None
    try:
        await driven_game.draw_more()
    except Failed as failed:
        refused_draw = failed
    await player.send(Status(), is_judged=False)
    answer = await player.receive_answer("oldmaid-6.5")
    standing = answer.message
    if isinstance(standing, Standing) and player.nick in {*standing.outside} - {*standing.inside}:
        if refused_draw is None:
            raise answer.failure("oldmaid-5.10", f"{player.nick} in the game")
        refused_draw.amend(clause="oldmaid-5.10")  # that player cannot draw because it is out
    if refused_draw is not None:
        raise refused_draw


async def _last_cards_form(clause: str, keys: str, description: str, context: TableContext) -> None:
    """Another form of last_cards is accepted; `keys` follow the cards."""
    driven_game, player, pair = await _game_with_pair(context)
    request = discard_of(pair)
    cards = str(request).partition(',"last_cards"')[0]
    await player.send(f"{cards}{keys}}}\n".encode(), is_judged=False)
    answer = await player.receive_answer(clause)
    if not answer.is_error:
        player.report_request(request)
    player.judge_answer(request if not answer.is_error else None, answer)
    await driven_game.draw_more()
    if answer.is_error and not context.table.strict:
        raise NonStrict(f"{description} is refused, which the protocol tolerates")


CASES.add("5.3", "values", "Two values are no pair")(
    partial(_no_pair, lambda a, b: b < JOKER and a // 4 != b // 4, "oldmaid-5.3")
)
CASES.add("5.3", "colours", "A black and a red card are no pair")(
    partial(_no_pair, lambda a, b: b < JOKER and a // 4 == b // 4 and not is_pair(a, b), "oldmaid-5.3")
)
CASES.add("5.1", "joker", "The joker makes no pair")(partial(_no_pair, lambda _, b: b == JOKER, "oldmaid-5.1"))
CASES.add("2.6", "boolean", "last_cards may be a boolean")(
    partial(_last_cards_form, "2.6", ', "last_cards": false', "a boolean")
)
CASES.add("2.7", "last-card", "The key may be last_card")(
    partial(_last_cards_form, "2.7", ', "last_card": "false"', "the key last_card")
)
CASES.add("2.8", "missing", "last_cards may be missing")(
    partial(_last_cards_form, "2.8", "", "a discard without last_cards")
)
