"""A person at a table: what is heard is shown, what is pressed is said."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from rich.console import RenderableType
from rich.live import Live

from croupier.core.errors import Violation
from croupier.core.room import Room
from croupier.shell.client import Game
from croupier.tui.keys import END, keys
from croupier.tui.kuhn import KuhnScene
from croupier.tui.wish import Wish


class Scene(Protocol):
    """What a person sees of a room, and what the keys mean there."""

    def sit(self, game: Game) -> None:
        """A conversation has begun."""

    def heard(self, message: Any) -> None:
        """The house has said something."""

    def ended(self, reason: str) -> None:
        """The conversation is over; `reason` is for the person."""

    def keys(self) -> Mapping[str, Any]:
        """What may be pressed now: a message to say, or a Wish."""

    def puzzled(self, key: str) -> None:
        """A key was pressed that means nothing now."""

    def draw(self) -> RenderableType:
        """The table as it is now."""


SCENES: Mapping[str, Callable[[str], Scene]] = {"kuhn": KuhnScene}
"""The scene of every room, made with the address of its house."""


async def person(room: Room, sit: Callable[[], Game], house: str) -> int:
    """Let a person play until he leaves; the exit status: 1 when the house broke the protocol or is gone."""
    scene = SCENES[room.name](house)
    with keys() as pressed, Live(auto_refresh=False) as live:
        while True:
            try:
                async with sit() as game:
                    scene.sit(game)
                    wish = await _play(scene, game, pressed, live)
            except Violation as violation:
                scene.ended(f"The house broke the protocol. {violation}")
                wish = None
            except ConnectionError as error:
                scene.ended(str(error).capitalize())
                wish = None
            if wish is Wish.LEAVE:
                scene.ended("You have left the table.")
            if wish is not Wish.NEW_PURSE:
                live.update(scene.draw(), refresh=True)
                return 0 if wish is Wish.LEAVE else 1


async def _play(scene: Scene, game: Game, pressed: asyncio.Queue[str], live: Live) -> Wish:
    """One conversation: wait for the house and for the person, whoever comes first."""
    heard = asyncio.ensure_future(game.hear())
    key = asyncio.ensure_future(pressed.get())
    try:
        while True:
            live.update(scene.draw(), refresh=True)
            await asyncio.wait({heard, key}, return_when=asyncio.FIRST_COMPLETED)
            if heard.done():
                scene.heard(heard.result())
                heard = asyncio.ensure_future(game.hear())
            if key.done():
                wish = scene.keys().get(key.result().lower())
                if key.result() == END or wish is Wish.LEAVE:
                    return Wish.LEAVE
                if wish is Wish.NEW_PURSE:
                    return wish
                if wish is None:
                    scene.puzzled(key.result())
                else:
                    await game.say(wish)
                key = asyncio.ensure_future(pressed.get())
    finally:
        heard.cancel()
        key.cancel()
