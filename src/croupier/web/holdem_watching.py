"""Tables of hold'em as everybody may see them, when what has happened is durable."""

import time
from collections.abc import AsyncGenerator, Sequence

from croupier.core.presentation import TableView, counted, text
from croupier.http.house_group import HouseGroup
from croupier.http.views import GameViewCache
from croupier.rooms.holdem.presenter import HoldemPresenter
from croupier.rooms.holdem.wire import Guid
from croupier.web.holdem_games import follow_game, with_absent_people
from croupier.web.rooms import RoomEntry, room_title
from croupier.web.seats import SERVER_CLOSING
from croupier.web.watching import TABLE_GONE, PublicTable


class PublicHoldem:
    """The tables of hold'em that can be watched; see `WatchableRoom`. Their ids are those of their games."""

    def __init__(self, entry: RoomEntry, service: HouseGroup) -> None:
        self.entry = entry
        self._service = service

    def public_tables(self) -> Sequence[PublicTable]:
        """Return the tables that have players, those with most players first."""
        games = [game for game in self._service.views.games_for(None) if game.shown.guids]
        games.sort(key=lambda game: (-len(game.shown.guids), game.number))
        return [self._public_table(game) for game in games]

    async def open(self, table: str) -> "HoldemSource | None":
        """See `WatchableRoom`."""
        found = self._service.views.games.get(table)
        return None if found is None else HoldemSource(self._service, found)

    def _public_table(self, game: GameViewCache) -> PublicTable:
        shown = game.shown
        return PublicTable(
            game.guid,
            self.entry.room.name,
            room_title(self.entry.room),
            [*shown.guids],
            text("hand {number}", number=shown.finished_count + 1)
            if shown.is_playing
            else counted("{count} seat", "{count} seats", shown.chairs),
            can_sit=game.has_free_seat,
        )


class HoldemSource:
    """A table of hold'em as everybody may see it; see `TableSource`."""

    title = HoldemPresenter.title

    def __init__(self, service: HouseGroup, game: GameViewCache) -> None:
        self._service = service
        self._game: Guid = game.guid
        self._presenter = HoldemPresenter()
        self._presenter.received(game.shown.public)

    async def changes(self) -> AsyncGenerator[None]:
        """See `TableSource`."""
        async for game in follow_game(self._service, self._game):
            self._presenter.received(game.shown.public)
            yield
        self._presenter.ended(SERVER_CLOSING if self._service.closing else TABLE_GONE)

    def view(self) -> TableView:
        """See `TableSource`."""
        return with_absent_people(self._presenter.table(time.time()), self._service.views.games.get(self._game))
