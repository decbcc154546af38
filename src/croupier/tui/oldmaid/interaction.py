"""A person in a ring of Old Maid: what happens is shown, and the card that is chosen is picked."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rich.live import Live

from croupier.clients.ring import Ring
from croupier.core.errors import IllegalMove
from croupier.rooms.oldmaid.ring.player_events import News, Over
from croupier.tui.keys import END, keys
from croupier.tui.oldmaid.scene import OldMaidScene, ending
from croupier.tui.resize import redrawing
from croupier.tui.table_action import Wish


async def person(sit: Callable[[], Ring], table: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when he does not come to a game."""
    scene = OldMaidScene(table)
    with keys() as pressed, Live(auto_refresh=False) as live, redrawing(scene.draw, live):
        while True:
            wish = None
            try:
                async with sit() as ring:
                    wish = await _play(scene, ring, pressed, live)
            except OSError as error:
                scene.ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
            if wish is Wish.AGAIN:
                continue
            if wish is Wish.LEAVE:
                scene.ended("You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 0 if wish is Wish.LEAVE else 1


async def _play(scene: OldMaidScene, ring: Ring, pressed: asyncio.Queue[str], live: Live) -> Wish | None:
    """One game: wait for what happens and for the person, whoever comes first. None when there has not been one."""
    scene.sit(ring.player)
    news: asyncio.Future[News] = asyncio.ensure_future(ring.hear())
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {news, key}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            while news.done():
                heard = news.result()
                scene.heard(heard)
                if isinstance(heard, Over):
                    if ring.player.seat is None:
                        other = await ring.other()
                        scene.ended(ending(heard.result) if other is None else str(other))
                        return None
                    news = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                else:
                    news = asyncio.ensure_future(ring.hear())
                await asyncio.sleep(0)  # what has come together is shown together
            if key.done():
                said = Wish.LEAVE if key.result() == END else scene.press(key.result())
                if isinstance(said, Wish):
                    return said
                if said is not None:
                    with suppress(IllegalMove):  # who has offered may be gone by now
                        await ring.say(said)
                key = asyncio.ensure_future(pressed.get())
    finally:
        news.cancel()
        key.cancel()
