"""Watching public tables: one feed for each table, which all its watchers share, with an optional delay."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Final, Protocol

from msgspec import Struct

from croupier.core.presentation import TableView, Text, text
from croupier.core.session import Observer
from croupier.net.endpoint import Endpoint
from croupier.net.timer import Timer
from croupier.web.feed import Feed, RenderTable, Snapshot
from croupier.web.rooms import RoomEntry
from croupier.web.seats import news

MAX_DELAYED: Final = 1000
"""Versions of a table that wait for their time; with one more, the oldest one is left out."""

IDLE_SECONDS: Final = 60.0
"""A table is followed for this long after its last watcher has gone."""

PUBLISH_SECONDS: Final = 0.05
"""A table is shown at most once in this time: bots may act a thousand times a second."""

TABLE_GONE: Final = text("This table does not exist any more.")


class PublicTable(Struct, frozen=True):
    """A table as a list of public tables shows it; no two tables of a server have the same `id`."""

    id: str
    room: str
    title: Text
    players: Sequence[str]
    note: Text | None
    can_sit: bool

    @property
    def player_count(self) -> int:
        """The number of players. A house has one at each table, who has no name."""
        return len(self.players) or 1


class TableSource(Protocol):
    """What everybody may see of one table, as it changes."""

    title: Text

    def changes(self) -> AsyncGenerator[None]:
        """Yield at once and after changes, until nothing more will happen at the table."""
        ...

    def view(self) -> TableView:
        """Return the table as everybody may see it since `changes` has last yielded, and at its end."""
        ...


class WatchableRoom(Protocol):
    """A room whose tables can be watched."""

    entry: RoomEntry

    def public_tables(self) -> Sequence[PublicTable]:
        """Return the tables that are listed."""
        ...

    async def open(self, table: str) -> TableSource | None:
        """Return the source of a table, None if there is no table with this id."""
        ...


async def follow_views(source: TableSource) -> AsyncGenerator[TableView]:
    """Yield the newest view of a table after changes, once every PUBLISH_SECONDS, and its last one."""
    async with aclosing(source.changes()) as changes:
        async for _ in changes:
            yield source.view()
            await asyncio.sleep(PUBLISH_SECONDS)
    yield source.view()


@contextmanager
def observing(endpoint: Endpoint, observer: Observer) -> Iterator[None]:
    """Let an observer see the events of an endpoint while the context is open: endpoints without one are faster."""
    endpoint.observers.add(observer)
    try:
        yield
    finally:
        endpoint.observers.remove(observer)


class DelayedFeed(Feed[Snapshot]):
    """A feed that shows each snapshot `delay_seconds` after it was published; see `Feed`.

    At most MAX_DELAYED snapshots wait; then the oldest one is left out, and its news are those of the next one.
    """

    def __init__(self, snapshot: Snapshot, render: RenderTable, delay_seconds: float) -> None:
        super().__init__(snapshot, render)
        self._delay_seconds = delay_seconds
        self._waiting: deque[tuple[float, Snapshot | None]] = deque()
        self._loop = asyncio.get_running_loop()
        self._timer = Timer()

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
        self._timer.cancel()
        super().end()

    def _put(self, snapshot: Snapshot | None) -> None:
        self._waiting.append((self._loop.time() + self._delay_seconds, snapshot))
        if len(self._waiting) > MAX_DELAYED:
            self._waiting.popleft()
        if not self._timer.is_set:
            self._release()

    def _release(self) -> None:
        """Show everything that is due, and wait for the next snapshot."""
        now = self._loop.time()
        while self._waiting and self._waiting[0][0] <= now:
            _, snapshot = self._waiting.popleft()
            if snapshot is None:
                super().end()
            else:
                super().publish(snapshot)
        if self._waiting:
            self._timer.set(self._waiting[0][0] - now, self._release)


class WatchedTable:
    """Follows a public table for its watchers.

    Watchers see the newest view every PUBLISH_SECONDS. With a delay, the first view is empty until the delay is over.
    """

    def __init__(self, source: TableSource, render: RenderTable, delay_seconds: float) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        first = TableView(title=source.title, seats=()) if delay_seconds else source.view()
        self._last = self._snapshot(None, first)
        self.feed = DelayedFeed(self._last, render, delay_seconds)
        self._task = self._loop.create_task(self._follow())

    def close(self) -> None:
        """Stop following the table, and end its streams."""
        self._task.cancel()
        self.feed.close()

    async def _follow(self) -> None:
        async with aclosing(follow_views(self._source)) as views:
            async for view in views:
                self._publish(view)
        self.feed.end()

    def _publish(self, view: TableView) -> None:
        if view != self._last.view:
            self._last = self._snapshot(self._last.view, view)
            self.feed.publish(self._last)

    def _snapshot(self, before: TableView | None, view: TableView) -> Snapshot:
        return Snapshot(view, (), self._loop.time(), news=news(before, view))


type MakeRender = Callable[[RoomEntry, str], RenderTable]
"""Makes what renders the table of a room with an id."""


class WatchedTables:
    """The tables that are being watched, by id, each with its room."""

    def __init__(self, rooms: Sequence[WatchableRoom], make_render: MakeRender, delay_seconds: float) -> None:
        self._rooms = rooms
        self._make_render = make_render
        self._delay_seconds = delay_seconds
        self._tables: dict[str, tuple[RoomEntry, WatchedTable]] = {}
        self._openings: dict[str, asyncio.Task[tuple[RoomEntry, WatchedTable] | None]] = {}
        self._removals: defaultdict[str, Timer] = defaultdict(Timer)
        self._loop = asyncio.get_running_loop()

    async def watch(self, table: str) -> tuple[RoomEntry, WatchedTable] | None:
        """Return the room and a table, and follow it for some time at least; None if there is no such table."""
        watched = self._tables.get(table)
        if watched is None or watched[1].feed.is_over:
            watched = await self._opened(table)
            if watched is None:
                return None
        self._remove_later(table)
        return watched

    def close(self) -> None:
        """End all streams."""
        for opening in self._openings.values():
            opening.cancel()
        for timer in self._removals.values():
            timer.cancel()
        for _, table in self._tables.values():
            table.close()
        self._tables.clear()

    async def _opened(self, table: str) -> tuple[RoomEntry, WatchedTable] | None:
        """Open a table, which all who ask for it meanwhile share."""
        opening = self._openings.get(table)
        if opening is None:
            opening = self._openings[table] = self._loop.create_task(self._open(table))
            opening.add_done_callback(lambda _: self._openings.pop(table))
        await asyncio.wait([opening])
        return None if opening.cancelled() else opening.result()

    async def _open(self, table: str) -> tuple[RoomEntry, WatchedTable] | None:
        for room in self._rooms:
            if (source := await room.open(table)) is not None:
                render = self._make_render(room.entry, table)
                watched = self._tables[table] = room.entry, WatchedTable(source, render, self._delay_seconds)
                return watched
        return None

    def _remove_later(self, table: str) -> None:
        """Stop following a table after a while, if nobody watches it then."""
        self._removals[table].set(IDLE_SECONDS, self._remove_idle, table)

    def _remove_idle(self, table: str) -> None:
        _, watched = self._tables[table]
        if watched.feed.subscriptions:
            self._remove_later(table)
        else:
            del self._tables[table], self._removals[table]
            watched.close()
