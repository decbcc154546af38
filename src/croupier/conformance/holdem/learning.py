"""Learns the settings of a server's tables from the first two hands that the tester plays there."""

import asyncio
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from croupier.conformance.deviations import NotReached
from croupier.conformance.holdem.context import PAUSE_POLL_SECONDS, QUEUED, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted
from croupier.conformance.holdem.endpoint import FOLD, ServerUnderTest
from croupier.conformance.holdem.refereed_games import MIN_PLAYERS
from croupier.conformance.holdem.schema import seconds_left, server_time
from croupier.conformance.holdem.table_cases import fold_to_end
from croupier.conformance.holdem.table_settings import (
    TURN_SECONDS,
    TableSettings,
    count_seats,
    settings_of_unseen_hands,
    stakes_of_two,
    straddle_of,
)
from croupier.conformance.holdem.walk import ROLES
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.wire import Game

MAX_LEARNING_ATTEMPTS: Final = 2

MAX_PAUSE_SECONDS: Final = 5.0
"""A server that has not dealt the next hand after this time is not waited for."""


async def learn_settings(server: ServerUnderTest) -> None:
    """Learn the settings of the tables, and whether games can be opened, so that games can run side by side.

    Raises ConnectionRefusedError if the server is gone.
    """
    server.timeout = server.answer_timeout.for_try()
    for _ in range(MAX_LEARNING_ATTEMPTS):
        context = HoldemContext(server)
        server.can_open_games = True
        server.settings = TableSettings()
        try:
            await context.register(*ROLES)
            game = await context.seat(ROLES[0])
            alone: Game | None = None
            with suppress(CaseAborted):
                alone = await context.get_game(NOBODY, game)
            await context.seat(*ROLES[:MIN_PLAYERS], game=game)
            with suppress(CaseAborted):
                await _observe_first_hands(context, game, alone)
        except ConnectionRefusedError:
            raise
        except (CaseAborted, NotReached, OSError):
            server.can_open_games = False
        finally:
            await server.within_timeout(context.close())
        if not context.has_timed_out:
            break


async def _observe_first_hands(context: HoldemContext, game: str, alone: Game | None) -> None:
    """Read the first two hands of a game: of two players, and of all who find a seat. Raises CaseAborted, OSError.

    The game was shown before the second player joined. What has been read remains known if something goes wrong.
    """
    server = context.server
    await _measure_pause(context, game)
    response = await context.read_game(NOBODY, game)
    first = context.require_game(response)
    if not first.turn.player_id:
        server.settings = (alone and settings_of_unseen_hands(alone, first)) or server.settings
        return
    left = seconds_left(first.turn.expiry, server_time(response))
    turn_seconds = left if left is not None and left > 1 else TURN_SECONDS
    server.settings = replace(_with_stakes(server.settings, first, None), turn_seconds=turn_seconds)
    joins = [await context.request(role, "POST", f"/games/{game}/players/") for role in ROLES[MIN_PLAYERS:]]
    if role := context.role_to_act(await context.get_game(NOBODY, game)):
        if (await context.act(role, game, FOLD)).status >= 400:
            await _try_content_type(context, role, game)
        await _measure_pause(context, game)
    second = await context.get_game(NOBODY, game)
    if not second.turn.player_id or context.turn_may_have_expired:
        return
    settings = _with_stakes(server.settings, first, second)
    stakes = replace(settings.stakes, straddle=straddle_of(second, settings.stakes))
    server.settings = replace(settings, stakes=stakes)
    if context.dialect == "hspe-go" or any(response.status == QUEUED for response in joins):
        await _count_seats(context, second)
    await context.list_games()


async def _try_content_type(context: HoldemContext, role: str, game: str) -> None:
    """Learn whether an act that was refused is accepted with a Content-Type."""
    server = context.server
    server.settings = replace(server.settings, needs_content_type=True)
    response = await context.act(role, game, FOLD)
    server.settings = replace(server.settings, needs_content_type=response.status < 300)


def _with_stakes(settings: TableSettings, shown: Game, following: Game | None) -> TableSettings:
    """Return the settings with the stakes and the stack that the first hand of two shows, see `stakes_of_two`."""
    stakes = stakes_of_two(shown, following)
    if stakes is None:
        return settings
    stack = max(player.wealth + player.bet_so_far for player in shown.table) + stakes.ante
    return replace(settings, stakes=stakes, stack=stack)


async def _count_seats(context: HoldemContext, shown: Game) -> None:
    """Learn the number of seats if some of those who have joined wait until another player leaves."""
    game, server = shown.game_id, context.server
    joined = [seat for seat in context.joined_seats if seat.game == game]
    seats = count_seats([seat.player_id for seat in joined], [player.player_id for player in shown.table])
    if seats is None:
        return
    await context.leave(joined[0].role, game)
    await fold_to_end(context, game)
    after = await context.get_game(NOBODY, game)
    if joined[seats].player_id in {player.player_id for player in after.table}:
        server.settings = replace(server.settings, seats=seats)


async def _measure_pause(context: HoldemContext, game: str) -> None:
    """Measure how long the server pauses before a hand, if it does. Raises CaseAborted and OSError."""
    server, clock = context.server, asyncio.get_running_loop().time
    start = clock()
    is_pausing = False
    while clock() - start < MAX_PAUSE_SECONDS:
        if (await context.get_game(NOBODY, game)).turn.player_id:
            if is_pausing:
                longest = max(server.settings.pause_seconds, clock() - start)
                server.settings = replace(server.settings, pause_seconds=longest)
            return
        is_pausing = True
        await asyncio.sleep(PAUSE_POLL_SECONDS)
