"""Contestants: what the arena lets play."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from croupier.core.bots import Bot, bot_factory
from croupier.core.room import Room
from croupier.rooms import find_room


@dataclass(frozen=True)
class Contestant:
    """A built-in bot, `NAME` or `NAME:ARGUMENT`."""

    room: str
    text: str
    kind: Literal["built-in"] = "built-in"

    def make(self) -> Bot[Any, Any]:
        """A new bot. Raises ValueError if there is none of this name."""
        return _factory(self.room, self.text)()


@cache
def _factory(room: str, text: str) -> Callable[[], Bot[Any, Any]]:
    """Made once in each process, because it may compute tables."""
    return bot_factory(find_room(room).bots, text)


def parse_contestant(room: Room, text: str) -> Contestant:
    """The contestant that a text names. Raises ValueError if it is none."""
    bot_factory(room.bots, text)
    return Contestant(room.name, text)
