"""Runs the Old Maid screen: shows events of the game, and sends the picks of the keys."""

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
    """Let a person play until they leave. Return the exit status: 1 if no game could be joined."""
    scene = OldMaidScene(table)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            action = None
            try:
                async with open_ring() as ring:
                    action = await _game_loop(scene, ring, pressed, live)
            except OSError as error:
                scene.on_ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
            if action is TableAction.REJOIN:
                continue
            if action is TableAction.LEAVE:
                scene.on_ended("You have left the table.")
            live.update(scene.draw(), refresh=True)
            return 0 if action is TableAction.LEAVE else 1


async def _game_loop(
    scene: OldMaidScene, ring: RingClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction | None:
    """Handle events of one game and keys. Return the person's last action, None if the game did not take place."""
    scene.sit(ring.player)
    next_event: asyncio.Future[PlayerEvent] = asyncio.ensure_future(ring.receive())
    key: asyncio.Future[str] = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            awaited: set[asyncio.Future[Any]] = {next_event, key}
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            while next_event.done():
                event = next_event.result()
                scene.on_received(event)
                if isinstance(event, PlayerFinished):
                    if ring.player.seat is None:
                        other = await ring.find_other_protocol()
                        scene.on_ended(ending_text(event.result) if other is None else str(other))
                        return None
                    next_event = asyncio.get_running_loop().create_future()  # there will be no more events
                else:
                    next_event = asyncio.ensure_future(ring.receive())
                await asyncio.sleep(0)  # show events that arrive together at once
            if key.done():
                key_result = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(key_result, TableAction):
                    return key_result
                if key_result is not None:
                    with suppress(IllegalMove):  # the neighbour who offered may have left
                        await ring.send(key_result)
                key = asyncio.ensure_future(pressed.get())
    finally:
        next_event.cancel()
        key.cancel()
