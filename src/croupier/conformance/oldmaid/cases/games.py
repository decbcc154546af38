"""Table cases that play whole games under the referee, with valid and with invalid requests."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import CARD_COUNT, JOKER, to_wire
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid")

DISTURBANCE_PERIOD: Final = 3
"""A disturbance is injected at one of this many steps, on average."""


async def _fair_game(context: TableContext) -> None:
    """A game with valid requests only."""
    driven_game = await context.start_game(drawn=CARD_COUNT)
    await driven_game.play()


async def _game_with_status_requests(context: TableContext) -> None:
    """A game with random status requests in between."""
    driven_game = await context.start_game()

    async def ask(driven_game: DrivenGame) -> None:
        if not context.random.randrange(DISTURBANCE_PERIOD):
            await driven_game.players[context.random.randrange(len(driven_game.players))].request(Status())

    await driven_game.draw(between=ask)
    await driven_game.play(between=ask)


async def _game_with_illegal_requests(context: TableContext) -> None:
    """A game with random illegal requests; the referee knows which must be refused."""
    driven_game = await context.start_game()
    disturb = partial(_send_illegal_request, context)
    await driven_game.draw(between=disturb)
    await driven_game.play(between=disturb)


async def _send_illegal_request(context: TableContext, driven_game: DrivenGame) -> None:
    game, random = driven_game.game, context.random
    if random.randrange(DISTURBANCE_PERIOD) or game.is_over:
        return
    offender = driven_game.players[random.randrange(len(driven_game.players))]
    seat = driven_game.players.index(offender)
    illegal_requests: list[Callable[[], Awaitable[object]]] = [partial(offender.require_error, b"{}\n", "oldmaid-8.5")]
    if game.is_inside[seat]:
        illegal_requests.append(partial(offender.require_error, Join(context.new_nick()), "oldmaid-3.14"))
    if game.drawn_count == CARD_COUNT or game.drawer != seat:
        illegal_requests.append(partial(offender.request, Draw()))
    illegal_requests += [partial(offender.request, discard) for discard in _illegal_discards(driven_game, offender)]
    await illegal_requests[random.randrange(len(illegal_requests))]()


def _illegal_discards(game: DrivenGame, player: ScriptedPlayer) -> list[Discard]:
    """Return discards that the table can know to be illegal."""
    found = [Discard((to_wire(JOKER), to_wire(0)), "false"), Discard((to_wire(0), to_wire(2)), "false")]
    discards = [entry for entry in game.game.log if entry[0] == "threw"]
    if discards:
        found.append(Discard((to_wire(discards[-1][2]), to_wire(discards[-1][3])), "false"))
    undrawn = {*range(JOKER)} - {*game.game.dealt_cards}
    found += [Discard((to_wire(card & ~1), to_wire(card | 1)), "false") for card in sorted(undrawn)[:1]]
    if game.game.drawn_count < CARD_COUNT:
        others = [card for other in game.players if other is not player for card in sorted(game.hand(other))]
        found += [Discard((to_wire(card & ~1), to_wire(card | 1)), "false") for card in others[:1] if card != JOKER]
    return found


async def _two_leave(drawn: int, context: TableContext) -> None:
    """A game in which a player disconnects after `drawn` cards, and another one later."""
    driven_game = await context.start_game(4, drawn=drawn)
    await driven_game.disconnect(driven_game.waiting_player)
    await driven_game.draw(min(CARD_COUNT, drawn + 9))
    await driven_game.disconnect(driven_game.drawer)
    await driven_game.draw()
    await driven_game.players_inside[-1].request(Status())


async def _game_with_late_disconnect(context: TableContext) -> None:
    """A game in which a player disconnects while cards are picked."""
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    await driven_game.play(lambda: bool(driven_game.game.finished_seats) or len(driven_game.game.log) > CARD_COUNT + 12)
    leaver = driven_game.players_inside[0]
    await driven_game.disconnect(leaver)
    for player in driven_game.players_inside:
        await player.request(Status())
        await player.request(Draw())


async def _game_in_pieces(context: TableContext) -> None:
    """A game in which requests are sent in pieces."""
    driven_game = await context.start_game()
    while driven_game.game.drawn_count < CARD_COUNT:
        player = driven_game.drawer
        await player.request(Draw(), delivery=context.delivery)
        while (pair := driven_game.discard_request(player)) is not None:
            await player.request(pair, delivery=context.delivery)
    await driven_game.draw()
    await driven_game.play()


async def _game_with_late_discards(context: TableContext) -> None:
    """A game in which no pair is discarded before all cards are drawn."""
    driven_game = await context.start_game(drawn=CARD_COUNT, discards_pairs=False)
    await driven_game.discard_all_pairs()
    await driven_game.play()


for clause, slug, title, play in (
    ("6.8", "game-1", "A whole game", _fair_game),
    ("6.8", "game-2", "A whole game, with another deck", _fair_game),
    ("6.8", "game-3", "A whole game, with a third deck", _fair_game),
    ("6.7", "asked-often", "A game in which the status is asked for again and again", _game_with_status_requests),
    ("9.2", "deaths-early", "A game in which two players leave when few cards are drawn", partial(_two_leave, 6)),
    ("9.2", "deaths-late", "A game in which two players leave when most cards are drawn", partial(_two_leave, 38)),
    ("9.1", "death-in-the-ring", "A game in which a player leaves while cards are picked", _game_with_late_disconnect),
):
    CASES.add(clause, slug, title)(play)
CASES.add("1.4", "game-in-pieces", "A game in which all requests are sent in small pieces", delivery=Delivery(5))(
    _game_in_pieces
)
CASES.add("5.8", "game-of-the-patient", "A game in which pairs are kept until all cards are drawn")(
    _game_with_late_discards
)
for slug, title in (
    ("lies-1", "A game with illegal requests"),
    ("lies-2", "A game with illegal requests, with another deck"),
):
    CASES.add("8.1", slug, title, needs_whole_lobby=True)(_game_with_illegal_requests)
