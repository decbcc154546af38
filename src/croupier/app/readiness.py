"""Readiness: whether a server can be used now, and the reason if not."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.json import encode

from croupier.observers.counters import RoomFigures

NOT_OPEN: Final = "the room is not open yet"
"""The reason of a room that is still opening."""


class Readiness:
    r"""Whether a server can be used: every room is open and can be played in, and the server is not shutting down.

    `room_names` are all rooms; a name without an entry in `rooms` is a room that is still opening.

    >>> Readiness(["kuhn"], {}).report()
    (503, b'{"status":"down","rooms":{"kuhn":{"status":"down","reason":"the room is not open yet"}}}\n')
    """

    def __init__(self, room_names: Sequence[str], rooms: Mapping[str, RoomFigures]) -> None:
        self.is_closing = False
        self._names = room_names
        self._rooms = rooms

    def reasons(self) -> dict[str, str | None]:
        """For each room, return the reason why no games can be played in it now, None if they can."""
        opened = {name: self._rooms.get(name) for name in self._names}
        return {name: NOT_OPEN if room is None else room.unavailable_reason for name, room in opened.items()}

    def report(self) -> tuple[int, bytes]:
        """Return the HTTP status, 200 if the server is ready or else 503, and the JSON body."""
        return render_report(self.reasons(), is_closing=self.is_closing)


def render_report(reasons: Mapping[str, str | None], *, is_closing: bool) -> tuple[int, bytes]:
    """Return the HTTP status and the JSON body for rooms with these reasons why they are unavailable."""
    rooms = {
        name: {"status": "ok"} if reason is None else {"status": "down", "reason": reason}
        for name, reason in reasons.items()
    }
    status = "closing" if is_closing else "ok" if all(reason is None for reason in reasons.values()) else "down"
    return 200 if status == "ok" else 503, encode({"status": status, "rooms": rooms}) + b"\n"
