"""Books on a PostgreSQL server: one connection writes, a few others read."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # it has no types of its own

from croupier.store.announcements import Listener, announce
from croupier.store.engine import PULSE, Act, Deed, FactRow, Facts, Moment, Rows, Script, refusal, taken
from croupier.store.migrations import ASKED, judge, upgrade_on
from croupier.store.records import Hand, StoreDown, StoreError
from croupier.store.scripts import add_hand, hand_row, played_rows
from croupier.store.urls import PostgresPlace

FACTS = """INSERT INTO journal (room, "table", seq, fact, time)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::float8[])"""

HANDS = f"""WITH more AS (
    INSERT INTO hands (room, "table", number, time, players, record, summary)
    SELECT * FROM unnest($6::text[], $7::text[], $8::bigint[], $9::float8[], $10::text[], $11::text[], $12::text[])
), who AS (
    INSERT INTO played (player, room, "table", number)
    SELECT * FROM unnest($13::text[], $14::text[], $15::text[], $16::bigint[])
) {FACTS}"""  # noqa: S608 -- our own words
"""Facts, and the hands that they have ended."""

COLUMNS = ("room", "table", "seq", "fact", "time")
MANY = 16
"""To copy a fact takes a third less time than to insert it, but COPY begins with a round trip more."""

SETTINGS = {"application_name": "croupier", "synchronous_commit": "on", "timezone": "UTC"}
"""A commit returns when it is on the disk, also where the server would have it otherwise."""

READERS = 4
"""So many connections read at most."""

PORTION = 1000
"""So many rows are read at a time."""

CONNECTING = 10.0
"""How many seconds connecting may take."""

COMMAND = 30.0
"""How many seconds one statement may take; a server that says nothing for so long is lost."""

LOCK = 0x63726F7570696572
"""The number of the lock under which only one process upgrades: "croupier"."""

WRITERS = 0x726F7570
"""With another number, that of the lock which the writer of a store holds as long as the server knows of it."""

OTHERS = f"""SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
AND classid = {WRITERS} AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""  # noqa: S608 -- a number of ours
"""Whether any process has the store open."""

CLAIMS = 0x636C6169
"""With the hash of a name, the number of the lock of whoever has claimed it."""

LEAVING = 2.0
"""So many seconds the server may take to notice that the one who had a name is gone."""

END_FORMER = """SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
AND classid = $1::bigint::oid AND objid = $2::bigint::oid"""
"""A server may go on committing for a client that it does not know to be gone."""

TURNS = 5
"""How often a transaction is tried anew that another process's has stood in the way of."""

BROKEN = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""What asyncpg raises when a connection breaks; the last where it breaks between two messages."""

UNREACHABLE = (OSError, TimeoutError, *BROKEN)
"""What there is when a connection cannot be made, or breaks."""

UNFIT = (asyncpg.PostgresError, asyncpg.InterfaceError, UnicodeEncodeError)
"""The errors of what cannot be written, if the deed is to blame; others are mistakes in a script."""


class Postgres:
    """The engine of a database that is of this revision; `open_database` sees to that."""

    def __init__(self, place: PostgresPlace, clock: Callable[[], float]) -> None:
        self._place = place
        self._clock = clock
        self._key = (WRITERS, secrets.randbits(31))
        self._writer: Any = None
        self._pool: Any = None
        self._claims: list[Any] = []
        self._listener = Listener(self._dial)

    async def commit(self, deeds: Sequence[Deed]) -> Sequence[object]:
        """One statement if they are facts, else one transaction."""
        try:
            with self.explained():
                if self._writer.is_closed():  # the server was started anew while nobody wrote
                    await self._connect()
                for _ in range(TURNS):
                    with suppress(asyncpg.TransactionRollbackError):
                        return await self._commit(deeds)
                return await self._commit(deeds)
        except StoreDown:
            self._lose()
            raise

    async def revive(self) -> None:
        """Connect anew and write the pulse."""
        self._lose()
        try:
            with self.explained():
                await self._connect()
                await self._writer.execute(PULSE, self._clock())
        except StoreDown:
            self._lose()
            raise

    async def look(self) -> None:
        """See whether the connection that writes is still open; a database that is dropped or stopped closes it."""
        if not self._writer.is_closed():
            return
        try:
            with self.explained():
                await self._connect()
        except StoreDown:
            self._lose()
            raise

    async def fetch(self, sql: str, *arguments: object) -> Rows:
        """Ask over one of the connections that read."""
        with self.explained():
            async with (await self._readers()).acquire() as connection:
                found: Rows = await connection.fetch(sql, *arguments)
                return found

    @asynccontextmanager
    async def moment(self) -> AsyncIterator[Moment]:
        """A transaction that sees what was there when it began."""
        try:
            async with AsyncExitStack() as stack:
                with self.explained():
                    connection = await stack.enter_async_context((await self._readers()).acquire())
                    await stack.enter_async_context(connection.transaction(isolation="repeatable_read", readonly=True))
                    await connection.fetch("SELECT * FROM pulse")  # from this question on, time stands still
                yield _Moment(self, connection)
        except BROKEN as error:  # the end of the transaction was not heard
            raise StoreDown(f"{self._place}: {_told(error)}") from error

    async def faults(self) -> list[str]:
        """Settings of the server that make a commit less than durable."""
        found = await self.fetch(
            "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY name"
        )
        return [f"found {name} = off in the server's settings; allowed: on" for (name,) in found]

    async def backup(self, path: Path) -> None:
        """Copy all rows, as they are at one moment, into a new file of SQLite."""
        from croupier.store.copies import into_file

        async with self.moment() as moment:
            await into_file(moment, path)

    async def claim(self, name: str) -> None:
        """Lock the name over a connection of its own; the server lets go of it when that is closed."""
        with self.explained():
            connection = await self._dial()
            self._claims.append(connection)
            end = asyncio.get_running_loop().time() + LEAVING
            while not await connection.fetchval("SELECT pg_try_advisory_lock($1, hashtext($2))", CLAIMS, name):
                if asyncio.get_running_loop().time() > end:
                    raise taken(name, str(self._place))
                await asyncio.sleep(LEAVING / 20)

    def accounts_version(self) -> int | None:
        """How many announcements were heard."""
        return self._listener.version()

    async def watch_accounts(self) -> None:
        """Listen for announcements."""
        await self._listener.start()

    async def announce_accounts(self) -> None:
        """Announce that accounts have changed."""
        with self.explained():
            await announce(self._dial)

    async def close(self) -> None:
        """Close the connections."""
        await self._listener.close()
        for connection in (*self._claims, self._writer, self._pool):
            if connection is not None:
                with suppress(*UNREACHABLE):  # it is gone already
                    await asyncio.wait_for(connection.close(), CONNECTING)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise StoreDown for what there is when a connection breaks."""
        try:
            yield
        except UNREACHABLE as error:
            raise StoreDown(f"{self._place}: {_told(error)}") from error

    async def _dial(self) -> Any:
        """A connection of its own for something else than rows."""
        return await asyncpg.connect(self._place.url, timeout=CONNECTING, server_settings=SETTINGS)

    async def _connect(self) -> None:
        """Connect the writer anew, when the one before can commit no more: what was there last is there for good."""
        self._writer = await asyncpg.connect(
            self._place.url, timeout=CONNECTING, command_timeout=COMMAND, server_settings=SETTINGS
        )
        await self._writer.execute(END_FORMER, *self._key)
        await self._writer.execute("SELECT pg_advisory_lock($1, $2)", *self._key)

    def _lose(self) -> None:
        if self._writer is not None:
            self._writer.terminate()
            self._writer = None

    async def _readers(self) -> Any:
        if self._pool is None:
            self._pool = asyncpg.create_pool(
                self._place.url, min_size=0, max_size=READERS, timeout=CONNECTING, server_settings=SETTINGS
            )
        await self._pool  # the first time, it opens
        return self._pool

    async def _commit(self, deeds: Sequence[Deed]) -> Sequence[object]:
        try:
            return await _together(self._writer, deeds)
        except Exception as error:
            if not _is_the_deeds(error):
                raise
            return await _apart(self._writer, deeds)


class _Moment:
    def __init__(self, engine: Postgres, connection: Any) -> None:
        self._engine = engine
        self._connection = connection

    async def rows(self, sql: str, *arguments: object) -> AsyncIterator[Rows]:
        """Some rows at a time, over a cursor."""
        with self._engine.explained():
            cursor = await self._connection.cursor(sql, *arguments)
        while True:
            with self._engine.explained():
                found = await cursor.fetch(PORTION)
            if not found:
                return
            yield found


async def _together(connection: Any, deeds: Sequence[Deed]) -> Sequence[object]:
    """All deeds in one transaction, the facts first: nothing sees them before they are committed."""
    facts = [deed for deed in deeds if type(deed) is Facts]
    rows = [row for deed in facts for row in deed.rows]
    hands = [hand for deed in facts for hand in deed.hands]
    if len(facts) == len(deeds):
        await _insert(connection, rows, hands)  # one statement is a transaction
        return [None] * len(deeds)
    async with connection.transaction():
        await _insert(connection, rows, hands)
        return [await _run(connection, deed.script()) if type(deed) is Act else None for deed in deeds]


async def _apart(connection: Any, deeds: Sequence[Deed]) -> Sequence[object]:
    """All deeds in one transaction, but each for itself: what fails is taken back, and its neighbours stay."""
    outcomes: list[object] = []
    async with connection.transaction():
        for deed in deeds:
            try:
                async with connection.transaction():  # a savepoint
                    outcomes.append(await _do(connection, deed))
            except Exception as error:
                if not _is_the_deeds(error):
                    raise
                outcomes.append(refusal(deed, _told(error)) if isinstance(error, UNFIT) else error)
    return outcomes


async def _do(connection: Any, deed: Deed) -> object:
    if isinstance(deed, Act):
        return await _run(connection, deed.script())
    await _insert(connection, deed.rows)
    for hand in deed.hands:
        await _run(connection, add_hand(hand))
    return None


async def _run(connection: Any, script: Script[object]) -> object:
    try:
        sql, arguments = next(script)
        while True:
            sql, arguments = script.send(await connection.fetch(sql, *arguments))
    except StopIteration as end:
        return end.value


async def _insert(connection: Any, rows: Sequence[FactRow], hands: Sequence[Hand] = ()) -> None:
    """Facts and hands with one statement, if there are any."""
    if hands:
        played = [row for hand in hands for row in played_rows(hand)]
        tables: list[tuple[Sequence[Sequence[object]], int]] = [(rows, 5), ([*map(hand_row, hands)], 7), (played, 4)]
        await connection.execute(HANDS, *([row[at] for row in table] for table, width in tables for at in range(width)))
    elif len(rows) >= MANY:
        await connection.copy_records_to_table("journal", records=rows, columns=COLUMNS)
    elif rows:
        await connection.execute(FACTS, *zip(*rows, strict=True))


def _is_the_deeds(error: Exception) -> bool:
    """Whether what was to be written is to blame: data and integrity (SQLSTATE 22 and 23), or our own script."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "")[:2] in {"22", "23"}
    return isinstance(error, asyncpg.DataError) or not isinstance(error, UNREACHABLE)


def _told(error: BaseException) -> str:
    return str(error) or type(error).__name__


async def open_database(place: PostgresPlace, *, new: bool = True) -> None:
    """See to it that a store is at this place: make one if the database is empty. Raises StoreError, saying what is."""

    async def ask(connection: Any) -> str | None:
        try:
            found: str | None = await connection.fetchval(ASKED)
        except asyncpg.UndefinedTableError:
            return None
        return found

    revision = await reach(place, ask)
    if revision is None and new:
        await upgrade_database(place)
    else:
        judge(revision, str(place))


async def upgrade_database(place: PostgresPlace) -> None:
    """Make a store, or bring an older one to the last revision, all or nothing. Raises StoreError."""
    from sqlalchemy import text
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    await reach(place, lambda connection: connection.execute("SELECT 1"))
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(place.url, timeout=CONNECTING),
        poolclass=NullPool,
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
            await connection.run_sync(upgrade_on)
    except DBAPIError as error:
        raise StoreError(f"found {place}, which cannot be upgraded: {error.orig}") from error
    finally:
        await engine.dispose()


async def reach[T](place: PostgresPlace, work: Callable[[Any], Awaitable[T]]) -> T:
    """Do something over a connection of its own. Raises StoreError if the server cannot be reached."""
    try:
        connection = await asyncpg.connect(place.url, timeout=CONNECTING, command_timeout=COMMAND)
        try:
            return await work(connection)
        finally:
            await connection.close(timeout=CONNECTING)
    except (*UNREACHABLE, ValueError) as error:  # also of a URL that it cannot read
        raise StoreError(f"cannot reach {place}: {_told(error)}") from error
