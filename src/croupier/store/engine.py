"""The interface of the database engines, SQLite and PostgreSQL.

All writes are scripts: generators that yield statements one by one and are sent the resulting rows. A script is
independent of the engine. Parameters are written $1, $2, ….
"""

from asyncio import Future
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from croupier.core.histogram import Histogram
from croupier.store.records import JournalEntry, NameTaken, StoredHand

type Query = tuple[str, Sequence[object]]
"""SQL and its arguments."""

type Rows = Sequence[Sequence[Any]]


class Insert(Struct, frozen=True, gc=False):
    """Rows to be inserted, all or none: for each table at least one, with all columns in the order of the schema."""

    rows: Mapping[str, Rows]


type StatementGenerator[T] = Generator[Query | Insert, Rows, T]
"""A script. It raises WriteRefused if the write is not allowed. The exception of a statement is raised where the script
has yielded it."""

FETCH_ROWS: Final = 1000
"""The number of rows fetched at a time from a cursor."""

WRITE_PULSE_SQL: Final = (
    "INSERT INTO pulse (id, time) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET time = excluded.time"
)
"""A minimal write, to test whether the store is writable."""


class Facts(Struct, frozen=True, gc=False):
    """Facts for the journal, and the hands that they end, written atomically. `weight` is the number of rows."""

    rows: Sequence[JournalEntry]
    weight: int
    hands: Sequence[StoredHand] = ()


class Script(Struct, frozen=True):
    """Any other write. `make_statements` is called again if another write of the batch made the transaction fail.

    It runs in a transaction with the rest of its batch.
    """

    make_statements: Callable[[], StatementGenerator[object]]
    weight: int = 1


type Write = Facts | Script


def name_taken_error(name: str, store_name: str) -> NameTaken:
    """The error of a second process that claims a name."""
    return NameTaken(f"found another server that has {name} open in {store_name}; allowed: one at a time in each store")


class ReadTransaction(Protocol):
    """A read-only transaction that sees a consistent snapshot of the store."""

    def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """The rows of a query, in portions. Raises StoreUnavailable."""
        ...


class Engine(Protocol):
    """A database. All methods raise StoreUnavailable if the database cannot be reached.

    None blocks the event loop, except `commit_at_once`.
    """

    @property
    def commit_times(self) -> Mapping[str, Histogram]:
        """How long commits took, by the place where they were made: loop, thread, server."""
        ...

    def commit_at_once(self, write: Facts) -> bool:
        """Commit facts on the event loop, if that is known to be faster than `commit`; whether they are committed.

        Nothing is written if it is slower, or if the facts are refused. Raises as `commit` does.
        """
        ...

    def commit(self, writes: Sequence[Write]) -> Future[Sequence[object]]:
        """Start to write a batch durably in one transaction.

        The future has for each write the result of its script (None for facts), or the exception with which it failed.
        It raises StoreUnavailable if nothing was written, or if the outcome is unknown.
        """
        ...

    async def reconnect(self) -> None:
        """Reconnect, and check that the store is writable. Raises StoreUnavailable."""
        ...

    async def check_connection(self) -> None:
        """Check, without writing, that the database is still there. Raises StoreUnavailable."""
        ...

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """All rows of a query. Raises StoreUnavailable."""
        ...

    def read_transaction(self) -> AbstractAsyncContextManager[ReadTransaction]:
        """Open a snapshot of the current state. Raises StoreUnavailable."""
        ...

    async def claim(self, name: str, *, shared: bool) -> None:
        """Claim a name until `close` or the end of the process, alone or with others who share it.

        Raises NameTaken.
        """
        ...

    def accounts_version(self) -> int | None:
        """A number that changes with every announcement by any process; None while announcements could be missed."""
        ...

    async def watch_accounts(self) -> None:
        """Start tracking announcements for `accounts_version`. Raises StoreError."""
        ...

    async def announce_accounts(self) -> None:
        """Announce a change of accounts, and return after all watching processes have noticed. Raises StoreError."""
        ...

    async def find_faults(self) -> list[str]:
        """Problems of the database itself, such as a corrupt file or unsafe settings."""
        ...

    async def backup(self, path: Path) -> None:
        """Copy the store to a new SQLite file. Raises StoreUnavailable, and OSError for the new file."""
        ...

    async def close(self) -> None:
        """Close all connections and release all claims."""
        ...
