"""A person at a table: what is heard is shown, what is pressed is said."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rich.live import Live

from croupier.clients.game import Game
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.tui.blackjack import BlackjackScene
from croupier.tui.keys import END, keys
from croupier.tui.kuhn import KuhnScene
from croupier.tui.resize import redrawing
from croupier.tui.scene import Scene
from croupier.tui.sevenhalf import SevenHalfScene
from croupier.tui.table_action import Wish

SCENES: Mapping[str, Callable[[str], Scene[Any, Any]]] = {
    "kuhn": KuhnScene,
    "sevenhalf": SevenHalfScene,
    "blackjack": BlackjackScene,
}
"""The scene of every room, made with the address of its house."""


LEAVES = {END, "q"}
"""The keys that leave before a house has answered."""


async def person(room: HouseRoom, sit: Callable[[], Game], house: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when the house broke the protocol or is gone."""
    scene = SCENES[room.name](house)
    with keys() as pressed, Live(auto_refresh=False) as live, redrawing(scene.draw, live):
        while True:
            game = sit()
            try:
                wish = await _visit(scene, game, pressed, live)
            except Violation as violation:
                scene.ended(f"The house broke the protocol. {violation}; its last words: {game.last_words or 'none'}")
                wish = None
            except ConnectionError as error:
                scene.ended(f"{str(error)[:1].upper()}{str(error)[1:]}")
                wish = None
            if wish is Wish.LEAVE:
                scene.ended("You have left the table.")
            if wish is not Wish.AGAIN:
                live.update(scene.draw(), refresh=True)
                return 0 if wish is Wish.LEAVE else 1


async def _visit(scene: Scene[Any, Any], game: Game, pressed: asyncio.Queue[str], live: Live) -> Wish:
    """One conversation, from the call to the goodbye."""

    def notify(text: str) -> None:
        scene.silent(text)
        live.update(scene.draw(), refresh=True)

    game.notify = notify
    live.update(scene.draw(), refresh=True)
    if not await _enter(game, pressed):
        return Wish.LEAVE
    try:
        return await _play(scene, game, pressed, live)
    finally:
        await game.__aexit__(None, None, None)


async def _enter(game: Game, pressed: asyncio.Queue[str]) -> bool:
    """Connect, which may take seconds; False when the person leaves before. Other keys wait."""
    entering = asyncio.ensure_future(game.__aenter__())
    early: list[str] = []
    key = asyncio.ensure_future(pressed.get())
    try:
        while not entering.done():
            await asyncio.wait({entering, key}, return_when=asyncio.FIRST_COMPLETED)
            if key.done():
                if key.result() in LEAVES and not entering.done():
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


async def _play(scene: Scene[Any, Any], game: Game, pressed: asyncio.Queue[str], live: Live) -> Wish:
    """One conversation: wait for the house and for the person, whoever comes first."""
    first = scene.sit(game)
    if first is not None:
        await _say(scene, game, first)
    heard: asyncio.Future[Any] = asyncio.ensure_future(game.hear())
    key = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            await asyncio.wait({heard, key}, return_when=asyncio.FIRST_COMPLETED)
            while heard.done():
                try:
                    scene.heard(heard.result())
                    heard = asyncio.ensure_future(game.hear())
                except ConnectionError:
                    if not scene.spent:
                        raise
                    scene.closed()
                    heard = asyncio.get_running_loop().create_future()  # nothing more will be heard here
                await asyncio.sleep(0)  # what has come together is shown together
            if key.done():
                said = Wish.LEAVE if key.result() == END else scene.press(key.result())
                if isinstance(said, Wish):
                    return said
                if said is not None:
                    await _say(scene, game, said)
                key = asyncio.ensure_future(pressed.get())
    finally:
        heard.cancel()
        key.cancel()


async def _say(scene: Scene[Any, Any], game: Game, message: Any) -> None:
    await game.say(message)
    scene.said(message)
