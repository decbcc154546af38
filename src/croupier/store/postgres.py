"""Books on a PostgreSQL server: one connection writes, a few others read."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it has no types of its own

from croupier.store.announcements import AnnouncementListener, announce
from croupier.store.engine import (
    WRITE_PULSE_SQL,
    FactRow,
    Facts,
    ReadTransaction,
    Rows,
    Script,
    StatementGenerator,
    Write,
    name_taken_error,
    refusal_error,
)
from croupier.store.migrations import REVISION_SQL, check_revision, upgrade_connection
from croupier.store.records import StoredHand, StoreError, StoreUnavailable
from croupier.store.scripts import add_hand, hand_row, player_hand_rows
from croupier.store.urls import PostgresLocation

INSERT_FACTS_SQL = """INSERT INTO journal (room, "table", seq, fact, time)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::float8[])"""

INSERT_FACTS_AND_HANDS_SQL = f"""WITH more AS (
    INSERT INTO hands (room, "table", number, time, players, record, summary)
    SELECT * FROM unnest($6::text[], $7::text[], $8::bigint[], $9::float8[], $10::text[], $11::text[], $12::text[])
), who AS (
    INSERT INTO played (player, room, "table", number)
    SELECT * FROM unnest($13::text[], $14::text[], $15::text[], $16::bigint[])
) {INSERT_FACTS_SQL}"""  # noqa: S608 -- our own words
"""Facts, and the hands that they have ended."""

JOURNAL_COLUMNS = ("room", "table", "seq", "fact", "time")
COPY_MIN_ROWS = 16
"""To copy a fact takes a third less time than to insert it, but COPY begins with a round trip more."""

SERVER_SETTINGS = {"application_name": "croupier", "synchronous_commit": "on", "timezone": "UTC"}
"""A commit returns when it is on the disk, also where the server would have it otherwise."""

MAX_READ_CONNECTIONS = 4
"""So many connections read at most."""

FETCH_ROWS = 1000
"""So many rows are read at a time."""

CONNECT_TIMEOUT_SECONDS = 10.0
"""How many seconds connecting may take."""

STATEMENT_TIMEOUT_SECONDS = 30.0
"""How many seconds one statement may take; a server that says nothing for so long is lost."""

UPGRADE_LOCK_KEY = 0x63726F7570696572
"""The number of the lock under which only one process upgrades: "croupier"."""

WRITER_LOCK_CLASS = 0x726F7570
"""With another number, that of the lock which the writer of a store holds as long as the server knows of it."""

STORE_IN_USE_SQL = f"""SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
AND classid = {WRITER_LOCK_CLASS} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""  # noqa: S608 -- a number of ours
"""Whether any process has the store open."""

CLAIM_LOCK_CLASS = 0x636C6169
"""With the hash of a name, the number of the lock of whoever has claimed it."""

CLAIM_TIMEOUT_SECONDS = 2.0
"""So many seconds the server may take to notice that the one who had a name is gone."""

TERMINATE_FORMER_WRITER_SQL = """SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1::bigint::oid AND objid = $2::bigint::oid"""
"""A server may go on committing for a client that it does not know to be gone."""

MAX_TRANSACTION_RETRIES = 5
"""How often a transaction is tried anew that another process's has stood in the way of."""

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""What asyncpg raises when a connection breaks; the last where it breaks between two messages."""

CONNECTION_ERRORS = (OSError, TimeoutError, *DRIVER_ERRORS)
"""What there is when a connection cannot be made, or breaks."""

WRITE_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, UnicodeEncodeError)
"""The errors of what cannot be written, if the deed is to blame; others are mistakes in a script."""


class PostgresEngine:
    """The engine of a database that is of this revision; `open_database` sees to that."""

    def __init__(self, location: PostgresLocation, clock: Callable[[], float]) -> None:
        self._location = location
        self._clock = clock
        self._writer_lock_key = (WRITER_LOCK_CLASS, secrets.randbits(31))
        self._writer: Any = None
        self._pool: Any = None
        self._claims: list[Any] = []
        self._listener = AnnouncementListener(self._open_connection)

    async def commit(self, writes: Sequence[Write]) -> Sequence[object]:
        """One statement if they are facts, else one transaction."""
        try:
            with self.translate_errors():
                if self._writer.is_closed():  # the server was started anew while nobody wrote
                    await self._connect_writer()
                for _ in range(MAX_TRANSACTION_RETRIES):
                    with suppress(asyncpg.TransactionRollbackError):
                        return await self._commit(writes)
                return await self._commit(writes)
        except StoreUnavailable:
            self._discard_writer()
            raise

    async def reconnect(self) -> None:
        """Connect anew and write the pulse."""
        self._discard_writer()
        try:
            with self.translate_errors():
                await self._connect_writer()
                await self._writer.execute(WRITE_PULSE_SQL, self._clock())
        except StoreUnavailable:
            self._discard_writer()
            raise

    async def check_connection(self) -> None:
        """See whether the connection that writes is still open; a database that is dropped or stopped closes it."""
        if not self._writer.is_closed():
            return
        try:
            with self.translate_errors():
                await self._connect_writer()
        except StoreUnavailable:
            self._discard_writer()
            raise

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """Ask over one of the connections that read."""
        with self.translate_errors():
            async with (await self._get_pool()).acquire() as connection:
                found: Rows = await connection.fetch(sql, *arguments)
                return found

    @asynccontextmanager
    async def read_transaction(self) -> AsyncIterator[ReadTransaction]:
        """A transaction that sees what was there when it began."""
        try:
            async with AsyncExitStack() as stack:
                with self.translate_errors():
                    connection = await stack.enter_async_context((await self._get_pool()).acquire())
                    await stack.enter_async_context(connection.transaction(isolation="repeatable_read", readonly=True))
                    await connection.fetch("SELECT * FROM pulse")  # from this question on, time stands still
                yield _PostgresReadTransaction(self, connection)
        except DRIVER_ERRORS as error:  # the end of the transaction was not heard
            raise StoreUnavailable(f"{self._location}: {_error_text(error)}") from error

    async def find_faults(self) -> list[str]:
        """Settings of the server that make a commit less than durable."""
        found = await self.fetch(
            "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name"
        )
        return [f"found {name} = off in the server's settings; allowed: on" for (name,) in found]

    async def backup(self, path: Path) -> None:
        """Copy all rows, as they are at one moment, into a new file of SQLite."""
        from croupier.store.copies import copy_to_file

        async with self.read_transaction() as moment:
            await copy_to_file(moment, path)

    async def claim(self, name: str) -> None:
        """Lock the name over a connection of its own; the server lets go of it when that is closed."""
        with self.translate_errors():
            connection = await self._open_connection()
            self._claims.append(connection)
            end = asyncio.get_running_loop().time() + CLAIM_TIMEOUT_SECONDS
            while not await connection.fetchval(
                "SELECT pg_try_advisory_lock($1, hashtext($2))", CLAIM_LOCK_CLASS, name
            ):
                if asyncio.get_running_loop().time() > end:
                    raise name_taken_error(name, str(self._location))
                await asyncio.sleep(CLAIM_TIMEOUT_SECONDS / 20)

    def accounts_version(self) -> int | None:
        """How many announcements were heard."""
        return self._listener.version()

    async def watch_accounts(self) -> None:
        """Listen for announcements."""
        await self._listener.start()

    async def announce_accounts(self) -> None:
        """Announce that accounts have changed."""
        with self.translate_errors():
            await announce(self._open_connection)

    async def close(self) -> None:
        """Close the connections."""
        await self._listener.close()
        for connection in (*self._claims, self._writer, self._pool):
            if connection is not None:
                with suppress(*CONNECTION_ERRORS):  # it is gone already
                    await asyncio.wait_for(connection.close(), CONNECT_TIMEOUT_SECONDS)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise StoreDown for what there is when a connection breaks."""
        try:
            yield
        except CONNECTION_ERRORS as error:
            raise StoreUnavailable(f"{self._location}: {_error_text(error)}") from error

    async def _open_connection(self) -> Any:
        """A connection of its own for something else than rows."""
        return await asyncpg.connect(
            self._location.url, timeout=CONNECT_TIMEOUT_SECONDS, server_settings=SERVER_SETTINGS
        )

    async def _connect_writer(self) -> None:
        """Connect the writer anew, when the one before can commit no more: what was there last is there for good."""
        self._writer = await asyncpg.connect(
            self._location.url,
            timeout=CONNECT_TIMEOUT_SECONDS,
            command_timeout=STATEMENT_TIMEOUT_SECONDS,
            server_settings=SERVER_SETTINGS,
        )
        await self._writer.execute(TERMINATE_FORMER_WRITER_SQL, *self._writer_lock_key)
        await self._writer.execute("SELECT pg_advisory_lock($1, $2)", *self._writer_lock_key)

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
        await self._pool  # the first time, it opens
        return self._pool

    async def _commit(self, writes: Sequence[Write]) -> Sequence[object]:
        try:
            return await _commit_together(self._writer, writes)
        except Exception as error:
            if not _is_write_error(error):
                raise
            return await _commit_separately(self._writer, writes)


class _PostgresReadTransaction:
    def __init__(self, engine: PostgresEngine, connection: Any) -> None:
        self._engine = engine
        self._connection = connection

    async def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """Some rows at a time, over a cursor."""
        with self._engine.translate_errors():
            cursor = await self._connection.cursor(sql, *arguments)
        while True:
            with self._engine.translate_errors():
                found = await cursor.fetch(FETCH_ROWS)
            if not found:
                return
            yield found


async def _commit_together(connection: Any, writes: Sequence[Write]) -> Sequence[object]:
    """All deeds in one transaction, the facts first: nothing sees them before they are committed."""
    facts = [deed for deed in writes if type(deed) is Facts]
    rows = [row for deed in facts for row in deed.rows]
    hands = [hand for deed in facts for hand in deed.hands]
    if len(facts) == len(writes):
        await _insert_facts(connection, rows, hands)  # one statement is a transaction
        return [None] * len(writes)
    async with connection.transaction():
        await _insert_facts(connection, rows, hands)
        return [
            await _run_statements(connection, deed.make_statements()) if type(deed) is Script else None
            for deed in writes
        ]


async def _commit_separately(connection: Any, writes: Sequence[Write]) -> Sequence[object]:
    """All deeds in one transaction, but each for itself: what fails is taken back, and its neighbours stay."""
    outcomes: list[object] = []
    async with connection.transaction():
        for deed in writes:
            try:
                async with connection.transaction():  # a savepoint
                    outcomes.append(await _execute_write(connection, deed))
            except Exception as error:
                if not _is_write_error(error):
                    raise
                outcomes.append(refusal_error(deed, _error_text(error)) if isinstance(error, WRITE_ERRORS) else error)
    return outcomes


async def _execute_write(connection: Any, write: Write) -> object:
    if isinstance(write, Script):
        return await _run_statements(connection, write.make_statements())
    await _insert_facts(connection, write.rows)
    for hand in write.hands:
        await _run_statements(connection, add_hand(hand))
    return None


async def _run_statements(connection: Any, statements: StatementGenerator[object]) -> object:
    try:
        sql, arguments = next(statements)
        while True:
            sql, arguments = statements.send(await connection.fetch(sql, *arguments))
    except StopIteration as end:
        return end.value


async def _insert_facts(connection: Any, rows: Sequence[FactRow], hands: Sequence[StoredHand] = ()) -> None:
    """Facts and hands with one statement, if there are any."""
    if hands:
        played = [row for hand in hands for row in player_hand_rows(hand)]
        tables: list[tuple[Sequence[Sequence[object]], int]] = [(rows, 5), ([*map(hand_row, hands)], 7), (played, 4)]
        await connection.execute(
            INSERT_FACTS_AND_HANDS_SQL, *([row[at] for row in table] for table, width in tables for at in range(width))
        )
    elif len(rows) >= COPY_MIN_ROWS:
        await connection.copy_records_to_table("journal", records=rows, columns=JOURNAL_COLUMNS)
    elif rows:
        await connection.execute(INSERT_FACTS_SQL, *zip(*rows, strict=True))


def _is_write_error(error: Exception) -> bool:
    """Whether what was to be written is to blame: data and integrity (SQLSTATE 22 and 23), or our own script."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "")[:2] in {"22", "23"}
    return isinstance(error, asyncpg.DataError) or not isinstance(error, CONNECTION_ERRORS)


def _error_text(error: BaseException) -> str:
    return str(error) or type(error).__name__


async def open_database(location: PostgresLocation, *, create: bool = True) -> None:
    """See to it that a store is at this place: make one if the database is empty. Raises StoreError, saying what is."""

    async def ask(connection: Any) -> str | None:
        try:
            found: str | None = await connection.fetchval(REVISION_SQL)
        except asyncpg.UndefinedTableError:
            return None
        return found

    revision = await run_on_connection(location, ask)
    if revision is None and create:
        await upgrade_database(location)
    else:
        check_revision(revision, str(location))


async def upgrade_database(location: PostgresLocation) -> None:
    """Make a store, or bring an older one to the last revision, all or nothing. Raises StoreError."""
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    await run_on_connection(location, lambda connection: connection.execute("SELECT 1"))
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(location.url, timeout=CONNECT_TIMEOUT_SECONDS),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": UPGRADE_LOCK_KEY})
            await connection.run_sync(upgrade_connection)
    except DBAPIError as error:
        raise StoreError(f"found {location}, which cannot be upgraded: {error.orig}") from error
    finally:
        await engine.dispose()


async def run_on_connection[T](location: PostgresLocation, work: Callable[[Any], Awaitable[T]]) -> T:
    """Do something over a connection of its own. Raises StoreError if the server cannot be reached."""
    try:
        connection = await asyncpg.connect(
            location.url, timeout=CONNECT_TIMEOUT_SECONDS, command_timeout=STATEMENT_TIMEOUT_SECONDS
        )
        try:
            return await work(connection)
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT_SECONDS)
    except (*CONNECTION_ERRORS, ValueError) as error:  # also of a URL that it cannot read
        raise StoreError(f"cannot reach {location}: {_error_text(error)}") from error
