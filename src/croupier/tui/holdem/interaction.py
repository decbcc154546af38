"""A person at a hold'em table: what the server shows is drawn, what is pressed is done."""

import asyncio
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Final

from rich.live import Live

from croupier.clients.holdem import Client, Refusal, Table
from croupier.clients.holdem_api import Ask, Errand, Reply
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.wire import Game, Guid
from croupier.tui.holdem.scene import HoldemScene
from croupier.tui.keys import END, keys
from croupier.tui.resize import redrawing
from croupier.tui.table_action import Wish

TICK: Final = 1.0
"""How many seconds pass before the time that is left is shown anew."""

HASTE: Final = 3.0
"""How many seconds a person waits at most for a server that does not answer while he joins or leaves."""

ASTRAY: Final = 2.0
"""A clock that differs from the server's by more seconds is corrected; the server tells its own in whole seconds."""


async def person(client: Client, game: Guid | None, house: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when the server is gone, or has refused something.

    Raises Refusal, Violation or ConnectionError when he does not even come to a table.
    """
    ahead = await client.run(difference(time))
    scene = HoldemScene(house, lambda: time() + ahead)
    with keys() as pressed, Live(auto_refresh=False) as live, redrawing(scene.draw, live):
        while True:
            wish, reason = await _visit(client, game, scene, pressed, live)
            if wish is Wish.AGAIN:
                continue
            scene.ended(reason or "You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 1 if wish is None else 0


async def _visit(
    client: Client, game: Guid | None, scene: HoldemScene, pressed: asyncio.Queue[str], live: Live
) -> tuple[Wish | None, str]:
    """Join, play and leave: what the person wants then; None, and why, when it was not he who has ended it."""
    wish = None
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(HASTE) as limit, client.sit(game) as table:
            limit.reschedule(None)
            try:
                wish = await _stay(scene, table, pressed, live)
            finally:
                limit.reschedule(loop.time() + HASTE)
    except TimeoutError:
        if wish is None:
            return None, _told(scene, ConnectionError("no answer"))
    except (Violation, ConnectionError, Refusal) as error:
        return None, _told(scene, error)
    return wish, ""


def _told(scene: HoldemScene, error: Violation | ConnectionError | Refusal) -> str:
    """Why a visit has ended. It is raised instead where there is nothing to be seen yet."""
    if not scene.seated:
        raise error
    match error:
        case Violation():
            return f"The server broke the protocol. {error}"
        case Refusal():
            return f"The server refuses: {error}"
        case _:
            return f"The server is gone: {error}"


async def _stay(scene: HoldemScene, table: Table, pressed: asyncio.Queue[str], live: Live) -> Wish:
    """Wait for the server, for the person and for the clock, whoever comes first."""
    scene.sit(table)
    news: asyncio.Future[Game | None] = asyncio.ensure_future(_news(table))
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    act: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # done when one is answered
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {news, key, act}
            await asyncio.wait(awaited, timeout=TICK, return_when=asyncio.FIRST_COMPLETED)
            if news.done():
                game = news.result()
                if game is None:
                    scene.lost()
                    news = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                else:
                    scene.saw(game)
                    news = asyncio.ensure_future(_news(table))
            if act.done():
                told = act.result()
                scene.answered(told)
                act = asyncio.get_running_loop().create_future()
                if told:  # it is not certain that there is anything to wait for
                    news.cancel()
                    await asyncio.wait({news})
                    news = asyncio.ensure_future(_news(table))
            if key.done():
                said = Wish.LEAVE if key.result() == END else scene.press(key.result())
                if isinstance(said, Wish):
                    return said
                if said is not None:
                    scene.said(said)
                    act = asyncio.ensure_future(_act(table, said))
                key = asyncio.ensure_future(pressed.get())
    finally:
        for future in (news, key, act):
            future.cancel()
        await asyncio.gather(news, key, act, return_exceptions=True)


async def _news(table: Table) -> Game | None:
    """What is to be seen next, None when we have no seat any more."""
    return await anext(table, None)


async def _act(table: Table, move: Move) -> str:
    """Make a move: "" if it is done, else why not. It may have become too late for it since the key was pressed."""
    try:
        return await table.say(move)
    except IllegalMove as error:
        return str(error)


def difference(clock: Callable[[], float]) -> Errand[float]:
    """How many seconds the server's clock is ahead of ours; 0 where it hardly is, or does not tell."""
    reply = yield Ask("GET", "/games/")
    try:
        date = parsedate_to_datetime(reply.headers["date"] if isinstance(reply, Reply) else "")
    except (KeyError, ValueError):
        return 0.0
    ahead = date.timestamp() + 0.5 - clock()
    return ahead if abs(ahead) > ASTRAY else 0.0
