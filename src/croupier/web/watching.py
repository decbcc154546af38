"""Watching public tables: one feed for each table, which all its watchers share, with an optional delay."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from croupier.core.presentation import TableView, Text, counted, text
from croupier.http.holdem_tables import HoldemTables
from croupier.http.views import GameViewCache
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.wire import Guid
from croupier.web.feed import Feed, RenderEnvelope, Snapshot, Versions
from croupier.web.holdem_games import follow_game, with_absent_people
from croupier.web.seats import news

MAX_DELAYED: Final = 1000
"""Versions of a table that wait for their time; with one more, the oldest one is left out."""

IDLE_SECONDS: Final = 60.0
"""A table is followed for this long after its last watcher has gone."""

PUBLISH_SECONDS: Final = 0.05
"""A table is shown at most once in this time: bots may act a thousand times a second."""

TABLE_GONE: Final = text("This table does not exist any more.")
SERVICE_CLOSED: Final = text("The server is shutting down.")


class PublicTable(Struct, frozen=True):
    """A table as a list of public tables shows it."""

    id: Guid
    room: str
    title: Text
    players: Sequence[str]
    note: Text | None
    can_sit: bool


def public_tables(service: HoldemTables, title: Text) -> list[PublicTable]:
    """Return the tables that have players, those with most players first."""
    games = [game for game in service.views.games_for(None) if game.shown.guids]
    games.sort(key=lambda game: (-len(game.shown.guids), game.number))
    return [_public_table(game, title) for game in games]


def _public_table(game: GameViewCache, title: Text) -> PublicTable:
    shown = game.shown
    return PublicTable(
        game.guid,
        "holdem",
        title,
        [*shown.guids],
        text("hand {number}", number=shown.finished_count + 1)
        if shown.is_playing
        else counted("{count} seat", "{count} seats", shown.chairs),
        can_sit=game.has_free_seat,
    )


class DelayedFeed(Feed[Snapshot]):
    """A feed that shows each snapshot `delay_seconds` after it was published; see `Feed`.

    At most MAX_DELAYED snapshots wait; then the oldest one is left out, and its news are those of the next one.
    """

    def __init__(self, snapshot: Snapshot, render: RenderEnvelope, delay_seconds: float) -> None:
        super().__init__(snapshot, render)
        self._delay_seconds = delay_seconds
        self._waiting: deque[tuple[float, Snapshot | None]] = deque()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def publish(self, snapshot: Snapshot) -> None:
        """Show a snapshot after the delay."""
        if self._delay_seconds:
            self._put(snapshot)
        else:
            super().publish(snapshot)

    def end(self) -> None:
        """End all streams after the last snapshot was shown."""
        if self._delay_seconds:
            self._put(None)
        else:
            super().end()

    def close(self) -> None:
        """Show nothing more."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        super().end()

    def _put(self, snapshot: Snapshot | None) -> None:
        self._waiting.append((self._loop.time() + self._delay_seconds, snapshot))
        if len(self._waiting) > MAX_DELAYED:
            self._waiting.popleft()
        if self._timer is None:
            self._release()

    def _release(self) -> None:
        """Show everything that is due, and wait for the next snapshot."""
        self._timer = None
        now = self._loop.time()
        while self._waiting and self._waiting[0][0] <= now:
            _, snapshot = self._waiting.popleft()
            if snapshot is None:
                super().end()
            else:
                super().publish(snapshot)
        if self._waiting:
            self._timer = self._loop.call_at(self._waiting[0][0], self._release)


class WatchedTable:
    """Follows a public table for its watchers: what everybody may see, when it is durable.

    Watchers see the newest view every PUBLISH_SECONDS. With a delay, the first view is empty until the delay is over.
    """

    def __init__(self, service: HoldemTables, game: Guid, render: RenderEnvelope, delay_seconds: float) -> None:
        self._service = service
        self._game = game
        self._loop = asyncio.get_running_loop()
        self._versions = Versions()
        self._presenter = HoldemPresenter()
        if not delay_seconds and (found := service.views.game(game)) is not None:
            self._presenter.received(found.shown.public)
        self._last = self._snapshot()
        self.feed = DelayedFeed(self._last, render, delay_seconds)
        self._task = self._loop.create_task(self._follow())

    def close(self) -> None:
        """Stop following the table, and end its streams."""
        self._task.cancel()
        self.feed.close()

    async def _follow(self) -> None:
        async for game in follow_game(self._service, self._game):
            self._presenter.received(game.shown.public)
            self._publish()
            await asyncio.sleep(PUBLISH_SECONDS)
        self._presenter.ended(SERVICE_CLOSED if self._service.closing else TABLE_GONE)
        self._publish()
        self.feed.end()

    def _publish(self) -> None:
        self._last = self._snapshot(self._last.view)
        self.feed.publish(self._last)

    def _snapshot(self, before: TableView | None = None) -> Snapshot:
        view = with_absent_people(self._presenter.table(time.time()), self._service.views.game(self._game))
        return Snapshot(self._versions.next(), view, (), news(before, view), self._loop.time())


class WatchedTables:
    """The tables that are being watched, by id."""

    def __init__(self, service: HoldemTables, delay_seconds: float) -> None:
        self._service = service
        self._delay_seconds = delay_seconds
        self._tables: dict[Guid, WatchedTable] = {}
        self._removals: dict[Guid, asyncio.TimerHandle] = {}
        self._loop = asyncio.get_running_loop()

    def watch(self, game: Guid, make_render: Callable[[Guid], RenderEnvelope]) -> WatchedTable | None:
        """Return a table, and follow it for some time at least; None if there is no such table."""
        table = self._tables.get(game)
        if table is None or table.feed.is_over:
            if self._service.views.game(game) is None:
                return None
            table = self._tables[game] = WatchedTable(self._service, game, make_render(game), self._delay_seconds)
        self._remove_later(game)
        return table

    def close(self) -> None:
        """End all streams."""
        for timer in self._removals.values():
            timer.cancel()
        for table in self._tables.values():
            table.close()
        self._tables.clear()

    def _remove_later(self, game: Guid) -> None:
        """Stop following a table after a while, if nobody watches it then."""
        if (timer := self._removals.pop(game, None)) is not None:
            timer.cancel()
        self._removals[game] = self._loop.call_later(IDLE_SECONDS, self._remove_idle, game)

    def _remove_idle(self, game: Guid) -> None:
        table = self._tables[game]
        if table.feed.subscriptions:
            self._remove_later(game)
        else:
            del self._tables[game], self._removals[game]
            table.close()
