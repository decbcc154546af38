"""Whole games at a table, watched by the referee: by players who do everything right, and by those who do not."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import JOKER, to_wire
from croupier.rooms.oldmaid.table.game import CARD_COUNT
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, OutOfCards, Status

DISTURBANCE_PERIOD: Final = 3
"""Between two steps of a game one in so many times something is done that does not belong to it."""


async def _fair_game(context: TableContext) -> None:
    """A game in which everybody does what he should."""
    sitting = await context.start_game()
    await sitting.draw()
    await sitting.play()


async def _game_with_status_requests(context: TableContext) -> None:
    """A game in which the status is asked for again and again, by whomever."""
    sitting = await context.start_game()

    async def ask(sitting: DrivenGame) -> None:
        if not context.random.randrange(DISTURBANCE_PERIOD):
            await sitting.players[context.random.randrange(len(sitting.players))].request(Status())

    await sitting.draw(between=ask)
    await sitting.play(between=ask)


async def _game_with_illegal_requests(context: TableContext) -> None:
    """A game in which somebody now and then asks for what is not his; the referee knows what is to be refused."""
    sitting = await context.start_game()
    lie = partial(_send_illegal_request, context)
    await sitting.draw(between=lie)
    await sitting.play(between=lie)


async def _send_illegal_request(context: TableContext, sitting: DrivenGame) -> None:
    game, random = sitting.game, context.random
    if random.randrange(DISTURBANCE_PERIOD) or game.is_over:
        return
    liar = sitting.players[random.randrange(len(sitting.players))]
    seat = sitting.players.index(liar)
    lies: list[Callable[[], Awaitable[object]]] = [partial(liar.require_error, b"[]\n", "oldmaid-8.4")]
    if game.is_inside[seat]:
        lies.append(partial(liar.require_error, Join(context.new_nick()), "oldmaid-3.14"))
    if game.drawn_count == CARD_COUNT:
        lies.append(partial(liar.request, Draw()))
    else:
        lies.append(partial(liar.request, OutOfCards()))
        if game.drawer != seat:
            lies.append(partial(liar.request, Draw()))
    lies += [partial(liar.request, discard) for discard in _illegal_discards(sitting, liar)]
    await lies[random.randrange(len(lies))]()


def _illegal_discards(game: DrivenGame, player: ScriptedPlayer) -> list[Discard]:
    """Discards that the table has to refuse, as far as it can know."""
    found = [Discard((to_wire(JOKER), to_wire(0)), "false"), Discard((to_wire(0), to_wire(2)), "false")]
    threw = [deed for deed in game.game.log if deed[0] == "threw"]
    if threw:
        found.append(Discard((to_wire(threw[-1][2]), to_wire(threw[-1][3])), "false"))
    lone = {*range(JOKER)} - {*game.game.dealt_cards}
    found += [Discard((to_wire(card & ~1), to_wire(card | 1)), "false") for card in sorted(lone)[:1]]
    if game.game.drawn_count < CARD_COUNT:
        others = [card for guest in game.players if guest is not player for card in sorted(game.hand(guest))]
        found += [Discard((to_wire(card & ~1), to_wire(card | 1)), "false") for card in others[:1] if card != JOKER]
    return found


async def _game_with_two_disconnects(drawn: int, context: TableContext) -> None:
    """A game in which somebody is gone when so many cards are drawn, and then another one."""
    sitting = await context.start_game(4)
    await sitting.draw(drawn)
    await sitting.disconnect(sitting.waiting_player)
    await sitting.draw(min(CARD_COUNT, drawn + 9))
    await sitting.disconnect(sitting.drawer)
    await sitting.draw()
    await sitting.players_inside[-1].request(Status())


async def _game_with_late_disconnect(context: TableContext) -> None:
    """A game in which somebody is gone when cards are picked."""
    sitting = await context.start_game(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished_seats) or len(sitting.game.log) > CARD_COUNT + 12)
    leaver = sitting.players_inside[0]
    await sitting.disconnect(leaver)
    for guest in sitting.players_inside:
        await guest.request(Status())
        await guest.request(Draw())


async def _game_in_pieces(context: TableContext) -> None:
    """A game in which everybody sends a few bytes at a time."""
    sitting = await context.start_game()
    while sitting.game.drawn_count < CARD_COUNT:
        guest = sitting.drawer
        await guest.request(Draw(), piece_bytes=5)
        while (pair := sitting.discard_request(guest)) is not None:
            await guest.request(pair, piece_bytes=7)
    await sitting.draw()
    await sitting.play()


async def _game_with_late_discards(context: TableContext) -> None:
    """A game in which nobody throws anything away before all cards are drawn."""
    sitting = await context.start_game()
    await sitting.draw(discards_pairs=False)
    await sitting.discard_all_pairs()
    await sitting.play()


WHOLE_GAMES: Final[Sequence[tuple[str, str, str, Callable[[TableContext], Awaitable[None]]]]] = (
    ("6.8", "game-1", "A whole game", _fair_game),
    ("6.8", "game-2", "Another one", _fair_game),
    ("6.8", "game-3", "And another one", _fair_game),
    ("6.7", "asked-often", "A game in which the status is asked for again and again", _game_with_status_requests),
    ("8.1", "lies-1", "A game in which some ask for what is not theirs", _game_with_illegal_requests),
    ("8.1", "lies-2", "Another one", _game_with_illegal_requests),
    ("9.2", "deaths-early", "A game in which two go when few cards are drawn", partial(_game_with_two_disconnects, 6)),
    ("9.2", "deaths-late", "A game in which two go when most cards are drawn", partial(_game_with_two_disconnects, 38)),
    ("9.1", "death-in-the-ring", "A game in which somebody goes when cards are picked", _game_with_late_disconnect),
    ("1.4", "game-in-pieces", "A game in which everybody sends a few bytes at a time", _game_in_pieces),
    (
        "5.8",
        "game-of-the-patient",
        "A game in which pairs are kept until all cards are drawn",
        _game_with_late_discards,
    ),
)


def cases() -> Sequence[TableCase]:
    """Every whole game."""
    return [
        table_case(clause, slug, title, play, needs_whole_lobby=play is _game_with_illegal_requests)
        for clause, slug, title, play in WHOLE_GAMES
    ]
