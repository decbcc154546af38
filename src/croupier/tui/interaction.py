"""Lets a person play in any room: shows what its client receives, and submits the moves of the keys."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from typing import Any

from croupier.tui.keys import END_OF_INPUT
from croupier.tui.scene import Scene, TableAction
from croupier.tui.terminal import Terminal, open_terminal

LEAVE_KEYS = {END_OF_INPUT, "q"}
"""The keys that leave while the client is joining."""

type Client = AbstractAsyncContextManager[Any]


async def interact(scene: Scene[Any, Any], open_client: Callable[[Callable[[str], None]], Client]) -> int:
    """Let a person play until they leave. Return the exit status: 1 if the session has ended otherwise.

    `open_client` returns a new client, the first time and whenever the person wants to sit down again. Its argument is
    a function that shows a notice while the client is waiting.
    """
    with open_terminal(scene.draw) as terminal:

        def notify(text: str) -> None:
            scene.show_waiting_notice(text)
            terminal.draw()

        while True:
            action, reason = await play_session(scene, open_client(notify), terminal)
            if action is not TableAction.REJOIN:
                scene.on_ended(reason or "You have left the table.")
                terminal.draw()
                return 1 if action is None else 0


async def play_session(scene: Scene[Any, Any], client: Client, terminal: Terminal) -> tuple[TableAction | None, str]:
    """Join, play and leave. Return the person's last action and "", or None and the reason of another end."""
    try:
        async with AsyncExitStack() as stack:
            if not await _join(scene, client, terminal):
                return TableAction.LEAVE, ""
            stack.push_async_exit(partial(_leave, scene, client))
            return await _play(scene, scene.sit(client), terminal), ""
    except scene.errors as error:
        return None, scene.end_reason(error)


async def _join(scene: Scene[Any, Any], client: Client, terminal: Terminal) -> bool:
    """Enter the client. Return False if the person leaves before that succeeds; other keys are kept for later."""
    entering = asyncio.ensure_future(_enter(scene, client))
    if not scene.can_leave_early:
        await entering
        return True
    terminal.draw()
    early: list[str] = []
    key = asyncio.ensure_future(terminal.keys.get())
    try:
        while not entering.done():
            await asyncio.wait({entering, key}, return_when=asyncio.FIRST_COMPLETED)
            if key.done():
                if key.result() in LEAVE_KEYS and not entering.done():
                    return False
                early.append(key.result())
                key = asyncio.ensure_future(terminal.keys.get())
        await entering
    finally:
        entering.cancel()
        key.cancel()
    for pressed_key in early:
        terminal.keys.put_nowait(pressed_key)
    return True


async def _enter(scene: Scene[Any, Any], client: Client) -> None:
    try:
        async with asyncio.timeout(scene.timeout_seconds):
            await client.__aenter__()
    except TimeoutError:
        raise ConnectionError("no answer") from None


async def _leave(scene: Scene[Any, Any], client: Client, *error: Any) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(scene.timeout_seconds):
            await client.__aexit__(*error)


async def _play(scene: Scene[Any, Any], first_move: Any, terminal: Terminal) -> TableAction:
    """Handle what is received, answers to moves, and keys, until the person leaves or wants to sit down again."""
    loop = asyncio.get_running_loop()
    if first_move is not None:
        await scene.submit(first_move)
    received: asyncio.Future[Any] = asyncio.ensure_future(scene.receive())
    answer: asyncio.Future[str | None] = loop.create_future()  # to the last move
    key: asyncio.Future[str] = asyncio.ensure_future(terminal.keys.get())
    try:
        while True:
            terminal.draw()
            awaited: set[asyncio.Future[Any]] = {received, answer, key}
            await asyncio.wait(awaited, timeout=scene.redraw_seconds, return_when=asyncio.FIRST_COMPLETED)
            while received.done():
                item = received.result()
                if item is None:
                    scene.on_closed()
                    received = loop.create_future()  # there will be nothing more
                else:
                    scene.on_received(item)
                    received = asyncio.ensure_future(scene.receive())
                await asyncio.sleep(0)  # show at once what arrives together
            if answer.done():
                refusal = answer.result()
                scene.on_answered(refusal)
                answer = loop.create_future()
                if refusal:  # nothing newer than the last state may ever come: ask for the current one
                    received.cancel()
                    await asyncio.wait({received})
                    received = asyncio.ensure_future(scene.receive())
            if key.done():
                result = TableAction.LEAVE if key.result() == END_OF_INPUT else scene.press(key.result())
                if isinstance(result, TableAction):
                    return result
                if result is not None:
                    scene.on_submitted(result)
                    answer = asyncio.ensure_future(scene.submit(result))
                key = asyncio.ensure_future(terminal.keys.get())
    finally:
        for future in (received, answer, key):
            future.cancel()
        await asyncio.gather(received, answer, key, return_exceptions=True)
