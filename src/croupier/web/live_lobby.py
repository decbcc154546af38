"""The lobby as it changes: who plays in the rooms, and which public tables there are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from croupier.net.timer import Timer
from croupier.web.feed import Feed, FeedSnapshot
from croupier.web.render import Renderer
from croupier.web.rooms import RoomView
from croupier.web.watching import PublicTable

REFRESH_SECONDS: Final = 1.0
"""While browsers follow the lobby, it is compared this often with what they have."""


class LobbySnapshot(FeedSnapshot, frozen=True):
    """The playable rooms and the public tables at one moment."""

    rooms: Sequence[RoomView]
    tables: Sequence[PublicTable]


class LiveLobby:
    """The feed of the lobby, which all browsers share."""

    def __init__(self, renderer: Renderer, public_tables: Callable[[], Sequence[PublicTable]]) -> None:
        self._renderer = renderer
        self._public_tables = public_tables
        self._timer = Timer()
        self.feed = Feed(LobbySnapshot((), ()), self._render)

    def refresh(self) -> LobbySnapshot:
        """Return the lobby as it is now, and publish it if it has changed."""
        shown = self.feed.snapshot
        rooms = [room for room in self._renderer.rooms if room.is_playable]
        tables = self._public_tables()
        if (rooms, tables) != (shown.rooms, shown.tables):
            self.feed.publish(LobbySnapshot(rooms, tables))
        return self.feed.snapshot

    def follow(self) -> None:
        """Refresh the lobby from now on, until its last browser has gone."""
        if not self._timer.is_set:
            self._tick()

    def close(self) -> None:
        """End all streams."""
        self._timer.cancel()
        self.feed.end()

    def _tick(self) -> None:
        if self.feed.subscriptions and not self.feed.is_over:
            self.refresh()
            self._timer.set(REFRESH_SECONDS, self._tick)

    def _render(self, snapshot: LobbySnapshot, locale: str) -> Mapping[str, str]:
        counts = {
            f"count-{room.name}": self._renderer.part("player_count", locale, {"room": room}) for room in snapshot.rooms
        }
        tables = self._renderer.part("tables", locale, {"tables": snapshot.tables})
        return {**counts, "tables": tables}
