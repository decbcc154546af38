"""The views of a house on all nodes: its owner publishes every change, and the others repair what they have missed.

A node that misses a change, or meets a new owner, asks for all tables of the house and goes on from there.
"""

import asyncio
from asyncio import Future
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from msgspec.json import encode

from croupier.cluster.bus import Bus, BusUnavailable
from croupier.cluster.messages import VIEW_SUBJECT, MirroredTable, Position, Views, decode_views
from croupier.core.logger import Logger
from croupier.http.views import GameViewCache, ViewCache
from croupier.net.event_loop import resolve
from croupier.rooms.holdem.table.places import house_of
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.wire import Guid

MAX_PAGE_BYTES: Final = 400_000
"""A page of views is a message of the bus, which are at most 1 MiB long in NATS."""

REPAIR_SECONDS: Final = 0.2
"""Delay before views are asked for again."""

BEAT_SECONDS: Final = 0.5
"""The owner of a house repeats its position this often, so that the loss of its last change is noticed."""


class ViewPublisher:
    """Publishes the views of the houses that run here."""

    def __init__(self, bus: Bus, views: ViewCache, houses: int) -> None:
        self._bus = bus
        self._views = views
        self._houses = houses
        self._positions: dict[int, Position] = {}
        self._outbox: asyncio.Queue[Views] = asyncio.Queue()

    def start_house(self, house: int, term: int) -> None:
        """Publish a house from now on."""
        self._positions[house] = Position(term, 1)
        self._outbox.put_nowait(Views(house, self._positions[house], is_beat=True))

    def stop_house(self, house: int) -> None:
        """Publish a house no longer."""
        self._positions.pop(house, None)

    def position(self, house: int) -> Position:
        """Return the position of the last change of a house that runs here."""
        return self._positions.get(house, Position(0, 0))

    def publish(self, house: int, changes: Mapping[Guid, ShownTable | None]) -> None:
        """Publish what the tables of a house show from now on."""
        position = self._positions.get(house)
        if position is None:
            return
        self._positions[house] = position = Position(position.term, position.number + 1)
        tables = tuple(MirroredTable.of(shown) for shown in changes.values() if shown is not None)
        removed = tuple(guid for guid, shown in changes.items() if shown is None)
        self._outbox.put_nowait(Views(house, position, tables, removed))

    def page(self, house: int, after: int) -> Views:
        """Return as many tables of a house as fit into a message, after the one with a number."""
        tables: list[MirroredTable] = []
        length = 0
        for game in self._views.games.tables:
            if game.number > after and house_of(game.guid, self._houses) == house:
                table = MirroredTable.of(game.shown)
                length += len(encode(table))
                if tables and length > MAX_PAGE_BYTES:
                    return Views(house, self.position(house), tuple(tables), has_more=True)
                tables.append(table)
        return Views(house, self.position(house), tuple(tables))

    async def run(self) -> None:
        """Send what is published."""
        while True:
            views = await self._outbox.get()
            with suppress(BusUnavailable):  # the others notice the gap
                await self._bus.publish(f"{VIEW_SUBJECT}.{views.house}", encode(views))

    async def beat(self) -> None:
        """Publish the positions of the houses from time to time."""
        while True:
            for house, position in self._positions.items():
                self._outbox.put_nowait(Views(house, position, is_beat=True))
            await asyncio.sleep(BEAT_SECONDS)


class ViewMirror:
    """Shows the views of the houses of other nodes in `views`.

    `is_here` returns whether a house runs here, and `fetch` a page of the tables of a house from its owner.
    """

    def __init__(
        self,
        views: ViewCache,
        houses: int,
        log: Logger,
        *,
        is_here: Callable[[int], bool],
        fetch: Callable[[int, int], Awaitable[Views]],
    ) -> None:
        self._views = views
        self._houses = houses
        self._log = log
        self._is_here = is_here
        self._fetch = fetch
        self._positions: dict[int, Position] = {}
        self._missed: dict[int, list[Views]] = {}  # what has come while all tables are asked for
        self._repairs: dict[int, asyncio.Task[None]] = {}
        self._waiters: defaultdict[int, list[tuple[Position, Future[None]]]] = defaultdict(list)

    def on_message(self, subject: str, body: bytes) -> None:
        """Show changed views; those of a house that runs here, which come back to their owner, are not even decoded."""
        house = int(subject.rpartition(".")[2])
        if self._is_here(house):
            return
        views, known = decode_views(body), self._positions.get(house)
        if known is not None and views.position < known:
            return
        if house in self._repairs:
            self._missed[house].append(views)
        elif known is None:
            self._start_repair(house)
        elif _follows(views, known):
            self._show(views)
        elif views.position != known:
            self._start_repair(house)

    def forget_house(self, house: int) -> None:
        """Forget where the views of a house are, because it runs here now."""
        self._positions.pop(house, None)

    def is_known(self, house: int) -> bool:
        """Return whether the tables of a house are shown."""
        return self._is_here(house) or house in self._positions

    async def wait_for(self, house: int, position: Position, seconds: float) -> bool:
        """Wait until the views of a house are those at a position, or later ones; whether they are within some time."""
        if self._is_here(house) or self._positions.get(house, Position(0, 0)) >= position:
            return True
        waiter: Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[house].append((position, waiter))
        await asyncio.wait([waiter], timeout=seconds)
        return not waiter.cancel()

    def close(self) -> None:
        """Stop asking."""
        for task in self._repairs.values():
            task.cancel()

    def _show(self, views: Views) -> None:
        """Show changes that follow what is shown."""
        shown: dict[Guid, ShownTable | None] = {
            table.guid: table.shown
            for table in views.tables
            if (game := self._views.games.get(table.guid)) is None or game.version <= table.version
        }
        self._views.publish(shown | dict.fromkeys(views.removed))
        self._advance(views.house, views.position)

    def _advance(self, house: int, position: Position) -> None:
        self._positions[house] = position
        waiting = self._waiters.pop(house, [])
        for wanted, waiter in waiting:
            if wanted <= position:
                resolve(waiter)
            elif not waiter.done():
                self._waiters[house].append((wanted, waiter))

    def _start_repair(self, house: int) -> None:
        self._missed[house] = []
        task = self._repairs[house] = asyncio.get_running_loop().create_task(self._repair(house))
        task.add_done_callback(lambda _: self._repairs.pop(house, None))

    async def _repair(self, house: int) -> None:
        """Ask for all tables of a house, and apply what has come meanwhile."""
        while not self._is_here(house):
            try:
                base, tables = await self._fetch_all(house)
                if base < self._positions.get(house, base):
                    raise BusUnavailable("they are those of a former owner")
            except BusUnavailable as error:
                self._log.info("views of a house not available", house=house, reason=str(error))
                await asyncio.sleep(REPAIR_SECONDS)
                continue
            gone = [game.guid for game in self._games(house) if game.guid not in tables]
            changes: dict[Guid, ShownTable | None] = {**tables, **dict.fromkeys(gone)}
            self._views.publish(changes)
            self._advance(house, base)
            missed, self._missed[house] = self._missed[house], []
            for views in missed:
                if _follows(views, base):
                    self._show(views)
                    base = views.position
                elif views.position > base:
                    break
            else:
                return

    async def _fetch_all(self, house: int) -> tuple[Position, dict[Guid, ShownTable]]:
        """Return all tables of a house, and the position of the first page: later changes come as messages."""
        tables: dict[Guid, ShownTable] = {}
        page = await self._fetch(house, 0)
        base = page.position
        while True:
            tables |= {table.guid: table.shown for table in page.tables}
            if not page.has_more:
                return base, tables
            page = await self._fetch(house, page.tables[-1].number)
            if page.position.term != base.term:
                raise BusUnavailable("another owner")

    def _games(self, house: int) -> list[GameViewCache]:
        return [game for game in self._views.games.tables if house_of(game.guid, self._houses) == house]


def _follows(views: Views, position: Position) -> bool:
    """Whether these are the changes that follow a position."""
    return not views.is_beat and views.position == Position(position.term, position.number + 1)
