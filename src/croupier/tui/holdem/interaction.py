"""Runs the hold'em screen: draws the states that the server shows, and sends the moves of the keys."""

import asyncio
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Final

from rich.live import Live

from croupier.clients.holdem import HoldemClient
from croupier.clients.holdem_api import ApiRequest, ApiResponse, HoldemApi, Refusal
from croupier.clients.holdem_seat import HoldemSeat
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.wire import Game, Guid
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.keys import END_OF_INPUT, read_keys
from croupier.tui.resize import redraw_on_resize
from croupier.tui.table_action import TableAction

REDRAW_INTERVAL_SECONDS: Final = 1.0
"""How often the remaining time is updated."""

JOIN_TIMEOUT_SECONDS: Final = 3.0
"""How long to wait for an answer when joining or leaving."""

MAX_CLOCK_SKEW_SECONDS: Final = 2.0
"""Larger differences to the server's clock are corrected. Its Date header has a resolution of one second."""


async def interact(client: HoldemClient, game: Guid | None, house: str) -> int:
    """Let a person play until they leave. Return the exit status: 1 if the server ended the session.

    Raises Refusal, Violation or ConnectionError if no table can be joined.
    """
    offset = await clock_offset(client, time)
    scene = HoldemScene(house, lambda: time() + offset)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            action, reason = await _play_session(client, game, scene, pressed, live)
            if action is TableAction.REJOIN:
                continue
            scene.on_ended(reason or "You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 1 if action is None else 0


async def _play_session(
    client: HoldemClient, game: Guid | None, scene: HoldemScene, pressed: asyncio.Queue[str], live: Live
) -> tuple[TableAction | None, str]:
    """Join, play and leave. Return the person's last action and "", or None and the reason of another end."""
    action = None
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(JOIN_TIMEOUT_SECONDS) as limit, client.sit(game) as table:
            limit.reschedule(None)
            try:
                action = await _session_loop(scene, table, pressed, live)
            finally:
                limit.reschedule(loop.time() + JOIN_TIMEOUT_SECONDS)
    except TimeoutError:
        if action is None:
            return None, _end_reason(scene, ConnectionError("no answer"))
    except (Violation, ConnectionError, Refusal) as error:
        return None, _end_reason(scene, error)
    return action, ""


def _end_reason(scene: HoldemScene, error: Violation | ConnectionError | Refusal) -> str:
    """Return the text for an error that ended the session. Raises the error if there is no screen yet."""
    if not scene.is_seated:
        raise error
    match error:
        case Violation():
            return f"The server broke the protocol. {error}"
        case Refusal():
            return f"The server refused the request: {error}"
        case _:
            return f"The server is gone: {error}"


async def _session_loop(scene: HoldemScene, table: HoldemSeat, pressed: asyncio.Queue[str], live: Live) -> TableAction:
    """Handle new states, keys and answers to moves until the person leaves or wants to rejoin."""
    scene.sit(table)
    state: asyncio.Future[Game | None] = asyncio.ensure_future(table.next_game())
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()  # to the last move
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {state, key, answer}
            await asyncio.wait(awaited, timeout=REDRAW_INTERVAL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if state.done():
                game = state.result()
                if game is None:
                    scene.on_seat_lost()
                    state = asyncio.get_running_loop().create_future()  # there will be no more states
                else:
                    scene.update(game)
                    state = asyncio.ensure_future(table.next_game())
            if answer.done():
                refusal = answer.result()
                scene.on_answered(refusal)
                answer = asyncio.get_running_loop().create_future()
                if refusal:  # a state newer than the last one may never come: ask for the current one
                    state.cancel()
                    await asyncio.wait({state})
                    state = asyncio.ensure_future(table.next_game())
            if key.done():
                key_result = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(key_result, TableAction):
                    return key_result
                if key_result is not None:
                    scene.on_sent(key_result)
                    answer = asyncio.ensure_future(_submit_move(table, key_result))
                key = asyncio.ensure_future(pressed.get())
    finally:
        for future in (state, key, answer):
            future.cancel()
        await asyncio.gather(state, key, answer, return_exceptions=True)


async def _submit_move(table: HoldemSeat, move: Move) -> str | None:
    """Make a move. Return None if the server accepted it, else the reason: it may have come too late."""
    try:
        return await table.make_move(move)
    except IllegalMove as error:
        return str(error)


async def clock_offset(api: HoldemApi, clock: Callable[[], float]) -> float:
    """Return the seconds by which the server's clock is ahead of `clock`; 0.0 if the difference is small or unknown."""
    reply = await api.exchange.request(ApiRequest("GET", "/games/"))
    try:
        date = parsedate_to_datetime(reply.headers["date"] if isinstance(reply, ApiResponse) else "")
    except (KeyError, ValueError):
        return 0.0
    offset = date.timestamp() + 0.5 - clock()
    return offset if abs(offset) > MAX_CLOCK_SKEW_SECONDS else 0.0
