"""The tables of a house: their order, which have a free seat, and which users are at which tables."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Protocol

from croupier.rooms.holdem.wire import Guid

BY_NUMBER = attrgetter("number")


class RegisteredTable(Protocol):
    """What the register uses of a table. Numbers increase in the order of creation."""

    guid: Guid
    number: int

    @property
    def has_free_seat(self) -> bool: ...  # noqa: D102 -- see `table.Table`


class Register[T: RegisteredTable]:
    """All tables by the GUIDs of their games, in the order of their numbers.

    `get` returns the table of a game, or None if there is none. `free_tables` are those with a free seat, by game.
    """

    def __init__(self) -> None:
        self._tables: dict[Guid, T] = {}
        self._ordered: list[T] = []  # the same, by number
        self.free_tables: dict[Guid, T] = {}
        self._users: defaultdict[str, set[Guid]] = defaultdict(set)
        self.get = self._tables.get  # bound directly, because every request calls it

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def tables(self) -> Sequence[T]:
        """All tables."""
        return tuple(self._ordered)

    def add(self, table: T) -> None:
        """Add a new table."""
        self._tables[table.guid] = table
        insort(self._ordered, table, key=BY_NUMBER)
        self._update_free(table.guid)

    def remove(self, table: T) -> None:
        """Remove a table."""
        del self._tables[table.guid]
        del self._ordered[bisect_left(self._ordered, table.number, key=BY_NUMBER)]
        self.free_tables.pop(table.guid, None)

    def clear(self) -> None:
        """Remove all tables and their users."""
        self._tables.clear()
        self._ordered.clear()
        self.free_tables.clear()
        self._users.clear()

    # Free seats

    def _update_free(self, game: Guid) -> None:
        table = self._tables.get(game)
        if table is not None and table.has_free_seat:
            self.free_tables[game] = table
        else:
            self.free_tables.pop(game, None)

    def has_free_table_besides(self, table: T) -> bool:
        """Return whether another table has a free seat."""
        return len(self.free_tables) > (table.guid in self.free_tables)

    # Users

    def user_joined(self, user: str, game: Guid) -> None:
        """Note that a user has joined a game."""
        self._users[user].add(game)
        self._update_free(game)

    def user_left(self, user: str, game: Guid) -> None:
        """Note that a user has left a game."""
        games = self._users[user]
        games.discard(game)
        if not games:
            del self._users[user]
        self._update_free(game)

    @property
    def users(self) -> Sequence[str]:
        """All users who are in a game."""
        return tuple(self._users)

    def count_games(self, user: str) -> int:
        """Return the number of games that a user is in."""
        return len(self._users.get(user, ()))

    def tables_of(self, user: str) -> list[T]:
        """Return the tables of the games that a user is in, in the order of their creation."""
        return sorted((self._tables[guid] for guid in self._users.get(user, ())), key=BY_NUMBER)

    # Lists

    def list_tables(self, user: str | None, limit: int) -> list[T]:
        """Return at most `limit` tables: first those of a user, then those with a free seat, then others."""
        own = () if user is None else self.tables_of(user)
        others = (table for table in self._ordered if table.guid not in self.free_tables)
        chosen: dict[Guid, T] = {}
        for table in chain(own, self.free_tables.values(), others):  # lazily: there may be thousands
            if len(chosen) == limit:
                break
            chosen[table.guid] = table
        return [*chosen.values()]

    def tables_after(self, number: int, limit: int) -> tuple[list[T], bool]:
        """Return at most `limit` tables created after the one with a number, and whether there are more of them."""
        first = bisect_right(self._ordered, number, key=BY_NUMBER)
        return self._ordered[first : first + limit], first + limit < len(self._ordered)
