"""Server cases of hold'em about the time of a turn: its limit, its end, and timers that must not end another one."""

import asyncio
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.cases import REQUEST_RANK, RETRIES, ROOM, HoldemServerCase
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import FOLD, bet
from croupier.conformance.holdem.schema import parse_expiry, seconds_left, server_time
from croupier.conformance.holdem.table_cases import fold_to_end
from croupier.conformance.holdem.table_settings import TURN_SECONDS
from croupier.conformance.results import Outcome
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.wire import Game

CLOCK_ERROR_SECONDS: Final = 0.5
"""The server's time is known with this error: the Date header has whole seconds."""

MAX_LATE_SECONDS: Final = 4.0
END_POLL_SECONDS: Final = 0.1
"""A turn may end this late, since a machine may be slow, and its end is polled with this interval."""

MAX_SHORT_SECONDS: Final = 1.5
"""A turn may look shorter than another one by this much: the server's time, and the time of an answer, are inexact."""

EARLY_LOOK_FRACTION: Final = 0.75
"""After this part of a turn it must not have ended yet."""

LATER_TURN_FRACTION: Final = 0.6
"""A later turn begins after this part of the earlier one.

If all turns ended early, such as after half of their time, the later one would not end with the earlier one.
"""

OLD_TIMER: Final = Cause("it does not stop the timer of a turn when the player acts", clause="holdem-4.15")
LEFT_TIMER: Final = Cause("it does not stop the timer of a turn when the player leaves", clause="holdem-4.15")
"""The causes of a turn that ends too early: when the time of an earlier turn is over."""

TURN_TIME_CASES: Final = CaseList(HoldemServerCase, ROOM, rank=REQUEST_RANK, retries=RETRIES)
"""The cases of this module."""


@TURN_TIME_CASES.add("4.15", "the-limit-of-a-turn", further_clauses=("holdem-5.11",))
async def turn_limit(context: HoldemContext) -> None:
    """A turn ends in 15 seconds."""
    clock = asyncio.get_running_loop().time
    start = clock()
    game = await context.seat("ann", "bob")
    response = await context.read_game(NOBODY, game)
    game_state = context.require_game(response)
    left = seconds_left(game_state.turn.expiry, server_time(response))
    if left is None or not game_state.turn.player_id:
        context.add_deviation("holdem-5.11", "the time at which the turn ends", repr(game_state.turn.expiry))
    elif not TURN_SECONDS - 3 - (clock() - start) <= left <= TURN_SECONDS + 3:
        context.add_deviation("holdem-4.15", f"a turn of {TURN_SECONDS:g} s", f"one of {left:.0f} s", Outcome.CHOICE)


@TURN_TIME_CASES.add("4.16", "out-of-time", further_clauses=("holdem-4.15",), beside=True)
async def player_times_out(context: HoldemContext) -> None:
    """A player whose time expires has folded and left."""
    await _let_turn_expire(context, await context.seat("ann", "bob"))


@TURN_TIME_CASES.add("4.16", "where-a-check-is-possible", further_clauses=("holdem-4.15",), beside=True)
async def player_who_may_check_times_out(context: HoldemContext) -> None:
    """A player whose time expires where a check is possible has folded and left, too."""
    game, first = await context.seat_and_find_turn("ann", "bob")
    if (await context.act(first, game, bet(context.first_call))).status >= 300:
        raise NotReached("a call in turn is refused")
    shown = await context.get_game(NOBODY, game)
    if shown.cards.board or shown.turn.bet_to_player != shown.turn.bet_so_far:
        raise NotReached("the big blind has no check")
    await _let_turn_expire(context, game)


async def _let_turn_expire(context: HoldemContext, game: str) -> None:
    """Let the turn of one of ann and bob expire, who are alone in a game."""
    clock = asyncio.get_running_loop().time
    start = clock()
    response = await context.read_game(NOBODY, game)
    game_state = context.require_game(response)
    left = seconds_left(game_state.turn.expiry, server_time(response)) or TURN_SECONDS
    loser = context.role_to_act(game_state)
    if len(game_state.table) != len(context.joined_seats):
        context.add_deviation("holdem-5.8", "ann and bob in the table", f"{len(game_state.table)} players")
        raise CaseAborted
    if not loser:
        context.add_deviation("holdem-5.10", "the turn of ann or bob", "that of no player")
        raise CaseAborted
    _require_time(context, left)
    expired_id = game_state.turn.player_id
    await asyncio.sleep(left * EARLY_LOOK_FRACTION)
    before = await context.get_game(NOBODY, game)
    elapsed = clock() - start
    if elapsed < left - CLOCK_ERROR_SECONDS and before.turn.player_id != expired_id:
        found = f"that of {context.role_to_act(before) or 'no player'} after {elapsed:.1f} s"
        context.add_deviation("holdem-4.15", f"the turn of {loser} for {left:.1f} s, until its expiry", found)
        raise CaseAborted
    await asyncio.sleep(left - CLOCK_ERROR_SECONDS - elapsed)
    after = await context.get_game(NOBODY, game)
    while expired_id in {one.player_id for one in after.table}:
        late = clock() - start - max(0.0, left)
        if late > MAX_LATE_SECONDS:
            late_text = f"{loser} at the table {late:.1f} s after the turn has expired"
            context.add_deviation("holdem-4.16", f"{loser} out of the game", late_text)
            raise CaseAborted
        await asyncio.sleep(END_POLL_SECONDS)
        after = await context.get_game(NOBODY, game)
    ante = context.server.settings.stakes.ante
    due = sum(one.wealth * (one.player_id != expired_id) + one.bet_so_far + ante for one in game_state.table)
    won = [(one.wealth, one.wealth + one.bet_so_far) for one in after.table]
    if len(won) != 1 or due not in won[0]:  # a bet that has been paid out may still be shown (5.18)
        found = f"{won[0][0]}" if won else "none"
        context.add_deviation("holdem-4.16", f"{due} chips of the remaining player, with the pot", found)
    response = await context.act(loser, game, FOLD)
    if response.status != 404:
        outcome = Outcome.CHOICE if response.status >= 400 else None
        context.add_status_deviation("holdem-4.16", 404, response, outcome)


@TURN_TIME_CASES.add("4.16", "the-next-turn", beside=True)
async def next_turn_is_whole(context: HoldemContext) -> None:
    """When a turn has expired, the next player has the whole time of a turn."""
    game, shown = await _deal_to_three(context)
    call = bet(shown.turn.bet_to_player - shown.turn.bet_so_far)
    if (await context.act(context.role_to_act(shown), game, call)).status >= 300:
        raise NotReached("a call in turn is refused")
    response = await context.read_game(NOBODY, game)
    expiring = context.require_game(response).turn
    whole = seconds_left(expiring.expiry, server_time(response))
    expires_at = parse_expiry(expiring.expiry)
    if whole is None or expires_at is None or not expiring.player_id:
        raise NotReached("no turn has a time at which it ends")
    _require_time(context, whole)
    await asyncio.sleep(whole)
    following = (await context.get_game(NOBODY, game)).turn
    clock = asyncio.get_running_loop().time
    latest = clock() + MAX_LATE_SECONDS
    while following.player_id in {"", expiring.player_id} and clock() < latest:
        await asyncio.sleep(END_POLL_SECONDS)
        following = (await context.get_game(NOBODY, game)).turn
    given = seconds_left(following.expiry, expires_at)
    if following.player_id in {"", expiring.player_id} or given is None:
        raise NotReached("no other player has the turn when it has expired")
    if given < whole - MAX_SHORT_SECONDS:
        context.add_deviation(
            "holdem-4.16", f"a turn of {whole:.1f} s after the one that has expired", f"one of {given:.1f} s"
        )


async def _deal_to_three(context: HoldemContext) -> tuple[str, Game]:
    """Return a game, and how it is shown when a hand of three players begins. Raises NotReached if none does."""
    game = await context.seat("ann", "bob", "cid")
    await fold_to_end(context, game)  # the first hand was dealt to two
    shown = await context.get_game(NOBODY, game)
    if len(shown.table) != len(context.joined_seats) or not context.role_to_act(shown):
        raise NotReached("no hand of three players has begun")
    return game, shown


@TURN_TIME_CASES.add("4.15", "after-a-turn-in-time", beside=True)
async def answered_turn_ends_no_later_one(context: HoldemContext) -> None:
    """The time of a turn in which a player has acted does not end a later turn of the same player."""
    game, first = await context.seat_and_find_turn("ann", "bob")
    response = await context.read_game(NOBODY, game)
    whole = seconds_left(context.require_game(response).turn.expiry, server_time(response)) or TURN_SECONDS
    _require_time(context, whole + CLOCK_ERROR_SECONDS)
    clock = asyncio.get_running_loop().time
    latest = clock() + whole + CLOCK_ERROR_SECONDS
    await context.act(first, game, bet(context.first_call))
    await asyncio.sleep(whole * LATER_TURN_FRACTION)
    began = clock()
    for _ in range(2):  # the other player checks before the flop and after it
        if role := context.role_to_act(await context.get_game(NOBODY, game)):
            await context.act(role, game, bet(0))
    if context.role_to_act(await context.get_game(NOBODY, game)) != first:
        raise NotReached("the first player to act is not the last one after the flop")
    await _expect_turn(context, game, first, latest, expires_at=began + whole, cause=OLD_TIMER)


@TURN_TIME_CASES.add("4.15", "after-a-departure-in-turn", beside=True)
async def turn_of_leaver_ends_no_later_one(context: HoldemContext) -> None:
    """The time of a turn in which a player has left does not end the turn of another player."""
    game, _ = await _deal_to_three(context)
    response = await context.read_game(NOBODY, game)
    shown = context.require_game(response)
    whole = seconds_left(shown.turn.expiry, server_time(response)) or TURN_SECONDS
    _require_time(context, whole + CLOCK_ERROR_SECONDS)
    clock = asyncio.get_running_loop().time
    latest = clock() + whole + CLOCK_ERROR_SECONDS
    await context.leave(context.role_to_act(shown), game)
    await asyncio.sleep(whole * LATER_TURN_FRACTION)
    began = clock()
    turn = (shown := await context.get_game(NOBODY, game)).turn
    if role := context.role_to_act(shown):
        await context.act(role, game, bet(turn.bet_to_player - turn.bet_so_far))
    last = context.role_to_act(await context.get_game(NOBODY, game))
    if last in {"", role}:
        raise NotReached("no other player has the turn after a departure and a call")
    await _expect_turn(context, game, last, latest, expires_at=began + whole, cause=LEFT_TIMER)


async def _expect_turn(
    context: HoldemContext, game: str, role: str, at: float, *, expires_at: float, cause: Cause
) -> None:
    """Check that a player has the turn at a time, before it expires."""
    clock = asyncio.get_running_loop().time
    await asyncio.sleep(at - clock())
    after = context.role_to_act(await context.get_game(NOBODY, game))
    left = expires_at - clock()
    if after != role and left > CLOCK_ERROR_SECONDS:
        found = f"that of {after or 'no player'} {left:.1f} s before"
        context.add_deviation("holdem-4.15", f"the turn of {role} until its expiry", found, cause=cause)


def _require_time(context: HoldemContext, seconds: float) -> None:
    """Raise NotReached if a turn takes longer than a case may."""
    if context.timeout is not None and seconds > context.timeout:
        raise NotReached(f"the turn ends after {seconds:.1f} s; a case may take {context.timeout:g} s")
