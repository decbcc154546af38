"""A person in a ring of Old Maid: what happens is shown, and the card that is chosen is picked."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rich.live import Live

from croupier.clients.ring import RingClient
from croupier.core.errors import IllegalMove
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished
from croupier.tui.keys import END_OF_INPUT, read_keys
from croupier.tui.oldmaid.scene import OldMaidScene, ending_text
from croupier.tui.resize import redraw_on_resize
from croupier.tui.table_action import TableAction


async def interact(open_ring: Callable[[], RingClient], table: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when he does not come to a game."""
    scene = OldMaidScene(table)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            wish = None
            try:
                async with open_ring() as ring:
                    wish = await _game_loop(scene, ring, pressed, live)
            except OSError as error:
                scene.on_ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
            if wish is TableAction.REJOIN:
                continue
            if wish is TableAction.LEAVE:
                scene.on_ended("You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 0 if wish is TableAction.LEAVE else 1


async def _game_loop(
    scene: OldMaidScene, ring: RingClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction | None:
    """One game: wait for what happens and for the person, whoever comes first. None when there has not been one."""
    scene.sit(ring.player)
    news: asyncio.Future[PlayerEvent] = asyncio.ensure_future(ring.receive())
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {news, key}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            while news.done():
                heard = news.result()
                scene.on_received(heard)
                if isinstance(heard, PlayerFinished):
                    if ring.player.seat is None:
                        other = await ring.find_other_protocol()
                        scene.on_ended(ending_text(heard.result) if other is None else str(other))
                        return None
                    news = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                else:
                    news = asyncio.ensure_future(ring.receive())
                await asyncio.sleep(0)  # what has come together is shown together
            if key.done():
                said = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(said, TableAction):
                    return said
                if said is not None:
                    with suppress(IllegalMove):  # who has offered may be gone by now
                        await ring.send(said)
                key = asyncio.ensure_future(pressed.get())
    finally:
        news.cancel()
        key.cancel()
