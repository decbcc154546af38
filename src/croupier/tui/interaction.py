"""A person at a table: what is heard is shown, what is pressed is said."""

import asyncio
from collections.abc import Callable
from typing import Any

from rich.live import Live

from croupier.clients.game import GameClient
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.tui.keys import END_OF_INPUT, read_keys
from croupier.tui.resize import redraw_on_resize
from croupier.tui.scene import Scene
from croupier.tui.table_action import TableAction

LEAVE_KEYS = {END_OF_INPUT, "q"}
"""The keys that leave before a house has answered."""


async def interact(room: HouseRoom, open_game: Callable[[], GameClient], house: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when the house broke the protocol or is gone."""
    scene: Scene[Any, Any] = room.load_extra("scene")(house)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            game = open_game()
            try:
                wish = await _run_conversation(scene, game, pressed, live)
            except Violation as violation:
                scene.on_ended(
                    f"The house broke the protocol. {violation}; its last words: {game.last_received or 'none'}"
                )
                wish = None
            except ConnectionError as error:
                scene.on_ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
                wish = None
            if wish is TableAction.LEAVE:
                scene.on_ended("You have left the table.")
            if wish is not TableAction.REJOIN:
                live.update(scene.draw(), refresh=True)
                return 0 if wish is TableAction.LEAVE else 1


async def _run_conversation(
    scene: Scene[Any, Any], game: GameClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction:
    """One conversation, from the call to the goodbye."""

    def notify(text: str) -> None:
        scene.show_waiting_notice(text)
        live.update(scene.draw(), refresh=True)

    game.notify = notify
    live.update(scene.draw(), refresh=True)
    if not await _connect(game, pressed):
        return TableAction.LEAVE
    try:
        return await _conversation_loop(scene, game, pressed, live)
    finally:
        await game.__aexit__(None, None, None)


async def _connect(game: GameClient, pressed: asyncio.Queue[str]) -> bool:
    """Connect, which may take seconds; False when the person leaves before. Other keys wait."""
    entering = asyncio.ensure_future(game.__aenter__())
    early: list[str] = []
    key = asyncio.ensure_future(pressed.get())
    try:
        while not entering.done():
            await asyncio.wait({entering, key}, return_when=asyncio.FIRST_COMPLETED)
            if key.done():
                if key.result() in LEAVE_KEYS and not entering.done():
                    return False
                early.append(key.result())
                key = asyncio.ensure_future(pressed.get())
        await entering
    finally:
        entering.cancel()
        key.cancel()
    for one in early:
        pressed.put_nowait(one)
    return True


async def _conversation_loop(
    scene: Scene[Any, Any], game: GameClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction:
    """One conversation: wait for the house and for the person, whoever comes first."""
    first = scene.sit(game)
    if first is not None:
        await _send(scene, game, first)
    heard: asyncio.Future[Any] = asyncio.ensure_future(game.receive())
    key = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            await asyncio.wait({heard, key}, return_when=asyncio.FIRST_COMPLETED)
            while heard.done():
                try:
                    scene.on_received(heard.result())
                    heard = asyncio.ensure_future(game.receive())
                except ConnectionError:
                    if not scene.is_spent:
                        raise
                    scene.on_house_closed()
                    heard = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                await asyncio.sleep(0)  # what has come together is shown together
            if key.done():
                said = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(said, TableAction):
                    return said
                if said is not None:
                    await _send(scene, game, said)
                key = asyncio.ensure_future(pressed.get())
    finally:
        heard.cancel()
        key.cancel()


async def _send(scene: Scene[Any, Any], game: GameClient, message: Any) -> None:
    await game.send(message)
    scene.on_sent(message)
