"""Games against a house as everybody may see them: the table of each client, without cards that are not shown."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple, Self

from msgspec.structs import replace

from croupier.core.hall import Hall
from croupier.core.house_presenter import BETWEEN_GAMES
from croupier.core.presentation import Announcements, TableView, Text, text
from croupier.core.private_table import PrivateTable
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Effect, Event, Peer, Settle
from croupier.net.endpoint import Endpoint
from croupier.observers.counters import RoomFigures
from croupier.replay.house_games import WatchedGame, describe_move, house_result, public_table
from croupier.web.rooms import RoomEntry, room_title
from croupier.web.watching import TABLE_GONE, PublicTable, TableSource, follow_views, observing

MAX_LISTED: Final = 10
"""Of each house, the list of public tables has those of the newest clients. The others can be watched as well."""

MAX_DIGITS: Final = 18
"""Of the number of a client."""

NODE_SILENT: Final = text("The server of this table does not answer. Waiting for it.")
NODE_GONE: Final = text("The server of this table does not answer any more.")


class WatchedHouse(NamedTuple):
    """A house of this server whose tables can be watched."""

    room: HouseRoom
    endpoint: Endpoint
    hall: Hall[Any, Any]

    @classmethod
    def of(cls, room: Room, open_room: RoomFigures | None) -> Self | None:
        """Return a room that is open as a house, None if it is none."""
        if isinstance(room, HouseRoom) and isinstance(open_room, Endpoint) and isinstance(open_room.session, Hall):
            return cls(room, open_room, open_room.session)
        return None

    @property
    def newest_clients(self) -> Sequence[Peer]:
        """The numbers of the newest clients, the newest first: as many as are listed."""
        return [*islice(reversed(self.hall.peers), MAX_LISTED)]

    def source(self, peer: Peer) -> "HouseSource | None":
        """Return the table of a client, None if there is no such client."""
        return HouseSource(*self, peer) if peer in self.hall else None


class WatchedHouses:
    """The houses of a node that other nodes can watch: those of the `rooms` that are open."""

    def __init__(self, rooms: Sequence[Room], open_rooms: Mapping[str, RoomFigures]) -> None:
        self._rooms = {room.name: room for room in rooms}
        self._open_rooms = open_rooms

    def newest_clients(self) -> Mapping[str, Sequence[Peer]]:
        """Return the numbers of the newest clients of each house."""
        houses = {name: self._house(name) for name in self._open_rooms}
        return {name: house.newest_clients for name, house in houses.items() if house is not None}

    def follow(self, room: str, peer: Peer) -> AsyncGenerator[TableView] | None:
        """Return the views of the table of a client of a house, None if there is no such table."""
        house = self._house(room)
        source = None if house is None else house.source(peer)
        return None if source is None else follow_views(source)

    def _house(self, name: str) -> WatchedHouse | None:
        return WatchedHouse.of(self._rooms[name], self._open_rooms.get(name)) if name in self._rooms else None


class PublicHouse:
    """The tables of a house that can be watched; see `WatchableRoom`. Their ids have the numbers of the clients.

    In a cluster they also have the tags of the nodes where the tables are.
    """

    def __init__(self, entry: RoomEntry, house: WatchedHouse) -> None:
        self.entry = entry
        self._house = house
        self._room = house.room

    def public_tables(self) -> Sequence[PublicTable]:
        """Return the tables of the newest clients: one of each node in turn."""
        name, title = self._room.name, room_title(self._room)
        ids = chain.from_iterable(zip_longest(*self._ids_of_nodes()))
        return [
            PublicTable(table, name, title, (), text("client {number}", number=peer), can_sit=False)
            for table, peer in islice(filter(None, ids), MAX_LISTED)
        ]

    async def open(self, table: str) -> TableSource | None:
        """See `WatchableRoom`."""
        number, _, tag = table.removeprefix(f"{self._room.name}-").partition("-")
        if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
            return None
        peer, elsewhere = int(number), self.entry.elsewhere
        if self._id(peer, tag) != table:
            return None
        if elsewhere is not None and tag not in {"", elsewhere.own_tag}:
            return await RemoteSource.open(room_title(self._room), elsewhere.views(tag, peer))
        return None if tag and elsewhere is None else self._house.source(peer)

    def _ids_of_nodes(self) -> Iterator[Sequence[tuple[str, Peer]]]:
        """Yield the ids and the numbers of the newest clients of each node, this one first."""
        elsewhere = self.entry.elsewhere
        own_tag = "" if elsewhere is None else elsewhere.own_tag
        yield [(self._id(peer, own_tag), peer) for peer in self._house.newest_clients]
        if elsewhere is not None:
            for tag, peers in elsewhere.newest_clients.items():
                yield [(self._id(peer, tag), peer) for peer in peers]

    def _id(self, peer: Peer, tag: str) -> str:
        return "-".join(filter(None, (self._room.name, str(peer), tag)))


class HouseSource:
    """The table of a client as everybody may see it; see `TableSource`.

    It observes the house only while the table is watched, so that other games cost no more. Between two views a program
    may play many games; the newest one is shown.
    """

    def __init__(self, room: HouseRoom, endpoint: Endpoint, hall: Hall[Any, Any], peer: Peer) -> None:
        self.title = room_title(room)
        self._room = room
        self._endpoint = endpoint
        self._hall = hall
        self._peer = peer
        self._news = asyncio.Event()
        self._finished: Settle | None = None
        self._finished_count = 0
        self._shown: WatchedGame | None = None
        self._announcements = Announcements()

    async def changes(self) -> AsyncGenerator[None]:
        """See `TableSource`."""
        with observing(self._endpoint, self._observe):
            while self._peer in self._hall:
                self._news.clear()
                yield
                await self._news.wait()

    def view(self) -> TableView:
        """See `TableSource`."""
        game = self._latest_game()
        if game is None:
            view = TableView(title=self.title, seats=(), status=BETWEEN_GAMES)
        else:
            self._announce(game)
            view = public_table(game, is_over=game.net is not None)
            if game.net is not None:
                view = replace(view, status=BETWEEN_GAMES)
            view = replace(view, announcements=self._announcements.texts)
        if self._peer not in self._hall:
            view = replace(view, status=TABLE_GONE, is_over=True)
        return view

    def _observe(self, event: Event[object], effects: Sequence[Effect[object]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Keep the last finished game of the client, whose state the house forgets."""
        if getattr(event, "peer", self._peer) != self._peer:
            return
        for effect in effects:
            if type(effect) is Settle and effect.peer == self._peer:
                self._finished = effect
                self._finished_count += 1
        self._news.set()

    def _latest_game(self) -> WatchedGame | None:
        """Return the running game, or else the last one that has ended since the table is watched, if any."""
        table = self._hall.table(self._peer) if self._peer in self._hall else None
        if isinstance(table, PrivateTable) and (running := table.running_game) is not None:
            return self._game(*running, self._finished_count + 1, None)
        if (finished := self._finished) is not None:
            return self._game(finished.state, finished.seat, self._finished_count, finished.net)
        return None

    def _game(self, state: Any, seat: int, number: int, net: int | None) -> WatchedGame:
        room = self._room
        return WatchedGame(room.name, number, (*room.dealt_cards(state),), (*room.commands(state),), seat, net)

    def _announce(self, game: WatchedGame) -> None:
        """Announce the moves of a game that are new, and its result."""
        before = self._shown if self._shown is not None and self._shown.number == game.number else None
        seen = () if before is None else before.done
        for number, move in enumerate(game.done, start=1):
            if seen[number - 1 : number] != (move,):
                self._announcements.add(describe_move(game, number))
        if game.net is not None and (before is None or before.net is None):
            self._announcements.add(house_result(game.net))
        self._shown = game


class RemoteSource:
    """The table of a client of another node, whose `views` are those of a `HouseSource` there; see `TableSource`."""

    def __init__(self, title: Text, views: AsyncGenerator[TableView | None]) -> None:
        self.title = title
        self._views = views
        self._view = TableView(title=title, seats=())
        self._is_silent = False
        self._is_over = False

    @classmethod
    async def open(cls, title: Text, views: AsyncGenerator[TableView | None]) -> Self | None:
        """Return the source of a table with its first view, None if there is no such table."""
        source = cls(title, views)
        async for view in views:
            source._follow(view)
            return source
        return None

    async def changes(self) -> AsyncGenerator[None]:
        """See `TableSource`."""
        async with aclosing(self._views):
            yield
            async for view in self._views:
                self._follow(view)
                yield
        self._is_over = True

    def view(self) -> TableView:
        """See `TableSource`."""
        if self._is_over and not self._view.is_over:
            return self._without_turn(NODE_GONE if self._is_silent else TABLE_GONE, is_over=True)
        return self._without_turn(NODE_SILENT, is_over=False) if self._is_silent else self._view

    def _follow(self, view: TableView | None) -> None:
        """Take a view of the node, None if it does not answer."""
        self._is_silent = view is None
        if view is not None:
            announcements = _with_known(self._view.announcements, view.announcements)
            self._view = replace(view, announcements=announcements)

    def _without_turn(self, status: Text, *, is_over: bool) -> TableView:
        """Return the last view with a status; nobody is shown as the next to act."""
        seats = tuple(replace(seat, status="") for seat in self._view.seats)
        return replace(self._view, seats=seats, status=status, is_over=is_over)


def _with_known(known: Sequence[Text], announcements: Sequence[Text]) -> tuple[Text, ...]:
    """Return announcements of which those at the end of the known ones are the same objects; see `new_items`.

    >>> before = [text("A"), text("B")]
    >>> [each in before and any(each is one for one in before) for each in _with_known(before, [text("B"), text("A")])]
    [True, False]
    """
    for first in range(len(known)):
        kept = known[first:]
        if [*kept] == [*announcements[: len(kept)]]:
            return (*kept, *announcements[len(kept) :])
    return tuple(announcements)
