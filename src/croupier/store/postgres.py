"""The PostgreSQL engine: one connection writes, a small pool reads."""

import asyncio
import secrets
from asyncio import Future
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it is untyped

from croupier.core.histogram import Histogram
from croupier.store.announcements import CONNECTION_ERRORS, DRIVER_ERRORS, AnnouncementListener, announce
from croupier.store.batches import Fault, commit_batch, run_in_transaction
from croupier.store.engine import (
    FETCH_ROWS,
    WRITE_PULSE_SQL,
    Facts,
    Insert,
    ReadTransaction,
    Rows,
    StatementGenerator,
    Write,
    name_taken_error,
)
from croupier.store.migrations import REVISION_SQL, check_revision, upgrade
from croupier.store.records import StoreError, StoreUnavailable
from croupier.store.schema import POSTGRESQL
from croupier.store.urls import PostgresLocation

COPY_MIN_ROWS = 16
"""COPY is faster per row than INSERT, but needs an additional round trip, and is limited to one table."""

SERVER_SETTINGS = {"application_name": "croupier", "synchronous_commit": "on", "timezone": "UTC"}
"""A commit returns only when it is on disk, whatever the default of the server."""

MAX_READ_CONNECTIONS = 4

CONNECT_TIMEOUT_SECONDS = 10.0

STATEMENT_TIMEOUT_SECONDS = 30.0
"""The timeout of a statement; a server that does not answer in time counts as lost."""

UPGRADE_LOCK_KEY = 0x63726F7570696572
"""The key of the advisory lock for migrations: "croupier" in ASCII."""

WRITER_LOCK_CLASS = 0x726F7570
"""The first key of the advisory lock that a writer's connection holds; the second key is random."""

STORE_IN_USE_SQL = f"""SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
AND classid = {WRITER_LOCK_CLASS} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""  # noqa: S608 -- a constant of this module
"""Selects whether any process has the store open."""

CLAIM_LOCK_CLASS = 0x636C6169
"""The first key of the advisory lock of a claim; the second key is the hash of the name."""

CLAIM_TIMEOUT_SECONDS = 2.0
"""The time that the database gets to notice that the former holder of a claim is gone."""

TERMINATE_FORMER_WRITER_SQL = """SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1::bigint::oid AND objid = $2::bigint::oid"""
"""Terminates the former connection of this writer: PostgreSQL may still be committing for a client that is gone."""

MAX_TRANSACTION_RETRIES = 5
"""How often a transaction is retried after a serialization failure or a deadlock."""


class PostgresEngine:
    """The engine of a PostgreSQL database. It must have the last revision; see `open_database`."""

    def __init__(self, location: PostgresLocation, clock: Callable[[], float]) -> None:
        self.commit_times = {"server": Histogram()}
        self._location = location
        self._clock = clock
        self._writer_lock_key = (WRITER_LOCK_CLASS, secrets.randbits(31))
        self._writer: Any = None
        self._pool: Any = None
        self._claims: list[Any] = []
        self._listener = AnnouncementListener(self._open_connection)

    def commit_at_once(self, write: Facts) -> bool:  # noqa: ARG002 -- see `Engine`
        """Nothing is written on the event loop."""
        return False

    def commit(self, writes: Sequence[Write]) -> Future[Sequence[object]]:
        """Commit a batch: with a single statement if it has only facts, else in a transaction."""
        return asyncio.Task(self._commit(writes), loop=asyncio.get_running_loop(), eager_start=True)

    async def _commit(self, writes: Sequence[Write]) -> Sequence[object]:
        with self._discarding_writer():
            await self._ensure_connected()  # the database may have been restarted while the writer was idle
            for _ in range(MAX_TRANSACTION_RETRIES):
                with suppress(asyncpg.TransactionRollbackError):
                    return await self._try_commit(writes)
            return await self._try_commit(writes)

    async def reconnect(self) -> None:
        """Reconnect the writer, and write the pulse."""
        self._discard_writer()
        with self._discarding_writer():
            await self._ensure_connected()
            await self._writer.execute(WRITE_PULSE_SQL, self._clock())

    async def check_connection(self) -> None:
        """Reconnect the writer if its connection was closed, as by a database that was stopped or dropped."""
        with self._discarding_writer():
            await self._ensure_connected()

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """Run a query on a connection of the read pool."""
        with self.translate_errors():
            async with (await self._get_pool()).acquire() as connection:
                rows: Rows = await connection.fetch(sql, *arguments)
                return rows

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[ReadTransaction]:
        """A read-only transaction with a consistent snapshot."""
        try:
            async with AsyncExitStack() as stack:
                with self.translate_errors():
                    connection = await stack.enter_async_context((await self._get_pool()).acquire())
                    await stack.enter_async_context(connection.transaction(isolation="repeatable_read", readonly=True))
                    await connection.fetch("SELECT * FROM pulse")  # the first query takes the snapshot
                yield _PostgresReadTransaction(self, connection)
        except DRIVER_ERRORS as error:  # the connection broke while the transaction ended
            raise StoreUnavailable(f"{self._location}: {_error_text(error)}") from error

    async def find_faults(self) -> list[str]:
        """Settings of the server under which commits are not durable."""
        settings = await self.fetch(
            "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name"
        )
        return [f"found {name} = off in the server's settings; allowed: on" for (name,) in settings]

    async def backup(self, path: Path) -> None:
        """Copy a snapshot of all rows into a new SQLite file."""
        from croupier.store.copies import copy_to_file

        async with self.read_transaction() as transaction:
            await copy_to_file(transaction, path)

    async def claim(self, name: str, *, shared: bool) -> None:
        """Hold an advisory lock on a separate connection; the server releases it when the connection ends."""
        with self.translate_errors():
            connection = await self._open_connection()
            self._claims.append(connection)
            deadline = asyncio.get_running_loop().time() + CLAIM_TIMEOUT_SECONDS
            lock = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
            while not await connection.fetchval(f"SELECT {lock}($1, hashtext($2))", CLAIM_LOCK_CLASS, name):
                if asyncio.get_running_loop().time() > deadline:
                    raise name_taken_error(name, str(self._location))
                await asyncio.sleep(CLAIM_TIMEOUT_SECONDS / 20)

    def accounts_version(self) -> int | None:
        """A number that changes with every announcement, None while an announcement could be missed."""
        return self._listener.version()

    async def watch_accounts(self) -> None:
        """Start to listen for announcements."""
        await self._listener.start()

    async def announce_accounts(self) -> None:
        """Announce a change of accounts, and wait for the confirmation of all servers."""
        with self.translate_errors():
            await announce(self._open_connection)

    async def close(self) -> None:
        """Close all connections."""
        await self._listener.close()
        for connection in (*self._claims, self._writer, self._pool):
            if connection is not None:
                with suppress(*CONNECTION_ERRORS):  # already lost
                    await asyncio.wait_for(connection.close(), CONNECT_TIMEOUT_SECONDS)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise StoreUnavailable for the exceptions of a broken connection."""
        try:
            yield
        except CONNECTION_ERRORS as error:
            raise StoreUnavailable(f"{self._location}: {_error_text(error)}") from error

    async def _open_connection(self) -> Any:
        return await _connect(self._location, None)

    async def _ensure_connected(self) -> None:
        """Reconnect the writer if it is closed, and make sure that its former connection cannot commit any more."""
        if self._writer is None or self._writer.is_closed():
            self._writer = await _connect(self._location)
            await self._writer.execute(TERMINATE_FORMER_WRITER_SQL, *self._writer_lock_key)
            await self._writer.execute("SELECT pg_advisory_lock($1, $2)", *self._writer_lock_key)

    @contextmanager
    def _discarding_writer(self) -> Iterator[None]:
        """Translate errors, after which the writer is not used again."""
        try:
            with self.translate_errors():
                yield
        except StoreUnavailable:
            self._discard_writer()
            raise

    def _discard_writer(self) -> None:
        if self._writer is not None:
            self._writer.terminate()
            self._writer = None

    async def _get_pool(self) -> Any:
        if self._pool is None:
            self._pool = asyncpg.create_pool(
                self._location.url,
                min_size=0,
                max_size=MAX_READ_CONNECTIONS,
                timeout=CONNECT_TIMEOUT_SECONDS,
                server_settings=SERVER_SETTINGS,
            )
        await self._pool  # opens it the first time
        return self._pool

    async def _try_commit(self, writes: Sequence[Write]) -> Sequence[object]:
        started = perf_counter()
        outcomes = await run_statements(self._writer, commit_batch(writes, POSTGRESQL, _find_fault))
        self.commit_times["server"].observe(perf_counter() - started)
        return outcomes


class _PostgresReadTransaction:
    def __init__(self, engine: PostgresEngine, connection: Any) -> None:
        self._engine = engine
        self._connection = connection

    async def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """The rows of a query, fetched in portions with a cursor."""
        with self._engine.translate_errors():
            cursor = await self._connection.cursor(sql, *arguments)
        while True:
            with self._engine.translate_errors():
                rows = await cursor.fetch(FETCH_ROWS)
            if not rows:
                return
            yield rows


async def run_statements[T](connection: Any, statements: StatementGenerator[T]) -> T:
    """Run a script."""
    try:
        statement = next(statements)
        while True:
            try:
                if isinstance(statement, Insert):
                    rows: Rows = ()
                    await _insert(connection, statement)
                else:
                    rows = await connection.fetch(statement[0], *statement[1])
            except Exception as error:
                statement = statements.throw(error)
            else:
                statement = statements.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


async def _insert(connection: Any, insert: Insert) -> None:
    """Insert rows with one statement, which is atomic."""
    (table, rows), *others = insert.rows.items()
    if not others and len(rows) >= COPY_MIN_ROWS:
        await connection.copy_records_to_table(table, records=rows)
    else:
        await connection.execute(_insert_sql(*insert.rows), *insert.rows.values())


@cache
def _insert_sql(*tables: str) -> str:
    """SQL that inserts arrays of rows into tables.

    >>> _insert_sql("hands", "played")  # doctest: +NORMALIZE_WHITESPACE
    'WITH w2 AS (INSERT INTO "played" SELECT * FROM unnest($2::"played"[]))
    INSERT INTO "hands" SELECT * FROM unnest($1::"hands"[])'
    """
    first, *others = (
        f'INSERT INTO "{table}" SELECT * FROM unnest(${number}::"{table}"[])'  # noqa: S608 -- names from the schema
        for number, table in enumerate(tables, start=1)
    )
    named = ", ".join(f"w{number} AS ({sql})" for number, sql in enumerate(others, start=2))
    return f"WITH {named} {first}" if named else first


def _find_fault(error: Exception) -> Fault:
    """The data of a write are at fault by SQLSTATE 22 and 23, or if they cannot be encoded."""
    if isinstance(error, asyncpg.PostgresError):
        return Fault.DATA if (error.sqlstate or "")[:2] in {"22", "23"} else Fault.DATABASE
    if isinstance(error, asyncpg.DataError | UnicodeEncodeError):
        return Fault.DATA
    return Fault.DATABASE if isinstance(error, CONNECTION_ERRORS) else Fault.SCRIPT


def _error_text(error: BaseException) -> str:
    """The message of an error, without the number of one of the operating system."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


async def open_database(location: PostgresLocation, *, create: bool = True) -> None:
    """Check that the database is a store of the last revision, and create one in an empty database if `create` is set.

    Raises StoreError for anything else.
    """

    async def read_revision(connection: Any) -> str | None:
        try:
            revision: str | None = await connection.fetchval(REVISION_SQL)
        except asyncpg.UndefinedTableError:
            return None
        return revision

    revision = await run_on_connection(location, read_revision)
    if revision is None and create:
        await upgrade_database(location)
    else:
        check_revision(revision, str(location))


async def upgrade_database(location: PostgresLocation) -> None:
    """Create a store, or migrate an older one to the last revision, atomically. Raises StoreError."""

    def migrate() -> StatementGenerator[None]:
        yield "SELECT pg_advisory_xact_lock($1)", (UPGRADE_LOCK_KEY,)
        yield from upgrade(POSTGRESQL)

    async def work(connection: Any) -> None:
        try:
            await run_statements(connection, run_in_transaction(migrate(), POSTGRESQL))
        except asyncpg.PostgresError as error:
            raise StoreError(f"found {location}, which cannot be upgraded: {error}") from error

    await run_on_connection(location, work, statement_timeout=None)


async def _connect(location: PostgresLocation, statement_timeout: float | None = STATEMENT_TIMEOUT_SECONDS) -> Any:
    return await asyncpg.connect(
        location.url,
        timeout=CONNECT_TIMEOUT_SECONDS,
        command_timeout=statement_timeout,
        server_settings=SERVER_SETTINGS,
    )


async def run_on_connection[T](
    location: PostgresLocation,
    work: Callable[[Any], Awaitable[T]],
    statement_timeout: float | None = STATEMENT_TIMEOUT_SECONDS,
) -> T:
    """Call `work` with a separate connection. Raises StoreError if the server cannot be reached."""
    try:
        connection = await _connect(location, statement_timeout)
        try:
            return await work(connection)
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT_SECONDS)
    except (*CONNECTION_ERRORS, ValueError) as error:  # ValueError: an invalid URL
        raise StoreError(f"cannot reach {location}: {_error_text(error)}") from error
