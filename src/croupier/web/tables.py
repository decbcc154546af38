"""The tables at which browsers sit: who may see them, and how long their seats are kept."""

import asyncio
import secrets
from typing import Final

from croupier.core.presentation import Text
from croupier.web.config import WebConfig
from croupier.web.feed import BrowserStreams, Subscription
from croupier.web.render import TablePage
from croupier.web.seats import LEFT, Seat

TABLE_ID_BYTES: Final = 9


class TooManySeats(Exception):
    """The session has the maximum number of seats."""


class SeatedTable:
    """A table with a seat of a session. Only that session can see it."""

    def __init__(self, session: str, page: TablePage, seat: Seat) -> None:
        self.session = session
        self.page = page
        self.seat = seat
        self.removal: asyncio.TimerHandle | None = None


class Tables:
    """All tables at which browsers sit, by id.

    A table is removed `reconnect_seconds` after the last stream of its seat has ended, or after its games have. Without
    a stream, as in browsers without JavaScript, the time limits of the room decide.
    """

    def __init__(self, config: WebConfig) -> None:
        self.is_halted = False
        self._config = config
        self._tables: dict[str, SeatedTable] = {}
        self._sessions: dict[str, set[str]] = {}
        self._streams = BrowserStreams(config.max_browser_streams)

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def stream_count(self) -> int:
        """The number of open streams."""
        return self._streams.total

    def has_seats(self, session: str) -> bool:
        """Whether a session has any seats."""
        return session in self._sessions

    def of_session(self, session: str) -> list[SeatedTable]:
        """Return the tables of a session whose games can go on, the oldest first."""
        tables = [table for table in self._tables.values() if table.session == session]
        return [table for table in tables if not table.seat.is_over]

    def check_free(self, session: str) -> None:
        """Raise TooManySeats if a session can take no more seats."""
        if len(self.of_session(session)) >= self._config.max_seats:
            raise TooManySeats

    def add(self, table: SeatedTable) -> None:
        """Add a table."""
        self._tables[table.page.id] = table
        self._sessions.setdefault(table.session, set()).add(table.page.id)
        table.seat.on_over = lambda: self._remove_later(table)

    def find(self, table_id: str, session: str) -> SeatedTable | None:
        """Return the table of a session with this id, None if the session has no such table."""
        table = self._tables.get(table_id)
        return table if table is not None and table.session == session else None

    def subscribe(self, table: SeatedTable, locale: str, since: str) -> Subscription:
        """Begin a stream of a table; its seat is kept while it runs."""
        subscription = table.seat.feed.subscribe(locale, since)
        self._streams.add(table.session, subscription)
        self._keep(table)
        return subscription

    def unsubscribe(self, table: SeatedTable, subscription: Subscription) -> None:
        """End a stream of a table."""
        table.seat.feed.unsubscribe(subscription)
        self._streams.remove(table.session, subscription)
        if not table.seat.feed.subscriptions:
            self._remove_later(table)

    def halt(self, reason: Text) -> None:
        """Take no more seats, and end the others with this reason when their rooms close them."""
        self.is_halted = True
        for table in self._tables.values():
            table.seat.close_reason = reason

    def close(self) -> None:
        """Leave all tables now."""
        for table in self._tables.values():
            table.seat.leave(table.seat.close_reason)
            self._keep(table)

    def _keep(self, table: SeatedTable) -> None:
        if table.removal is not None:
            table.removal.cancel()
            table.removal = None

    def _remove_later(self, table: SeatedTable) -> None:
        self._keep(table)
        loop = asyncio.get_running_loop()
        table.removal = loop.call_later(self._config.reconnect_seconds, self._remove, table)

    def _remove(self, table: SeatedTable) -> None:
        table.seat.leave(LEFT)
        if self._tables.pop(table.page.id, None) is not None:
            seats = self._sessions[table.session]
            seats.discard(table.page.id)
            if not seats:
                del self._sessions[table.session]


def new_table_id() -> str:
    """Return an id that nobody can guess."""
    return secrets.token_urlsafe(TABLE_ID_BYTES)
