"""Games of Old Maid as everybody may see them: what their table knows, without the names of cards."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from msgspec.structs import replace

from croupier.core.presentation import Announcements, SeatView, TableView, counted, text, verbatim
from croupier.core.rules import Seat
from croupier.net.endpoint import Endpoint
from croupier.replay.games import WITHDRAWALS, OldMaidGame, oldmaid_result
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.presenter import OldMaidPresenter
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import ActionKind
from croupier.web.rooms import OldMaidGames, RoomEntry, room_title
from croupier.web.watching import PublicTable, observing


class PublicOldMaid:
    """The games of Old Maid that can be watched; see `WatchableRoom`. Their ids have the numbers of the games."""

    def __init__(self, entry: RoomEntry, endpoint: Endpoint) -> None:
        self.entry = entry
        self._endpoint = endpoint

    def public_tables(self) -> Sequence[PublicTable]:
        """Return the running games."""
        name, title = self.entry.room.name, room_title(self.entry.room)
        return [PublicTable(self._id(game), name, title, game.nicks, None, can_sit=False) for game in self._games]

    async def open(self, table: str) -> "OldMaidSource | None":
        """See `WatchableRoom`."""
        found = next((game for game in self._games if self._id(game) == table), None)
        return None if found is None else OldMaidSource(self._endpoint, found)

    @property
    def _games(self) -> Sequence[TableGame]:
        """The games of the session that the endpoint has now: in a cluster the table moves."""
        session = self._endpoint.session
        return session.games if isinstance(session, OldMaidGames) else []

    def _id(self, game: TableGame) -> str:
        return f"{self.entry.room.name}-{game.number}"


class OldMaidSource:
    """A game of Old Maid as everybody may see it; see `TableSource`."""

    title = OldMaidPresenter.title

    def __init__(self, endpoint: Endpoint, game: TableGame) -> None:
        self._endpoint = endpoint
        self._game = game
        self._shown = OldMaidGame(game.nicks)
        self._announcements = Announcements()
        self._seen_count = 0

    async def changes(self) -> AsyncGenerator[None]:
        """See `TableSource`."""
        news = asyncio.Event()
        with observing(self._endpoint, lambda *_: news.set()):
            while not self._game.is_over:
                news.clear()
                yield
                await news.wait()

    def view(self) -> TableView:
        """See `TableSource`."""
        game = self._game
        for action, seat, *_ in game.log[self._seen_count :]:
            self._follow(action, seat)
        self._seen_count = len(game.log)
        table = self._shown.table
        seats, status = table.seats, table.status
        if game.is_over:
            status = oldmaid_result(game.nicks[game.ranking[-1]] if game.ranking else None)
        elif game.drawn_count < CARD_COUNT:
            seats = tuple(map(self._dealt_seat, range(len(seats)), seats))
        else:
            status = text("All cards are dealt: the players pick from the hands of each other.")
        return replace(table, seats=seats, status=status, announcements=self._announcements.texts, is_over=game.is_over)

    def _follow(self, action: ActionKind, seat: Seat) -> None:
        """Note an action of a seat. What is drawn and laid down is not shown: players do not tell it each other."""
        self._shown.follow(action, seat)
        if action != "drew":
            news = text("{name} lays down a pair.") if action == "threw" else WITHDRAWALS[action]
            self._announcements.add(news.fill(name=verbatim(self._game.nicks[seat])))

    def _dealt_seat(self, number: int, seat: SeatView) -> SeatView:
        """Return a seat during the deal, in which the table knows how many cards it has."""
        pairs = self._shown.pair_counts[number]
        caption = counted(
            "{count} card, pairs laid down: {pairs}",
            "{count} cards, pairs laid down: {pairs}",
            self._shown.drawn_counts[number] - 2 * pairs,
            pairs=pairs,
        )
        is_next = number == self._game.drawer and not seat.status
        return replace(seat, caption=caption, status="to act" if is_next else seat.status)
