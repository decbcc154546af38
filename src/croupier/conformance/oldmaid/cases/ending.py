"""Cases about how games end at a table: somebody is out of cards, or gone; and how that stands in the status."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Final

from croupier.conformance.oldmaid.cases.dealing import discard_of
from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, NotReached, Unimplemented
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import JOKER, Card
from croupier.rooms.oldmaid.table.game import CARD_COUNT
from croupier.rooms.oldmaid.wire import Draw, OutOfCards, Standing, Status

MAX_GAMES: Final = 4
"""So many games are played until something comes up that needs luck."""


def _whole_game_case(clause: str) -> Callable[[TableContext], Awaitable[None]]:
    """A whole game, and its standing whenever somebody is out, and at the end."""

    async def play(scene: TableContext) -> None:
        sitting = await scene.start_game()
        await _check_status(sitting, sitting.players[0])
        await sitting.draw()
        out = 0

        async def look(sitting: DrivenGame) -> None:
            nonlocal out
            if len(sitting.game.finished_seats) > out:
                out = len(sitting.game.finished_seats)
                await _check_status(sitting, sitting.players[sitting.game.finished_seats[-1]])

        await sitting.play(between=look)
        if not sitting.game.is_over:
            raise NotReached("the game has not ended")
        for guest in sitting.players:
            await _check_status(sitting, guest, clause)

    return play


async def _check_status(game: DrivenGame, player: ScriptedPlayer, clause: str = "oldmaid-6.5") -> None:
    await player.send(Status())
    heard = await player.receive_answer(clause)
    if heard.is_error:
        raise Unimplemented(f"the status is refused: {heard.text}")
    wanted, found = game.game.standing, heard.message
    if isinstance(found, Standing) and {*found.inside, *found.outside} != {*wanted.inside, *wanted.outside}:
        raise Failed("oldmaid-6.5", heard.text, f"all players, as in {wanted}", got=heard.data)
    if isinstance(found, Standing) and found != wanted and clause != "oldmaid-6.5":
        raise Failed(clause, heard.text, str(wanted), got=heard.data)
    player.judge_answer(Status(), heard)


async def last_pair_left(context: TableContext) -> None:
    """Who is left when the other is rid of his last card may throw away the pair that it makes."""
    for _ in range(MAX_GAMES):
        sitting = await context.start_game()
        sitting.announces_out_first = True
        await sitting.draw()
        await sitting.play()
        if sitting.game.is_over and len(sitting.game.log) > 0 and sitting.game.log[-1][0] == "threw":
            return
    raise NotReached(f"in {MAX_GAMES} games the last pair was never made by somebody's last card")


async def out_with_cards_in_deck(context: TableContext) -> None:
    """Nobody is out of cards while there are some in the deck, not even with an empty hand."""
    sitting = await context.start_game()
    while sitting.game.drawn_count < CARD_COUNT - 1:
        await sitting.draw(sitting.game.drawn_count + 1)
        guest = next(
            (guest for guest in sitting.players if sitting.game.drawn_count > 20 and not sitting.hand(guest)), None
        )
        if guest is not None:
            break
    await (guest or sitting.waiting_player).require_error(OutOfCards(), "oldmaid-6.2")
    await sitting.draw()


async def njaal_game(context: TableContext) -> None:
    """A whole game in that dialect."""
    if context.table.dialect != "njaal":
        raise NotReached("the table is expected to speak as the document has it")
    sitting = await context.start_game()
    await sitting.draw()
    await sitting.play()


# Gone.


async def _game_with_disconnect(
    context: TableContext, min_players: int = 3, cards_drawn: int = 7
) -> tuple[DrivenGame, ScriptedPlayer]:
    """A game in which somebody has gone who is not to draw now, while cards are drawn."""
    sitting = await context.start_game(min_players)
    await sitting.draw(cards_drawn, discards_pairs=False)
    guest = sitting.waiting_player
    await sitting.disconnect(guest)
    return sitting, guest


async def player_disconnects(context: TableContext) -> None:
    """Who hangs up is out, and last."""
    sitting, _ = await _game_with_disconnect(context)
    await _check_status(sitting, sitting.players_inside[0], "oldmaid-9.1")


async def connection_reset(context: TableContext) -> None:
    """So is whose connection is reset."""
    sitting = await context.start_game(3)
    await sitting.draw(5, discards_pairs=False)
    await sitting.disconnect(sitting.waiting_player, reset=True)
    await sitting.draw(5 + 2 * len(sitting.players), discards_pairs=False)


async def drawing_continues(context: TableContext) -> None:
    """The others draw on without him."""
    sitting, _ = await _game_with_disconnect(context)
    await sitting.draw(discards_pairs=False)


async def drawer_disconnects(context: TableContext) -> None:
    """If he was about to draw, the next one draws."""
    sitting = await context.start_game(3)
    await sitting.draw(5, discards_pairs=False)
    await sitting.disconnect(sitting.drawer)
    await sitting.draw(5 + 2 * len(sitting.players), discards_pairs=False)


async def cards_leave_with_player(context: TableContext) -> None:
    """His cards are gone with him: nobody throws them away."""
    sitting = await context.start_game(3)

    def found() -> tuple[ScriptedPlayer, ScriptedPlayer, Card] | None:
        for one, other in combinations(sitting.players, 2):
            for card in sitting.hand(one):
                if card != JOKER and card ^ 1 in sitting.hand(other):
                    return one, other, card
        return None

    await sitting.draw_until(found)
    here = found()
    if here is None or sitting.game.drawn_count == CARD_COUNT:
        raise NotReached("no pair was drawn by two players")
    guest, leaver, card = here
    await sitting.disconnect(leaver)
    await guest.require_error(discard_of((card, card ^ 1)), "oldmaid-9.2")


async def last_drawer_disconnects(context: TableContext) -> None:
    """If who has drawn the last card is gone, nothing is drawn again."""
    sitting = await context.start_game(3)
    await sitting.draw()
    seat = [deed[1] for deed in sitting.game.log if deed[0] == "drew"][-1]
    await sitting.disconnect(sitting.players[seat])
    await sitting.players_inside[0].require_error(Draw(), "oldmaid-4.5")


async def one_player_left(context: TableContext) -> None:
    """When the others are gone the game is over."""
    sitting = await context.start_game()
    await sitting.draw(3, discards_pairs=False)
    left, *leavers = sitting.players
    for guest in leavers:
        await sitting.disconnect(guest)
    await left.require_error(Draw(), "oldmaid-9.3")


async def all_disconnect(context: TableContext) -> None:
    """A game that everybody has left does not disturb the next one."""
    sitting = await context.start_game()
    await sitting.draw(3, discards_pairs=False)
    for guest in sitting.players:
        await sitting.disconnect(guest)
    following = await context.start_game()
    await following.draw(discards_pairs=False)


async def finished_player_disconnects(context: TableContext) -> None:
    """Who is out may leave: he keeps his place."""
    sitting = await context.start_game(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished_seats))
    winner = sitting.players[sitting.game.finished_seats[0]]
    winner.disconnect()
    await sitting.play()
    await _check_status(sitting, next(guest for guest in sitting.players if not guest.is_disconnected), "oldmaid-9.4")


async def rank_of_disconnected(context: TableContext) -> None:
    """Of those who are gone, who stayed longer comes first."""
    sitting = await context.start_game(4)
    await sitting.draw(5, discards_pairs=False)
    for guest in (sitting.players[3], sitting.players[1]):
        await sitting.disconnect(guest)
    await _check_status(sitting, sitting.players[0], "oldmaid-6.6")


def cases() -> Sequence[TableCase]:
    """Every case about the end, in the order of the page."""
    return (
        table_case(
            "2.2", "every-request", "The table knows every request of a player", _whole_game_case("oldmaid-2.2")
        ),
        table_case(
            "2.3",
            "every-answer",
            "Every answer has the form that its request asks for",
            _whole_game_case("oldmaid-2.3"),
        ),
        table_case("10.3", "game", "njaal: all but the list is as the document has it", njaal_game),
        table_case(
            "6.1",
            "order",
            "The order of out_of_cards is that in which players are out",
            _whole_game_case("oldmaid-6.1"),
        ),
        table_case("6.2", "deck", "Nobody is out of cards while there are some in the deck", out_with_cards_in_deck),
        table_case("6.5", "everybody", "The status has all players of the game", _whole_game_case("oldmaid-6.5")),
        table_case(
            "6.6", "winner-first", "Of those who are out the winner comes first", _whole_game_case("oldmaid-6.6")
        ),
        table_case(
            "6.6",
            "stayed-longer",
            "Of those who are gone, who stayed longer comes first",
            rank_of_disconnected,
            failure_is_choice=True,
        ),
        table_case("6.8", "one-left", "When one player is left the game is over", _whole_game_case("oldmaid-6.8")),
        table_case("6.11", "ranking", "The one who is left has lost", _whole_game_case("oldmaid-6.11")),
        table_case(
            "6.9", "last-pair", "Who is left may throw away his last pair", last_pair_left, failure_is_choice=True
        ),
        table_case("9.1", "gone", "Who hangs up is out, and last", player_disconnects),
        table_case("9.1", "reset", "So is whose connection is reset", connection_reset),
        table_case("9.2", "drawn-on", "The others draw on without who is gone", drawing_continues),
        table_case("9.2", "when-due", "If he was about to draw, the next one draws", drawer_disconnects),
        table_case("9.2", "with-cards", "The cards of who is gone are gone with him", cards_leave_with_player),
        table_case(
            "9.2",
            "last-drawer",
            "If who has drawn the last card is gone, nothing is drawn again",
            last_drawer_disconnects,
        ),
        table_case("9.3", "all-but-one", "When the others are gone the game is over", one_player_left),
        table_case("9.3", "everybody", "A game that all have left does not disturb the next one", all_disconnect),
        table_case("9.4", "out-and-gone", "Who is out may leave, and keeps his place", finished_player_disconnects),
    )
