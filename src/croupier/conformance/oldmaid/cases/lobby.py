"""Cases about those who wait for a game: when it starts without more of them, who leaves again, and who comes later."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from croupier.conformance.oldmaid.cases.requests import TableCase, table_case
from croupier.conformance.oldmaid.outcomes import Failed, NotReached
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.rooms.oldmaid.table.lobby import MAX_QUEUED_REQUESTS
from croupier.rooms.oldmaid.wire import Draw, Join, Status

JOIN_WINDOW_SECONDS: Final = 10.0
"""The seconds that a table waits for more than two players unless it is set otherwise (oldmaid-3.11)."""

MAX_WINDOW_CHECK_SECONDS: Final = 2.0
"""As that is too long for a case, it is looked for so many seconds whether they are set to less."""

LONE_WAIT_SECONDS: Final = 0.3
"""So many seconds a single player is watched."""


async def join_window(context: TableContext) -> None:
    """Two do not wait for ever."""
    await context.learn_table_size(3)
    guests = [await context.join_player(), await context.join_player()]
    longest = context.table.timeout.max_seconds
    seconds = longest if longest > JOIN_WINDOW_SECONDS else min(longest, MAX_WINDOW_CHECK_SECONDS)
    heard = await guests[1].receive(seconds)
    if heard is None:
        raise NotReached(f"two have waited {seconds:g} seconds, and no game has started yet")
    await context.game_from_list(guests, heard, guests[1])


async def single_player_waits(context: TableContext) -> None:
    """A single player waits."""
    await context.learn_table_size()
    guest = await context.join_player()
    await guest.require_silence("oldmaid-3.11", LONE_WAIT_SECONDS)
    await context.start_game_with([guest])


async def silence_before_start(context: TableContext) -> None:
    """Nobody is told anything before the game starts."""
    await context.learn_table_size()
    guests = [await context.join_player() for _ in range(context.table_size - 1)]
    for guest in guests:
        await guest.require_silence("oldmaid-3.2")
    await context.start_game_with(guests)


async def leaver_frees_nick(context: TableContext) -> None:
    """Who leaves before the start frees his nick."""
    await context.learn_table_size()
    one = await context.join_player()
    one.disconnect()
    await asyncio.sleep(QUIET_SECONDS)
    other = await context.join_player(one.nick)
    heard = await other.receive(QUIET_SECONDS)
    if heard is not None:
        wanted = f"the nick of somebody who has left, {one.nick!r}, to be free"
        raise Failed("oldmaid-3.12", heard.text, wanted, got=heard.data)
    await context.start_game_with([other])


async def players_move_up(context: TableContext) -> None:
    """Those behind who has left move up, and he is not listed."""
    await context.learn_table_size(3)
    one, other = await context.join_player(), await context.join_player()
    one.disconnect()
    await asyncio.sleep(QUIET_SECONDS)
    sitting = await context.start_game_with([other])
    if sitting.players[0] is not other:
        found = ", ".join(guest.nick for guest in sitting.players)
        raise Failed("oldmaid-3.12", f"the order {found}", f"{other.nick!r} first, for who was before him has left")


async def concurrent_games(context: TableContext) -> None:
    """Two games are played at the same time, each with its own deck."""
    sittings = [await context.start_game(), await context.start_game()]
    for count in range(1, 54):
        for sitting in sittings:
            await sitting.draw(count)


async def join_after_start(context: TableContext) -> None:
    """Who joins after the start waits for the next game."""
    sitting = await context.start_game()
    guest = await context.join_player()
    await guest.require_silence("oldmaid-3.13")
    await sitting.draw(4)
    following = await context.start_game_with([guest])
    await following.draw(4)
    await sitting.draw(8)


async def join_after_game(context: TableContext) -> None:
    """When a game is over its players may join again."""
    sitting = await context.start_game()
    await sitting.draw()
    await sitting.play()
    await _join_next_game(context, sitting.players[sitting.game.finished_seats[0]])


async def join_when_out(context: TableContext) -> None:
    """Who is out may join the next game while the others play on."""
    sitting = await context.start_game(3)
    await sitting.draw()
    await sitting.play(lambda: bool(sitting.game.finished_seats))
    await _join_next_game(context, sitting.players[sitting.game.finished_seats[0]])
    await sitting.play()


async def _join_next_game(context: TableContext, player: ScriptedPlayer) -> None:
    player.referee, player.nick = None, context.new_nick()
    await player.send(Join(player.nick))
    heard = await player.receive(QUIET_SECONDS)
    if heard is not None:
        raise Failed("oldmaid-3.14", heard.text, "that who is out may join the next game", got=heard.data)
    sitting = await context.start_game_with([player])
    await sitting.draw(len(sitting.players))


async def requests_after_join(context: TableContext) -> None:
    """Requests that come behind a join are answered behind it."""
    await context.learn_table_size()
    guest = await context.join_player()
    await guest.send(Draw())
    await guest.send(Status())
    early = await guest.receive(QUIET_SECONDS)
    if early is not None:
        raise Failed("oldmaid-3.15", f"{early.text} before the game", "the answer behind that to join", got=early.data)
    await context.start_game_with([guest])
    for request in (Draw(), Status()):
        guest.report_request(request)
        guest.judge_answer(
            request, await guest.receive_answer("oldmaid-3.15", f"the answer to {request}, which was sent ahead")
        )


async def too_many_requests_after_join(context: TableContext) -> None:
    """What is sent ahead is not kept without a limit."""
    await context.learn_table_size()
    guest = await context.join_player()
    for _ in range(MAX_QUEUED_REQUESTS + 1):
        await guest.send(Draw())
    heard = await guest.receive_optional_answer()
    if heard is None and not guest.is_disconnected:
        raise Failed(
            "oldmaid-3.15", f"nothing to {MAX_QUEUED_REQUESTS + 1} requests behind a join", "an error, and the end"
        )


def cases() -> Sequence[TableCase]:
    """Every case about waiting."""
    return [replace(found, needs_whole_lobby=True) for found in _all_cases()]


def _all_cases() -> Sequence[TableCase]:
    return (
        table_case("3.2", "join-blocks", "Nobody is told anything before the game starts", silence_before_start),
        table_case("3.11", "alone", "A single player waits", single_player_waits),
        table_case("3.12", "nick-is-free", "Who leaves before the start frees his nick", leaver_frees_nick),
        table_case("3.12", "moves-up", "Those behind who leaves before the start move up", players_move_up),
        table_case(
            "3.13", "two-games", "Two games are played at the same time, each with its own deck", concurrent_games
        ),
        table_case("3.13", "joins-late", "Who joins after the start waits for the next game", join_after_start),
        table_case(
            "3.14",
            "joins-again",
            "When a game is over its players may join again",
            join_after_game,
            failure_is_choice=True,
        ),
        table_case(
            "3.14", "joins-when-out", "Who is out may join the next game", join_when_out, failure_is_choice=True
        ),
        table_case(
            "3.15", "kept", "Requests sent ahead wait behind the join, and are answered behind it", requests_after_join
        ),
        table_case(
            "3.15",
            "too-much",
            "Who sends too much ahead is dropped",
            too_many_requests_after_join,
            failure_is_choice=True,
        ),
    )


def slow_cases() -> Sequence[TableCase]:
    """The case that takes its time."""
    return (
        table_case(
            "3.11", "window", "Two players need not wait for the others for ever", join_window, needs_whole_lobby=True
        ),
    )
