"""Table cases about waiting: the join window, players who leave before the start, and late joins."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.cases.joining import PIPELINING_RANK
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import MAX_LEAVER_ATTEMPTS, SEAT_CLAUSE, LeaverListed, TableContext
from croupier.net.event_loop import run_together
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.table.lobby import MAX_QUEUED_REQUESTS
from croupier.rooms.oldmaid.wire import Draw, Join, Reply, Status

CASES: Final = CaseList[TableCase](OldMaidCase, "oldmaid", needs_whole_lobby=True)

JOIN_WINDOW_SECONDS: Final = 10.0
"""The default time that a table waits for more than two players (oldmaid-3.11)."""

MAX_WINDOW_CHECK_SECONDS: Final = 2.0
"""The default is too long for a case: a shorter window is looked for within this time."""

FIRST_RANK: Final = -1
"""The case that shows how long the table takes to notice a leaver comes first: all others wait for that."""

WINDOW_RANK: Final = 600
"""The case that waits for the join window comes after the others."""

REQUESTS_AHEAD: Final = 3
"""The number of requests after the join of a player that leaves."""

LONE_WAIT_SECONDS: Final = 0.3
"""How long a single waiting player is observed."""


@CASES.add("3.11", "window", "Two players do not wait for the others for ever", rank=WINDOW_RANK)
async def _join_window(context: TableContext) -> None:
    await context.learn_table_size(3)
    players = [await context.join_player(), await context.join_player()]
    longest = context.table.timeout.max_seconds
    seconds = longest if longest > JOIN_WINDOW_SECONDS else min(longest, MAX_WINDOW_CHECK_SECONDS)
    clock = asyncio.get_running_loop().time
    waited_since = clock()
    received = await players[1].receive(seconds)
    if received is None:
        raise NotReached(f"two have waited {seconds:g} seconds, and no game has started yet")
    await context.game_from_list(players, received, players[1])
    waited = clock() - waited_since
    started = await (await context.join_player()).receive(waited + LONE_WAIT_SECONDS)
    if started is not None and isinstance(started.message, Reply) and len(started.message.players or ()) == 1:
        raise started.failure("oldmaid-3.11", "no game of a single player, which waits for a second one")


@CASES.add("3.11", "alone", "A single player waits")
async def _single_player_waits(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.join_player()
    await player.require_silence("oldmaid-3.11", LONE_WAIT_SECONDS)
    await context.start_game_with([player])


@CASES.add("3.2", "join-blocks", "Nothing is sent to waiting players before the game starts")
async def _silence_before_start(context: TableContext) -> None:
    await context.learn_table_size()
    players = [await context.join_player() for _ in range(context.table_size - 1)]
    received = await run_together(*(player.receive(QUIET_SECONDS) for player in players))
    if early := [one for one in received if one is not None]:
        is_game = len(early) > 1 and len({one.data for one in early}) == 1
        raise early[0].failure("oldmaid-3.10" if is_game else "oldmaid-3.2", "nothing, for the table waits for more")
    await context.start_game_with(players)


@CASES.add("3.12", "nick-is-free", "A player that leaves before the start frees its nick", rank=FIRST_RANK)
async def _leaver_frees_nick(context: TableContext) -> None:
    waiting = await _join_after_leaver(context)
    if not waiting:
        raise Failed("oldmaid-3.12", "a game at once", "that the place of a player that has left is free")
    await context.start_game_with(waiting)


@CASES.add("3.12", "reset", "A player whose connection is reset before the start frees its place")
async def _reset_before_start(context: TableContext) -> None:
    driven_game = await context.start_game_with(await _join_after_leaver(context, resets=True))
    _require_full_game(context, driven_game)


@CASES.add("3.12", "leaves-with-requests-ahead", "A player that leaves with unread requests frees its place")
async def _leaver_with_requests(context: TableContext) -> None:
    driven_game = await context.start_game_with(await _join_after_leaver(context, REQUESTS_AHEAD))
    _require_full_game(context, driven_game)


def _require_full_game(context: TableContext, driven_game: DrivenGame) -> None:
    """Raise Failed if a game has fewer players than others, as if one that has left before it were in it."""
    if len(driven_game.players) < context.table_size:
        expected = f"one of {context.table_size}, because the place of the player that has left is free"
        raise Failed("oldmaid-3.12", f"a game of {len(driven_game.players)}", expected)


async def _join_after_leaver(
    context: TableContext, requests_ahead: int = 0, *, resets: bool = False
) -> Sequence[ScriptedPlayer]:
    """Join with the nick of a player that has joined and left; return the player if it waits. Raises Failed.

    If it `resets`, the connection of the player that leaves is reset. A table may look only now and then who has left.
    One that has just looked shows how much time it lets pass.
    """
    await context.learn_table_size()
    first = await context.join_player()
    for _ in range(requests_ahead):
        await first.send(Status())
    waiting, was_refused = await _leave_and_return(context, first, resets=resets)
    if waiting and was_refused:
        waiting, _ = await _leave_and_return(context, waiting[0], resets=resets)
    return waiting


async def _leave_and_return(
    context: TableContext, leaver: ScriptedPlayer, *, resets: bool
) -> tuple[Sequence[ScriptedPlayer], bool]:
    """Let a player leave and another one join with its nick; return that one if it waits, and whether it was refused.

    Raises Failed if it is refused for as long as the table may take to notice who has left.
    """
    leaver.disconnect(reset=resets)
    expected = f"that the nick of a player that has left, {leaver.nick!r}, is free"
    clock, table = asyncio.get_running_loop().time, context.table
    left_at, was_refused = clock(), False
    while True:
        await asyncio.sleep(2 * QUIET_SECONDS)
        try:
            waiting = await context.require_accepted_join("oldmaid-3.12", expected, leaver.nick)
        except Failed:
            if clock() - left_at >= table.notice_timeout:
                table.never_notices = True
                raise
            was_refused = True
        else:
            if was_refused:
                table.notice_seconds = max(table.notice_seconds, clock() - left_at)
            return waiting, was_refused


@CASES.add("3.12", "moves-up", "The players after one that leaves before the start move up")
async def _players_move_up(context: TableContext) -> None:
    await context.learn_table_size(3)
    for _ in range(MAX_LEAVER_ATTEMPTS):
        first, second = await context.join_player(), await context.join_player()
        first.disconnect()
        await context.wait_until_noticed()
        with suppress(LeaverListed):
            driven_game = await context.start_game_with([second])
            break
    else:
        raise NotReached("the table has not noticed that a player has left")
    if driven_game.players[0] is not second:
        found = ", ".join(player.nick for player in driven_game.players)
        raise Failed(SEAT_CLAUSE, f"the order {found}", f"{second.nick!r} first, because the player before it has left")


@CASES.add("3.13", "two-games", "Two games are played at the same time, each with its own deck")
async def _concurrent_games(context: TableContext) -> None:
    driven_games = [await context.start_game(), await context.start_game()]
    context.release_lobby()
    for count in range(1, 54):
        for driven_game in driven_games:
            await driven_game.draw(count)


@CASES.add("3.13", "joins-late", "A player that joins after the start waits for the next game")
async def _join_after_start(context: TableContext) -> None:
    driven_game = await context.start_game()
    player = await context.join_player()
    await player.require_silence("oldmaid-3.13")
    await driven_game.draw(4)
    following = await context.start_game_with([player])
    context.release_lobby()
    await following.draw(4)
    await driven_game.draw(8)


@CASES.add(
    "3.14",
    "joins-again",
    "When a game is over its players may join again",
    failure_is_choice=True,
    needs_whole_lobby=False,
)
async def _join_after_game(context: TableContext) -> None:
    driven_game = await context.start_game(drawn=CARD_COUNT)
    await driven_game.play()
    await _join_next_game(context, driven_game.winner)


@CASES.add(
    "3.14",
    "joins-when-out",
    "A player that is out may join the next game",
    failure_is_choice=True,
    needs_whole_lobby=False,
)
async def _join_when_out(context: TableContext) -> None:
    driven_game = await context.start_game(3, drawn=CARD_COUNT)
    await _join_next_game(context, await driven_game.play_until_out())
    await driven_game.play()


async def _join_next_game(context: TableContext, player: ScriptedPlayer) -> None:
    player.referee, player.nick = None, context.new_nick()
    async with context.holding_lobby():
        await player.send(Join(player.nick))
        await player.require_silence("oldmaid-3.14", expected="that a player that is out may join the next game")
        driven_game = await context.start_game_with([player])
    await driven_game.draw(len(driven_game.players))


@CASES.add("3.15", "kept", "Requests that are sent ahead are answered after the join", rank=PIPELINING_RANK + 1)
async def _requests_after_join(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.join_player()
    await player.send(Draw())
    await player.send(Status())
    await player.require_silence("oldmaid-3.15", expected="nothing before the answer to join")
    await context.start_game_with([player])
    context.release_lobby()
    for request in (Draw(), Status()):
        player.report_request(request)
        player.judge_answer(
            request, await player.receive_answer("oldmaid-3.15", f"the answer to {request}, which was sent ahead")
        )


@CASES.add(
    "3.15",
    "too-much",
    "The number of requests that may be sent ahead is limited",
    rank=PIPELINING_RANK,
    failure_is_choice=True,
)
async def _too_many_requests_after_join(context: TableContext) -> None:
    await context.learn_table_size()
    player = await context.join_player()
    for _ in range(MAX_QUEUED_REQUESTS + 1):
        await player.send(Draw())
    received = await player.receive_optional_answer()
    if received is None and not player.is_disconnected:
        raise Failed(
            "oldmaid-3.15", f"nothing to {MAX_QUEUED_REQUESTS + 1} requests after a join", "an error, and the end"
        )
