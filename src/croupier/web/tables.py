"""The tables at which browsers sit: who may see them, and how long their seats are kept."""

import secrets
from typing import Final

from croupier.core.presentation import Text
from croupier.net.timer import Timer
from croupier.web.config import WebConfig
from croupier.web.render import TablePage
from croupier.web.seats import Seat

TABLE_ID_BYTES: Final = 9


class TooManySeats(Exception):
    """The session has the maximum number of seats."""


class SeatedTable:
    """A table with a seat of a session. Only that session can see it."""

    def __init__(self, session: str, page: TablePage, seat: Seat) -> None:
        self.session = session
        self.page = page
        self.seat = seat
        self.removal = Timer()


class Tables:
    """All tables at which browsers sit, by session and id.

    A table is removed `reconnect_seconds` after the last stream of its seat has ended, or after its games have. Without
    a stream, as in browsers without JavaScript, the time limits of the room decide.
    """

    def __init__(self, config: WebConfig) -> None:
        self.is_halted = False
        self._config = config
        self._tables: dict[tuple[str, str], SeatedTable] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def has_seats(self, session: str) -> bool:
        """Whether a session has any seats."""
        return any(table.session == session for table in self._tables.values())

    def of_session(self, session: str) -> list[SeatedTable]:
        """Return the tables of a session whose games can go on, the oldest first."""
        tables = [table for table in self._tables.values() if table.session == session]
        return [table for table in tables if not table.seat.is_over]

    def check_free(self, session: str) -> None:
        """Raise TooManySeats if a session can take no more seats."""
        if len(self.of_session(session)) >= self._config.max_seats:
            raise TooManySeats

    def add(self, table: SeatedTable) -> SeatedTable:
        """Add a table, and return it."""
        key = table.session, table.page.id
        if (former := self._tables.get(key)) is not None:
            self.keep(former)
        self._tables[key] = table
        table.seat.on_over = lambda: self._remove_later(table)
        return table

    def find(self, table_id: str, session: str) -> SeatedTable | None:
        """Return the table of a session with this id, None if the session has no such table."""
        return self._tables.get((session, table_id))

    def move(self, former: str, session: str, csrf: str) -> None:
        """Give the tables of a session to another one, whose forms have the token `csrf`."""
        for table in [table for table in self._tables.values() if table.session == former]:
            del self._tables[former, table.page.id]
            table.session, table.page.csrf = session, csrf
            table.seat.feed.forget_rendered()
            self.add(table)

    def keep(self, table: SeatedTable) -> None:
        """Keep the seat of a table: a stream has begun."""
        table.removal.cancel()

    def release(self, table: SeatedTable) -> None:
        """Begin to wait for a reconnect if the last stream of a table has ended."""
        if not table.seat.feed.subscriptions:
            self._remove_later(table)

    def give_up(self, table: SeatedTable) -> None:
        """Leave a table, but keep a seat that another session has, too: that of an account in two browsers."""
        shared = table.seat.shared_id
        others = (each.seat for each in self._tables.values() if each is not table)
        if shared is not None and any(seat.shared_id == shared for seat in others):
            table.seat.detach()
        else:
            table.seat.leave()

    def halt(self, reason: Text) -> None:
        """Take no more seats, and end the others with this reason when their rooms close them."""
        self.is_halted = True
        for table in self._tables.values():
            table.seat.close_reason = reason

    def close(self) -> None:
        """Leave all tables now."""
        for table in self._tables.values():
            table.seat.close(table.seat.close_reason)
            self.keep(table)

    def _remove_later(self, table: SeatedTable) -> None:
        table.removal.set(self._config.reconnect_seconds, self._remove, table)

    def _remove(self, table: SeatedTable) -> None:
        self.give_up(table)
        key = table.session, table.page.id
        if self._tables.get(key) is table:  # the person may have sat down there again
            del self._tables[key]


def new_table_id() -> str:
    """Return an id that nobody can guess."""
    return secrets.token_urlsafe(TABLE_ID_BYTES)
