"""The SQLite engine: one thread writes and another reads, so that the event loop does not block.

On a fast disk the event loop itself commits single writes, which takes less time than a thread (see `commit_place`).
"""

import os
import sqlite3
from asyncio import Future
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter

from croupier.core.histogram import Histogram
from croupier.net.event_loop import start_in_thread
from croupier.store.batches import Fault, commit_batch
from croupier.store.commit_place import SLOW_SECONDS, CommitPlacePolicy, count_waits
from croupier.store.engine import FETCH_ROWS, WRITE_PULSE_SQL, Facts, ReadTransaction, Rows, Write, name_taken_error
from croupier.store.records import StoreError, StoreUnavailable
from croupier.store.schema import SQLITE
from croupier.store.sqlite_file import connect, execute, insert_facts, new_file, run_statements, set_writer_patience
from croupier.store.urls import SqliteLocation
from croupier.store.version_file import VersionFile

WRITE_ERRORS = (sqlite3.Error, OverflowError, UnicodeEncodeError)
"""The exceptions that mean that the data of a write are at fault, if not the environment."""

ENVIRONMENT_ERROR_CODES = {
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
"""Error codes for which no write is at fault."""


type FileIdentity = tuple[int, int] | None
"""The device and inode of a file, None if there is no file."""


class SqliteEngine:
    """The engine of an SQLite file. It must exist and have the last revision; see `open_file`.

    The file that was opened first remains the store until the engine is closed. While it is deleted, moved or replaced,
    the store is unavailable, because commits to an unlinked file are lost with the process.

    `timer` returns seconds; it measures how long commits take. `count_waits` is that of `commit_place`.
    """

    def __init__(
        self,
        location: SqliteLocation,
        clock: Callable[[], float],
        timer: Callable[[], float] = perf_counter,
        count_waits: Callable[[], int] = count_waits,
    ) -> None:
        self.commit_times = {"loop": Histogram(), "thread": Histogram()}
        self._path = location.path
        self._wal_path = self._path.with_name(f"{self._path.name}-wal")  # SQLite's write-ahead log
        self._clock = clock
        self._timer = timer
        self._count_waits = count_waits
        self._place_policy = CommitPlacePolicy(timer)
        self._writer_lock = Lock()  # held while a thread, or the event loop, uses the writer
        self._is_patient = True
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._file_identity: FileIdentity = None
        self._wal_identity: FileIdentity = None
        self._claims: list[int] = []
        self._accounts_version_file: VersionFile | None = None
        self._write_executor = ThreadPoolExecutor(1, "store-writing")
        self._read_executor = ThreadPoolExecutor(1, "store-reading")

    def commit_at_once(self, write: Facts) -> bool:
        """Commit facts on the event loop if that is fast, and neither a thread nor another process is writing.

        Facts that are refused are committed in the thread, which finds out which part of them is at fault.
        """
        if not self._place_policy.allows_loop(write.weight) or not self._writer_lock.acquire(blocking=False):
            return False
        try:
            self._commit(write.weight, partial(insert_facts, write), on_loop=True)
        except WRITE_ERRORS as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY or _find_fault(error) is Fault.DATA:
                return False
            raise StoreUnavailable(f"{self._path}: {error}") from error
        finally:
            self._writer_lock.release()
        return True

    def commit(self, writes: Sequence[Write]) -> Future[Sequence[object]]:
        """Commit a batch in the write thread."""

        def run(writer: sqlite3.Connection) -> Sequence[object]:
            return run_statements(writer, commit_batch(writes, SQLITE, _find_fault))

        weight = sum(write.weight for write in writes)
        return self._write_in_thread(lambda: self._commit(weight, run, on_loop=False))

    async def reconnect(self) -> None:
        """Reopen the file, and write the pulse."""
        await self._write_in_thread(self._check_file)
        await self.read_in_thread(self._close_reader)
        await self._write_in_thread(self._reconnect)
        if self._accounts_version_file is not None:
            self._accounts_version_file.randomize()  # another process may have changed accounts meanwhile

    async def check_connection(self) -> None:
        """Check in the write thread that the file is still the same."""
        await self._write_in_thread(self._check_files)

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """Run a query in the read thread."""
        return await self.read_in_thread(lambda: self._fetch(sql, arguments))

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[ReadTransaction]:
        """A transaction on a separate connection, in the read thread."""
        connections = ExitStack()  # the thread, which goes on if this task is cancelled, enters one
        try:
            connection = await self.read_in_thread(lambda: self._begin_reading(connections))
            yield _SqliteReadTransaction(self, connection)
        finally:
            await self.read_in_thread(connections.close)

    async def find_faults(self) -> list[str]:
        """The results of SQLite's integrity and foreign key checks."""
        rows = [*await self.fetch("PRAGMA integrity_check"), *await self.fetch("PRAGMA foreign_key_check")]
        return [" ".join(map(str, row)) for row in rows if tuple(row) != ("ok",)]

    async def backup(self, path: Path) -> None:
        """Make an online backup; writes continue meanwhile."""
        await self.read_in_thread(lambda: self._backup(path))

    async def claim(self, name: str, *, shared: bool) -> None:
        """Lock a file next to the store; the system releases the lock at any end of the process."""
        try:
            from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
        except ImportError:  # Windows
            return
        path = self._path.with_name(f"{self._path.name}.{name}.lock")
        try:
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise StoreError(f"cannot make {path}: {error.strerror}") from error
        try:
            flock(lock, (LOCK_SH if shared else LOCK_EX) | LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise name_taken_error(name, str(self._path)) from None
        self._claims.append(lock)

    def accounts_version(self) -> int | None:
        """The number in the version file, None before `watch_accounts`."""
        return None if self._accounts_version_file is None else self._accounts_version_file.read()

    async def watch_accounts(self) -> None:
        """Open the version file."""
        if self._accounts_version_file is None:
            self._accounts_version_file = VersionFile(self._path)

    async def announce_accounts(self) -> None:
        """Change the number in the version file."""
        await self.watch_accounts()
        assert self._accounts_version_file is not None, "watch_accounts has opened it"
        self._accounts_version_file.randomize()

    async def close(self) -> None:
        """Close the connections, each in its own thread."""
        if self._accounts_version_file is not None:
            self._accounts_version_file.close()
            self._accounts_version_file = None
        for lock in self._claims:
            os.close(lock)
        self._claims.clear()
        for thread, close in ((self._write_executor, self._close_writer), (self._read_executor, self._close_reader)):
            await self._start_in(thread, close)  # after what the thread is doing, which may be to connect
            thread.shutdown(wait=False)

    async def read_in_thread[T](self, work: Callable[[], T]) -> T:
        """Call `work` in the read thread. Raises StoreUnavailable."""
        return await self._start_in(self._read_executor, work)

    def _write_in_thread[T](self, work: Callable[[], T]) -> Future[T]:
        def run() -> T:
            with self._writer_lock:
                return work()

        return self._start_in(self._write_executor, run)

    def _start_in[T](self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> Future[T]:
        def run() -> T:
            try:
                return work()
            except sqlite3.Error as error:
                raise StoreUnavailable(f"{self._path}: {error}") from error

        return start_in_thread(thread, run)

    def _commit[T](self, weight: int, run: Callable[[sqlite3.Connection], T], *, on_loop: bool) -> T:
        """Measure a commit of writes with this weight; returns the result of `run`."""
        assert self._writer is not None, "reconnect comes before commit"
        if self._is_patient is on_loop:
            set_writer_patience(self._writer, is_patient=not on_loop)
            self._is_patient = not on_loop
        waits, started = self._count_waits(), self._timer()
        outcome = run(self._writer)
        self._check_files()  # after the commit, because the file may have disappeared during it
        seconds = self._timer() - started
        self.commit_times["loop" if on_loop else "thread"].observe(seconds)
        has_waited = seconds >= SLOW_SECONDS and self._count_waits() != waits  # a fast commit is fast in either case
        self._place_policy.record(seconds, weight, on_loop=on_loop, has_waited=has_waited)
        return outcome

    def _reconnect(self) -> None:
        self._close_writer()
        file = _file_identity(self._path)
        self._writer, self._is_patient = connect(self._path), True
        execute(self._writer, (WRITE_PULSE_SQL, (self._clock(),)))
        self._file_identity = self._file_identity or file
        self._wal_identity = _file_identity(self._wal_path)

    def _check_files(self) -> None:
        """Raise StoreUnavailable if the file or its write-ahead log was deleted or replaced."""
        if _file_identity(self._path) != self._file_identity or _file_identity(self._wal_path) != self._wal_identity:
            self._check_file()
            raise StoreUnavailable(f"{self._wal_path}: the log of the store was deleted or replaced while it was open")

    def _check_file(self) -> None:
        if self._file_identity is not None and (found := _file_identity(self._path)) != self._file_identity:
            event = "deleted or moved" if found is None else "replaced by another one"
            remedy = "stop the server and restore a backup, or put back the original file"
            raise StoreUnavailable(f"{self._path}: the store was {event} while it was open; {remedy}")

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _connect(self) -> sqlite3.Connection:
        self._check_file()
        return connect(self._path)

    def _fetch(self, sql: str, arguments: Sequence[object]) -> Rows:
        if self._reader is None:
            self._reader = self._connect()
        return execute(self._reader, (sql, arguments)).fetchall()

    def _begin_reading(self, connections: ExitStack) -> sqlite3.Connection:
        connection = connections.enter_context(closing(self._connect()))
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM pulse").fetchall()  # the first query takes the snapshot
        return connection

    def _backup(self, path: Path) -> None:
        with new_file(path) as copy, closing(self._connect()) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # the copy is a single file, without a log


class _SqliteReadTransaction:
    def __init__(self, engine: SqliteEngine, connection: sqlite3.Connection) -> None:
        self._engine = engine
        self._connection = connection

    async def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """The rows of a query, fetched in portions in the read thread."""
        cursor = await self._engine.read_in_thread(lambda: execute(self._connection, (sql, arguments)))
        while rows := await self._engine.read_in_thread(lambda: cursor.fetchmany(FETCH_ROWS)):
            yield rows


def _find_fault(error: Exception) -> Fault:
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in ENVIRONMENT_ERROR_CODES:
        return Fault.DATABASE
    return Fault.DATA if isinstance(error, WRITE_ERRORS) else Fault.SCRIPT


def _file_identity(path: Path) -> FileIdentity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
