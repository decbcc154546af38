"""Runs the screen of a game against a house: shows received messages, and sends those of the keys."""

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
"""The keys that leave while the connection is being opened."""


async def interact(room: HouseRoom, open_game: Callable[[], GameClient], house: str) -> int:
    """Let a person play until they leave. Return the exit status: 1 if the house broke the protocol or is gone."""
    scene: Scene[Any, Any] = room.load_extra("scene")(house)
    with read_keys() as pressed, Live(auto_refresh=False) as live, redraw_on_resize(scene.draw, live):
        while True:
            game = open_game()
            try:
                action = await _run_conversation(scene, game, pressed, live)
            except Violation as violation:
                scene.on_ended(
                    f"The house broke the protocol. {violation}; its last message: {game.last_received or 'none'}"
                )
                action = None
            except ConnectionError as error:
                scene.on_ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
                action = None
            if action is TableAction.LEAVE:
                scene.on_ended("You have left the table.")
            if action is not TableAction.REJOIN:
                live.update(scene.draw(), refresh=True)
                return 0 if action is TableAction.LEAVE else 1


async def _run_conversation(
    scene: Scene[Any, Any], game: GameClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction:
    """Run one conversation, from connecting to closing."""

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
    """Connect. Return False if the person leaves before that succeeds; other keys are kept for later."""
    connecting = asyncio.ensure_future(game.__aenter__())
    early: list[str] = []
    key = asyncio.ensure_future(pressed.get())
    try:
        while not connecting.done():
            await asyncio.wait({connecting, key}, return_when=asyncio.FIRST_COMPLETED)
            if key.done():
                if key.result() in LEAVE_KEYS and not connecting.done():
                    return False
                early.append(key.result())
                key = asyncio.ensure_future(pressed.get())
        await connecting
    finally:
        connecting.cancel()
        key.cancel()
    for pressed_key in early:
        pressed.put_nowait(pressed_key)
    return True


async def _conversation_loop(
    scene: Scene[Any, Any], game: GameClient, pressed: asyncio.Queue[str], live: Live
) -> TableAction:
    """Handle messages of the house and keys until the person leaves or wants a new connection."""
    first = scene.sit(game)
    if first is not None:
        await _send(scene, game, first)
    received: asyncio.Future[Any] = asyncio.ensure_future(game.receive())
    key = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            await asyncio.wait({received, key}, return_when=asyncio.FIRST_COMPLETED)
            while received.done():
                try:
                    scene.on_received(received.result())
                    received = asyncio.ensure_future(game.receive())
                except ConnectionError:
                    if not scene.is_spent:
                        raise
                    scene.on_house_closed()
                    received = asyncio.get_running_loop().create_future()  # there will be no more messages
                await asyncio.sleep(0)  # show messages that arrive together at once
            if key.done():
                key_result = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(key_result, TableAction):
                    return key_result
                if key_result is not None:
                    await _send(scene, game, key_result)
                key = asyncio.ensure_future(pressed.get())
    finally:
        received.cancel()
        key.cancel()


async def _send(scene: Scene[Any, Any], game: GameClient, message: Any) -> None:
    await game.send(message)
    scene.on_sent(message)
