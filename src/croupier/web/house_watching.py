"""Games against a house as everybody may see them: the table of each client, without cards that are not shown."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from croupier.core.hall import Hall
from croupier.core.house_presenter import BETWEEN_GAMES
from croupier.core.presentation import Announcements, TableView, text
from croupier.core.private_table import PrivateTable
from croupier.core.room import HouseRoom
from croupier.core.session import Effect, Event, Peer, Settle
from croupier.net.endpoint import Endpoint
from croupier.replay.house_games import describe_move, house_result, public_table
from croupier.web.rooms import RoomEntry, room_title
from croupier.web.watching import TABLE_GONE, PublicTable, observing

MAX_LISTED: Final = 10
"""Of each house, the list of public tables has those of the newest clients. The others can be watched as well."""

MAX_DIGITS: Final = 18
"""Of the number of a client."""


class PublicHouse:
    """The tables of a house that can be watched; see `WatchableRoom`. Their ids have the numbers of the clients."""

    def __init__(self, entry: RoomEntry, room: HouseRoom, endpoint: Endpoint, hall: Hall[Any, Any]) -> None:
        self.entry = entry
        self._room = room
        self._endpoint = endpoint
        self._hall = hall

    def public_tables(self) -> Sequence[PublicTable]:
        """Return the tables of the newest clients."""
        title = room_title(self._room)
        return [
            PublicTable(self._id(peer), self._room.name, title, (), text("client {number}", number=peer), can_sit=False)
            for peer in islice(reversed(self._hall.peers), MAX_LISTED)
        ]

    def open(self, table: str) -> "HouseSource | None":
        """See `WatchableRoom`."""
        number = table.removeprefix(self._id(""))
        if not (number.isascii() and number.isdecimal() and len(number) <= MAX_DIGITS):
            return None
        peer = int(number)
        if peer not in self._hall or self._id(peer) != table:
            return None
        return HouseSource(self._room, self._endpoint, self._hall, peer)

    def _id(self, peer: Peer | str) -> str:
        return f"{self._room.name}-{peer}"


class ShownGame(Struct, frozen=True):
    """The latest game at a table; see `HouseGame`. `net` is what the client has won, None while it runs."""

    room: str
    number: int
    cards: tuple[str, ...]
    done: tuple[str, ...]
    seat: int
    net: int | None


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
        self._shown: ShownGame | None = None
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

    def _latest_game(self) -> ShownGame | None:
        """Return the running game, or else the last one that has ended since the table is watched, if any."""
        table = self._hall.table(self._peer) if self._peer in self._hall else None
        if isinstance(table, PrivateTable) and (running := table.running_game) is not None:
            return self._game(*running, self._finished_count + 1, None)
        if (finished := self._finished) is not None:
            return self._game(finished.state, finished.seat, self._finished_count, finished.net)
        return None

    def _game(self, state: Any, seat: int, number: int, net: int | None) -> ShownGame:
        room = self._room
        return ShownGame(room.name, number, (*room.dealt_cards(state),), (*room.commands(state),), seat, net)

    def _announce(self, game: ShownGame) -> None:
        """Announce the moves of a game that are new, and its result."""
        before = self._shown if self._shown is not None and self._shown.number == game.number else None
        seen = () if before is None else before.done
        for number, move in enumerate(game.done, start=1):
            if seen[number - 1 : number] != (move,):
                self._announcements.add(describe_move(game, number))
        if game.net is not None and (before is None or before.net is None):
            self._announcements.add(house_result(game.net))
        self._shown = game
