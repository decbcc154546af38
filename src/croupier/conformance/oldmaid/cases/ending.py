"""Table cases about the end of games: players out of cards, disconnected players, and the status."""

import asyncio
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.cases.dealing import discard_of
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, Unimplemented
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.referee import lists_everybody
from croupier.rooms.oldmaid.wire import Draw, OutOfCards, Standing, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid")

MAX_GAMES: Final = 4
"""The number of games to play until a random event occurs."""


async def _status_in_game(clause: str, context: TableContext) -> None:
    """The status is right whenever a player is out in a whole game, and at its end."""
    driven_game = await context.start_game()
    await _check_status(driven_game, driven_game.players[0])
    await driven_game.draw()
    out_count = 0

    async def check_when_out(driven_game: DrivenGame) -> None:
        nonlocal out_count
        finished_seats = driven_game.game.finished_seats
        if len(finished_seats) > out_count:
            out_count = len(finished_seats)
            await _check_status(driven_game, driven_game.players[finished_seats[-1]], "oldmaid-6.6")

    await driven_game.play(between=check_when_out)
    if not driven_game.game.is_over:
        raise NotReached("the game has not ended")
    for player in driven_game.players:
        await _check_status(driven_game, player, clause)


async def _check_status(game: DrivenGame, player: ScriptedPlayer, clause: str = "oldmaid-6.5") -> None:
    await player.send(Status())
    answer = await player.receive_answer("oldmaid-6.5")
    if answer.is_error and clause != "oldmaid-6.5":
        raise answer.failure("oldmaid-6.7", "the status, which was answered before")
    if answer.is_error:
        raise Unimplemented(f"the status is refused: {answer.text}")
    wanted, found = game.game.standing, answer.message
    if isinstance(found, Standing) and not lists_everybody(found, game.game.nicks):
        raise answer.failure("oldmaid-6.5", f"all players once, as in {wanted}")
    if isinstance(found, Standing) and found != wanted and clause != "oldmaid-6.5":
        if not clause.startswith(("oldmaid-6.", "oldmaid-9.")):
            clause = "oldmaid-6.8" if game.game.is_over and found.inside != wanted.inside else "oldmaid-6.6"
        raise answer.failure("oldmaid-5.10" if _is_out_too_early(game, found) else clause, str(wanted))
    player.judge_answer(Status(), answer)


def _is_out_too_early(game: DrivenGame, found: Standing) -> bool:
    """Whether the only fault is that a player without cards is listed as out before its `out_of_cards`."""
    empty_handed = [player.nick for player in game.players_inside if not game.hand(player)]
    return [*found.outside] in [[*game.game.standing.outside, nick] for nick in empty_handed]


for clause, slug, title in (
    ("2.2", "every-request", "The table knows every request of a player"),
    ("2.3", "every-answer", "Every answer has the form that its request asks for"),
    ("6.1", "order", "The order of out_of_cards is that in which players are out"),
    ("6.5", "everybody", "The status has all players of the game"),
    ("6.6", "winner-first", "Of the players that are out, the winner comes first"),
    ("6.8", "one-left", "When one player is left, the game is over"),
    ("6.11", "ranking", "The player that is left has lost"),
):
    CASES.add(clause, slug, title)(partial(_status_in_game, f"oldmaid-{clause}"))


@CASES.add("6.9", "last-pair", "The last player may discard its last pair", failure_is_choice=True)
async def _last_pair_left(context: TableContext) -> None:
    for _ in range(MAX_GAMES):
        driven_game = await context.start_game(drawn=CARD_COUNT)
        driven_game.announces_out_first = True
        await driven_game.play()
        last_player = driven_game.players_inside[0]
        if driven_game.observed(last_player).pair is not None:
            await driven_game.discard_pairs(last_player)
            return
    raise NotReached(f"in {MAX_GAMES} games the last card of a player never made the last pair")


@CASES.add("6.2", "deck", "out_of_cards is refused while there are cards in the deck")
async def _out_with_cards_in_deck(context: TableContext) -> None:
    driven_game = await context.start_game()
    while driven_game.game.drawn_count < CARD_COUNT - 1:
        await driven_game.draw(driven_game.game.drawn_count + 1)
        empty_handed = [player for player in driven_game.players if not driven_game.hand(player)]
        if empty_handed and driven_game.game.drawn_count > 20:
            break
    player = next(iter(empty_handed), driven_game.waiting_player)
    await player.require_error(OutOfCards(), "oldmaid-6.2")
    await driven_game.draw()


@CASES.add("10.3", "game", "njaal: all but the list is as the document has it")
async def _njaal_game(context: TableContext) -> None:
    if context.table.dialect != "njaal":
        raise NotReached("the table is expected to speak as the document has it")
    driven_game = await context.start_game(drawn=CARD_COUNT)
    await driven_game.play()


# Disconnected players.


@CASES.add("9.1", "gone", "A player that disconnects is out, and last")
async def _player_disconnects(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=7, discards_pairs=False)
    await driven_game.disconnect(driven_game.waiting_player)
    await _check_status(driven_game, driven_game.players_inside[0], "oldmaid-9.1")


@CASES.add("9.1", "reset", "A player whose connection is reset is out, and last")
async def _connection_reset(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=5, discards_pairs=False)
    await driven_game.disconnect(driven_game.waiting_player, reset=True)
    await driven_game.draw_more(2 * len(driven_game.players))


@CASES.add("9.2", "drawn-on", "The others go on drawing when a player is gone")
async def _drawing_continues(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=7, discards_pairs=False)
    await driven_game.disconnect(driven_game.waiting_player)
    await driven_game.draw(discards_pairs=False)


@CASES.add("9.2", "when-due", "If the player that is gone was to draw, the next one draws")
async def _drawer_disconnects(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=5, discards_pairs=False)
    await driven_game.disconnect(driven_game.drawer)
    await driven_game.draw_more(2 * len(driven_game.players))


@CASES.add("9.2", "with-cards", "The cards of a player that is gone cannot be discarded")
async def _cards_leave_with_player(context: TableContext) -> None:
    driven_game = await context.start_game(3)
    player, leaver, pair = await driven_game.draw_split_pair()
    await driven_game.disconnect(leaver)
    await player.require_error(discard_of(pair), "oldmaid-9.2")


@CASES.add("9.2", "last-drawer", "If the player that drew the last card is gone, no card is drawn again")
async def _last_drawer_disconnects(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    seat = [entry[1] for entry in driven_game.game.log if entry[0] == "drew"][-1]
    await driven_game.disconnect(driven_game.players[seat])
    await driven_game.players_inside[0].require_error(Draw(), "oldmaid-4.5")


@CASES.add("9.3", "all-but-one", "When all other players are gone, the game is over")
async def _one_player_left(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=3, discards_pairs=False)
    last_player, *others = driven_game.players
    for player in others:
        await driven_game.disconnect(player)
    await last_player.require_error(Draw(), "oldmaid-9.3")


@CASES.add("9.3", "everybody", "A game that all players have left does not disturb the next one")
async def _all_disconnect(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=3, discards_pairs=False)
    for player in driven_game.players:
        await driven_game.disconnect(player)
    await context.start_game(drawn=CARD_COUNT, discards_pairs=False)


@CASES.add("9.4", "out-and-gone", "A player that is out may leave, and keeps its rank")
async def _finished_player_disconnects(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    winner = await driven_game.play_until_out()
    winner.disconnect()
    try:
        await driven_game.play()
    except Failed as failed:
        failed.amend(clause="oldmaid-9.4")  # other cases play to the end of a game that nobody has left
        raise
    await _check_status(
        driven_game, next(player for player in driven_game.players if not player.is_disconnected), "oldmaid-9.4"
    )


@CASES.add(
    "9.4",
    "over-and-gone",
    "The loser of a game that is over may leave, and the status does not change",
    failure_is_choice=True,
)
async def _loser_disconnects(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    await driven_game.play()
    if not driven_game.game.is_over or not driven_game.players_inside:
        raise NotReached("the game has not ended with one player left")
    (loser,) = driven_game.players_inside
    others = [player for player in driven_game.players if player is not loser and not player.is_disconnected]
    if not others:
        raise NotReached("no other player is connected")
    await _check_status(driven_game, others[0], "oldmaid-6.8")
    loser.disconnect()
    await asyncio.sleep(2 * QUIET_SECONDS)
    await _check_status(driven_game, others[0], "oldmaid-9.4")


@CASES.add(
    "6.6",
    "stayed-longer",
    "Of the players that are gone, the one that stayed longer comes first",
    failure_is_choice=True,
)
async def _rank_of_disconnected(context: TableContext) -> None:
    driven_game = await context.start_game(4, drawn=5, discards_pairs=False)
    for player in (driven_game.players[3], driven_game.players[1]):
        await driven_game.disconnect(player)
    await _check_status(driven_game, driven_game.players[0], "oldmaid-6.6")


@CASES.add("6.6", "gone-last", "A player that is gone comes after the winner")
async def _gone_behind_winner(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=5)
    await driven_game.disconnect(driven_game.waiting_player)
    await driven_game.draw()
    await _check_status(driven_game, await driven_game.play_until_out(), "oldmaid-6.6")
