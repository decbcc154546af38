"""A person at a hold'em table: what the server shows is drawn, what is pressed is done."""

import asyncio
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Final

from rich.live import Live

from croupier.clients.holdem import HoldemClient, HoldemSeat, Refusal
from croupier.clients.holdem_api import ApiRequest, ApiResponse, RequestFlow
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.wire import Game, Guid
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.keys import END_OF_INPUT, read_keys
from croupier.tui.resize import redraw_on_resize
from croupier.tui.table_action import TableAction

REDRAW_INTERVAL_SECONDS: Final = 1.0
"""How many seconds pass before the time that is left is shown anew."""

JOIN_TIMEOUT_SECONDS: Final = 3.0
"""How many seconds a person waits at most for a server that does not answer while he joins or leaves."""

MAX_CLOCK_SKEW_SECONDS: Final = 2.0
"""A clock that differs from the server's by more seconds is corrected; the server tells its own in whole seconds."""


async def interact(client: HoldemClient, game: Guid | None, house: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when the server is gone, or has refused something.

    Raises Refusal, Violation or ConnectionError when he does not even come to a table.
    """
    ahead = await client.run(clock_offset(time))
    scene = HoldemScene(house, lambda: time() + ahead)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            wish, reason = await _play_session(client, game, scene, pressed, live)
            if wish is TableAction.REJOIN:
                continue
            scene.on_ended(reason or "You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 1 if wish is None else 0


async def _play_session(
    client: HoldemClient, game: Guid | None, scene: HoldemScene, pressed: asyncio.Queue[str], live: Live
) -> tuple[TableAction | None, str]:
    """Join, play and leave: what the person wants then; None, and why, when it was not he who has ended it."""
    wish = None
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(JOIN_TIMEOUT_SECONDS) as limit, client.sit(game) as table:
            limit.reschedule(None)
            try:
                wish = await _session_loop(scene, table, pressed, live)
            finally:
                limit.reschedule(loop.time() + JOIN_TIMEOUT_SECONDS)
    except TimeoutError:
        if wish is None:
            return None, _end_reason(scene, ConnectionError("no answer"))
    except (Violation, ConnectionError, Refusal) as error:
        return None, _end_reason(scene, error)
    return wish, ""


def _end_reason(scene: HoldemScene, error: Violation | ConnectionError | Refusal) -> str:
    """Why a visit has ended. It is raised instead where there is nothing to be seen yet."""
    if not scene.is_seated:
        raise error
    match error:
        case Violation():
            return f"The server broke the protocol. {error}"
        case Refusal():
            return f"The server refuses: {error}"
        case _:
            return f"The server is gone: {error}"


async def _session_loop(scene: HoldemScene, table: HoldemSeat, pressed: asyncio.Queue[str], live: Live) -> TableAction:
    """Wait for the server, for the person and for the clock, whoever comes first."""
    scene.sit(table)
    news: asyncio.Future[Game | None] = asyncio.ensure_future(_next_game(table))
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    act: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # done when one is answered
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {news, key, act}
            await asyncio.wait(awaited, timeout=REDRAW_INTERVAL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if news.done():
                game = news.result()
                if game is None:
                    scene.on_seat_lost()
                    news = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                else:
                    scene.update(game)
                    news = asyncio.ensure_future(_next_game(table))
            if act.done():
                told = act.result()
                scene.on_answered(told)
                act = asyncio.get_running_loop().create_future()
                if told:  # it is not certain that there is anything to wait for
                    news.cancel()
                    await asyncio.wait({news})
                    news = asyncio.ensure_future(_next_game(table))
            if key.done():
                said = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(said, TableAction):
                    return said
                if said is not None:
                    scene.on_sent(said)
                    act = asyncio.ensure_future(_submit_move(table, said))
                key = asyncio.ensure_future(pressed.get())
    finally:
        for future in (news, key, act):
            future.cancel()
        await asyncio.gather(news, key, act, return_exceptions=True)


async def _next_game(table: HoldemSeat) -> Game | None:
    """What is to be seen next, None when we have no seat any more."""
    return await anext(table, None)


async def _submit_move(table: HoldemSeat, move: Move) -> str:
    """Make a move: "" if it is done, else why not. It may have become too late for it since the key was pressed."""
    try:
        return await table.make_move(move) or ""
    except IllegalMove as error:
        return str(error)


def clock_offset(clock: Callable[[], float]) -> RequestFlow[float]:
    """How many seconds the server's clock is ahead of ours; 0 where it hardly is, or does not tell."""
    reply = yield ApiRequest("GET", "/games/")
    try:
        date = parsedate_to_datetime(reply.headers["date"] if isinstance(reply, ApiResponse) else "")
    except (KeyError, ValueError):
        return 0.0
    ahead = date.timestamp() + 0.5 - clock()
    return ahead if abs(ahead) > MAX_CLOCK_SKEW_SECONDS else 0.0
