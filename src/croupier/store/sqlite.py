"""Books in a file of SQLite: one thread writes, another reads, and the event loop waits for neither."""

import asyncio
import os
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from croupier.store.engine import PULSE, Act, Deed, Facts, Moment, Rows, Script, refusal, taken
from croupier.store.records import StoreDown, StoreError
from croupier.store.scripts import add_hand, hand_row, played_rows
from croupier.store.sqlite_file import connect, new_file
from croupier.store.urls import SqlitePlace
from croupier.store.version_file import VersionFile

FACTS = 'INSERT INTO journal (room, "table", seq, fact, time) VALUES (?, ?, ?, ?, ?)'
HANDS = 'INSERT INTO hands (room, "table", number, time, players, record, summary) VALUES (?, ?, ?, ?, ?, ?, ?)'
PLAYED = 'INSERT INTO played (player, room, "table", number) VALUES (?, ?, ?, ?)'

PORTION = 1000
"""So many rows are read at a time."""

UNFIT = (sqlite3.Error, OverflowError, UnicodeEncodeError)
"""The errors of what cannot be written, if they are not from outside; others are mistakes in a script."""

OUTSIDE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}
"""The errors that no deed is to blame for."""


type Identity = tuple[int, int] | None
"""What the system calls a file, whatever its name is: its device and its number there; None where nothing is."""


class Sqlite:
    """The engine of a file that is there and of this revision; `open_file` sees to that.

    The file that was opened first is the store until the engine is closed: while it is deleted, moved, or replaced by
    another one the store is down, for what is committed into a file without a name is lost with the process.
    """

    def __init__(self, place: SqlitePlace, clock: Callable[[], float]) -> None:
        self._path = place.path
        self._clock = clock
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._file: Identity = None
        self._log: Identity = None
        self._claims: list[int] = []
        self._accounts: VersionFile | None = None
        self._writing = ThreadPoolExecutor(1, "store-writing")
        self._reading = ThreadPoolExecutor(1, "store-reading")

    async def commit(self, deeds: Sequence[Deed]) -> Sequence[object]:
        """Write them in the thread that writes."""
        return await self._in(self._writing, lambda: self._commit(deeds))

    async def revive(self) -> None:
        """Open the file anew, and write the pulse."""
        await self._in(self._writing, self._check_file)
        await self._in(self._reading, self._forget)
        await self._in(self._writing, self._revive)
        if self._accounts is not None:
            self._accounts.change()  # so may its accounts be

    async def look(self) -> None:
        """See in the thread that writes whether the file is still where it was."""
        await self._in(self._writing, self._check)

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """Ask in the thread that reads."""
        return await self._in(self._reading, lambda: self._fetch(sql, arguments))

    @asynccontextmanager
    async def moment(self) -> AsyncIterator[Moment]:
        """A transaction of a connection of its own, in the thread that reads."""
        connection = await self._in(self._reading, self._begin_reading)
        try:
            yield _Moment(self, connection)
        finally:
            await self._in(self._reading, connection.close)

    async def faults(self) -> list[str]:
        """What SQLite finds when it checks its file."""
        found = [*await self.fetch("PRAGMA integrity_check"), *await self.fetch("PRAGMA foreign_key_check")]
        return [" ".join(map(str, row)) for row in found if tuple(row) != ("ok",)]

    async def backup(self, path: Path) -> None:
        """An online backup: the house goes on writing meanwhile."""
        await self._in(self._reading, lambda: self._backup(path))

    async def claim(self, name: str) -> None:
        """Lock a file beside the books; the system lets go of it when the process ends, however that is."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:  # Windows
            return
        path = self._path.with_name(f"{self._path.name}.{name}.lock")
        try:
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StoreError(f"cannot make {path}: {error.strerror}") from error
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise taken(name, str(self._path)) from None
        self._claims.append(lock)

    def accounts_version(self) -> int | None:
        """What stands in the file beside the store."""
        return None if self._accounts is None else self._accounts.read()

    async def watch_accounts(self) -> None:
        """Open that file."""
        if self._accounts is None:
            self._accounts = VersionFile(self._path)

    async def announce_accounts(self) -> None:
        """Change what stands in it."""
        await self.watch_accounts()
        assert self._accounts is not None, "it is open"
        self._accounts.change()

    async def close(self) -> None:
        """Close the connections, each in its thread."""
        if self._accounts is not None:
            self._accounts.close()
            self._accounts = None
        for lock in self._claims:
            os.close(lock)
        self._claims.clear()
        for thread, connection in ((self._writing, self._writer), (self._reading, self._reader)):
            if connection is not None:
                await self._in(thread, connection.close)
            thread.shutdown(wait=False)

    async def read_in_thread[T](self, work: Callable[[], T]) -> T:
        """Do something in the thread that reads. Raises StoreDown for what SQLite raises."""
        return await self._in(self._reading, work)

    async def _in[T](self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, work)
        except sqlite3.Error as error:
            raise StoreDown(f"{self._path}: {error}") from error

    def _commit(self, deeds: Sequence[Deed]) -> Sequence[object]:
        assert self._writer is not None, "who commits has revived it"
        try:
            outcomes = _together(self._writer, deeds)
        except Exception as error:
            if _is_from_outside(error):
                raise
            outcomes = _apart(self._writer, deeds)
        self._check()  # afterwards, for the file may have gone a moment ago
        return outcomes

    def _revive(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        file = _identity(self._path)
        self._writer = connect(self._path)
        with _transaction(self._writer):
            self._writer.execute(_sql(PULSE), (self._clock(),))
        self._file = self._file or file
        self._log = _identity(_log_of(self._path))

    def _check(self) -> None:
        """Raise StoreDown where what is committed has no name any more."""
        self._check_file()
        if _identity(_log_of(self._path)) != self._log:
            raise StoreDown(f"{_log_of(self._path)}: the log of the store was deleted or replaced while it was open")

    def _check_file(self) -> None:
        if self._file is not None and (found := _identity(self._path)) != self._file:
            what = "deleted or moved" if found is None else "replaced by another one"
            told = "stop the server and restore a backup, or put back the very file"
            raise StoreDown(f"{self._path}: the store was {what} while it was open; {told}")

    def _forget(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _connect(self) -> sqlite3.Connection:
        self._check_file()
        return connect(self._path)

    def _fetch(self, sql: str, arguments: Sequence[object]) -> Rows:
        if self._reader is None:
            self._reader = self._connect()
        return self._reader.execute(_sql(sql), arguments).fetchall()

    def _begin_reading(self) -> sqlite3.Connection:
        connection = self._connect()
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM pulse").fetchall()  # from this question on, time stands still
        return connection

    def _backup(self, path: Path) -> None:
        with new_file(path) as copy, closing(self._connect()) as ours, closing(sqlite3.connect(copy)) as theirs:
            ours.backup(theirs)
            theirs.execute("PRAGMA journal_mode = DELETE")  # a copy is one file


class _Moment:
    def __init__(self, engine: Sqlite, connection: sqlite3.Connection) -> None:
        self._engine = engine
        self._connection = connection

    async def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """Some rows at a time, each time in the thread that reads."""
        cursor = await self._engine.read_in_thread(lambda: self._connection.execute(_sql(sql), arguments))
        while found := await self._engine.read_in_thread(lambda: cursor.fetchmany(PORTION)):
            yield found


def _together(connection: sqlite3.Connection, deeds: Sequence[Deed]) -> list[object]:
    """All deeds in one transaction, the facts first: nothing sees them before they are committed."""
    facts = [deed for deed in deeds if type(deed) is Facts]
    hands = [hand for deed in facts for hand in deed.hands]
    with _transaction(connection):
        connection.executemany(FACTS, [row for deed in facts for row in deed.rows])
        if hands:
            connection.executemany(HANDS, map(hand_row, hands))
            connection.executemany(PLAYED, [row for hand in hands for row in played_rows(hand)])
        return [_run(connection, deed.script()) if type(deed) is Act else None for deed in deeds]


def _apart(connection: sqlite3.Connection, deeds: Sequence[Deed]) -> list[object]:
    """All deeds in one transaction, but each for itself: what fails is taken back, and its neighbours stay."""
    outcomes: list[object] = []
    with _transaction(connection):
        for deed in deeds:
            connection.execute("SAVEPOINT deed")
            try:
                outcomes.append(_do(connection, deed))
            except Exception as error:
                if _is_from_outside(error):
                    raise
                connection.execute("ROLLBACK TO deed")
                outcomes.append(refusal(deed, str(error)) if isinstance(error, UNFIT) else error)
            connection.execute("RELEASE deed")
    return outcomes


def _do(connection: sqlite3.Connection, deed: Deed) -> object:
    if isinstance(deed, Act):
        return _run(connection, deed.script())
    connection.executemany(FACTS, deed.rows)
    for hand in deed.hands:
        _run(connection, add_hand(hand))
    return None


def _run(connection: sqlite3.Connection, script: Script[object]) -> object:
    try:
        sql, arguments = next(script)
        while True:
            sql, arguments = script.send(connection.execute(_sql(sql), arguments).fetchall())
    except StopIteration as end:
        return end.value


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _is_from_outside(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in OUTSIDE


def _identity(path: Path) -> Identity:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _log_of(path: Path) -> Path:
    """Where SQLite writes what it commits, until that goes into the file."""
    return path.with_name(f"{path.name}-wal")


@cache
def _sql(text: str) -> str:
    return re.sub(r"\$(\d+)", r"?\1", text)
