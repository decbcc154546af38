"""What keeps the books: SQLite or PostgreSQL, to which the store says everything in the same words.

Whatever is not the journal is a script: a generator that asks in SQL, one question after another, and is sent the rows
that were found. It stands for one transaction, and knows neither engine. Arguments are written $1, $2 …
"""

from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from croupier.store.records import StoredHand, StoreError, WriteRefused

type Query = tuple[str, tuple[object, ...]]
"""SQL and its arguments."""

type Rows = Sequence[Sequence[Any]]

type StatementGenerator[T] = Generator[Query, Rows, T]
"""It raises Refused when what it is to write is not allowed."""

type FactRow = tuple[str, str, int, str, float]
"""Room, table, number, the fact as text, and its time."""

WRITE_PULSE_SQL = "INSERT INTO pulse (id, time) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET time = excluded.time"
"""The smallest thing that can be written."""


class Facts(Struct, frozen=True, gc=False):
    """Facts for the journal, and the hands that they have ended: all or none of them. `weight` is how many they are."""

    rows: Sequence[FactRow]
    weight: int
    hands: Sequence[StoredHand] = ()


class Script(Struct, frozen=True):
    """Anything else that is to be written. `script` makes it anew when a neighbour has spoilt the transaction."""

    make_statements: Callable[[], StatementGenerator[object]]
    weight: int = 1


type Write = Facts | Script


def name_taken_error(name: str, store_name: str) -> StoreError:
    """What is said to the second one who claims a name."""
    return StoreError(
        f"found another server that has {name} open in {store_name}; allowed: one at a time in each store"
    )


def refusal_error(write: Write, reason: str) -> WriteRefused:
    """What to tell who wanted this, when the engine has said why it cannot be."""
    if isinstance(write, Script):
        return WriteRefused(reason)
    room, table, seq, _, _ = write.rows[0]
    return WriteRefused(f"found facts of {room} {table} from {seq} on ({reason}); allowed: those that follow its last")


class ReadTransaction(Protocol):
    """The books as they are at one moment, whatever is written meanwhile."""

    def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """All that is found, some rows at a time. Raises StoreDown."""
        ...


class Engine(Protocol):
    """Writes and reads without ever blocking the event loop."""

    async def commit(self, writes: Sequence[Write]) -> Sequence[object]:
        """Write them durably in one transaction: what each script has returned, or the exception it failed with.

        Raises StoreDown: nothing of it is written, or nobody knows.
        """
        ...

    async def reconnect(self) -> None:
        """Connect anew, and see that something can be written. Raises StoreDown."""
        ...

    async def check_connection(self) -> None:
        """See whether what was written is still there, without writing anything. Raises StoreDown."""
        ...

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """All that is found. Raises StoreDown."""
        ...

    def read_transaction(self) -> AbstractAsyncContextManager[ReadTransaction]:
        """Look at the books as they are now. Raises StoreDown."""
        ...

    async def claim(self, name: str) -> None:
        """Be the only process that has claimed this name here, until it ends or closes. Raises StoreError."""
        ...

    def accounts_version(self) -> int | None:
        """A number that is another one after every announcement of any process; None while nobody knows."""
        ...

    async def watch_accounts(self) -> None:
        """See to it that `accounts_version` knows. Raises StoreError."""
        ...

    async def announce_accounts(self) -> None:
        """Let all processes that watch accounts look at them anew; when this returns they do. Raises StoreError."""
        ...

    async def find_faults(self) -> list[str]:
        """What is wrong with the engine itself: its file, or its settings."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a copy of the books to a new file of SQLite. Raises StoreDown, and OSError for the new file."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
