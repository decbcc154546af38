"""The registry of rooms, by name. A room is imported on first use: a client of one game needs no other."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from croupier.core.room import HouseRoom, Room


class Registry[R: Room](Mapping[str, R]):
    """Rooms by name: the `ROOM` of each package of this one."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getitem__(self, name: str) -> R:
        if name not in self._names:
            raise KeyError(name)
        room: R = import_module(f"{__name__}.{name}").ROOM
        return room

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


HOUSE_ROOMS: Final = Registry[HouseRoom]("kuhn", "sevenhalf", "blackjack")
"""The rooms in which each client plays alone against the house."""

ROOMS: Final = Registry[Room](*HOUSE_ROOMS, "holdem", "oldmaid")
"""All rooms."""


def find_room(name: str) -> Room:
    """The room of a name. Raises ValueError on an unknown name.

    Example:
        >>> find_room("sevenhalf").title
        'Seven and a half'
    """
    if name not in ROOMS:
        raise ValueError(f"found the room {name!r}; allowed: {', '.join(ROOMS)}")
    return ROOMS[name]
