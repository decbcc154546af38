"""A backup brought back into a store: all of it or nothing, and never under a program that has the store open."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from croupier.store.engine import Rows
from croupier.store.migrations import check_revision
from croupier.store.records import StoreError
from croupier.store.schema import METADATA, PULSE
from croupier.store.sqlite_file import connect, connect_read_only, new_file, open_file, read_revision, translate_errors
from croupier.store.store import missing_driver_error, upgrade_store
from croupier.store.urls import AnyStoreLocation, PostgresLocation, SqliteLocation, parse_location

FETCH_ROWS = 1000
"""At most this many rows are read from a backup at a time."""

LOCK_TIMEOUT = "5s"
"""How long PostgreSQL waits for other programs to let go of the tables."""

DATA_TABLES: Sequence[Table] = [table for table in METADATA.sorted_tables if table is not PULSE]
"""The tables that make a store empty when they are, in an order in which they can be filled."""


async def restore_store(file: Path, location: str | None = None, *, force: bool = False) -> AnyStoreLocation:
    """Put what is in a backup into a store, which is set up if nothing is there: where it is.

    A store that is not empty is replaced only with `force`. Raises StoreError, and then the store is as it was.
    """
    found = parse_location(location)
    if isinstance(found, SqliteLocation):
        await asyncio.to_thread(_restore_file, file, found, force=force)
        return found
    try:
        import asyncpg  # type: ignore[import-untyped]  # noqa: F401 -- the driver is there
    except ModuleNotFoundError as error:
        raise missing_driver_error(error) from None
    with _open_backup(file) as source:
        await upgrade_store(location)
        await _restore_database(source, found, force=force)
    return found


@contextmanager
def _open_backup(file: Path) -> Iterator[sqlite3.Connection]:
    """A backup, to be read. Raises StoreError for what is none, or is damaged."""
    with translate_errors(file):
        if not file.is_file():
            raise StoreError(f"found no file {file}; allowed: one that `croupier db backup` wrote")
        with closing(connect_read_only(file)) as source:
            check_revision(read_revision(source), str(file))
            found = [str(row[0]) for row in source.execute("PRAGMA integrity_check")]
            if found != ["ok"]:
                raise StoreError(f"found {file}, which is damaged: {found[0]}; allowed: a whole backup")
            yield source


def _restore_file(file: Path, target: SqliteLocation, *, force: bool) -> None:
    with _open_backup(file) as source, translate_errors(target.path):
        if not target.path.exists():
            target.path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(target.path) as draft, closing(sqlite3.connect(draft)) as copy:
                source.backup(copy)
            return
        if file.samefile(target.path):
            raise StoreError(f"found {file} as the backup and as the store; allowed: two files")
        open_file(target)
        with closing(connect(target.path)) as store:
            _lock_exclusively(store, target)
            if not force and any(store.execute(_any_row_sql(table)).fetchone() for table in DATA_TABLES):
                raise not_empty_error(target)
            source.backup(store)


def _lock_exclusively(store: sqlite3.Connection, target: SqliteLocation) -> None:
    """Keep all others away until the connection is closed. Raises StoreError where somebody has it open already."""
    store.execute("PRAGMA busy_timeout = 0")
    store.execute("PRAGMA locking_mode = EXCLUSIVE")
    try:
        mode = store.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise in_use_error(target) from error
    if mode != "delete":
        raise in_use_error(target)
    store.execute("BEGIN EXCLUSIVE")
    store.execute("COMMIT")


async def _restore_database(source: sqlite3.Connection, target: PostgresLocation, *, force: bool) -> None:
    from asyncpg import LockNotAvailableError

    from croupier.store.postgres import STORE_IN_USE_SQL, run_on_connection

    async def work(connection: Any) -> None:
        try:
            await replace(connection)
        except LockNotAvailableError as error:
            raise in_use_error(target) from error

    async def replace(connection: Any) -> None:
        async with connection.transaction():
            names = ", ".join(f'"{table.name}"' for table in METADATA.sorted_tables)
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            if await connection.fetchval(STORE_IN_USE_SQL):
                raise in_use_error(target)
            await connection.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            if not force and any([await connection.fetchrow(_any_row_sql(table)) for table in DATA_TABLES]):
                raise not_empty_error(target)
            await connection.execute(f"TRUNCATE {names}")
            for table in METADATA.sorted_tables:
                await _copy_table(connection, table, source)

    await run_on_connection(target, work)


async def _copy_table(connection: Any, table: Table, source: sqlite3.Connection) -> None:
    """All rows of a table of a backup, and its numbers go on after the last one."""
    columns = [column.name for column in table.columns]
    truths = [at for at, column in enumerate(table.columns) if column.type.python_type is bool]
    cursor = source.execute(f'SELECT {", ".join(f'"{name}"' for name in columns)} FROM "{table.name}"')  # noqa: S608 -- names of ours
    while rows := await asyncio.to_thread(cursor.fetchmany, FETCH_ROWS):
        await connection.copy_records_to_table(table.name, records=_with_booleans(rows, truths), columns=columns)
    numbered = table.autoincrement_column
    if numbered is not None:
        last = f'(SELECT MAX("{numbered.name}") FROM "{table.name}")'  # noqa: S608 -- names of ours
        sequence = f"pg_get_serial_sequence('{table.name}', '{numbered.name}')"
        await connection.execute(f"SELECT setval({sequence}, COALESCE({last}, 1), {last} IS NOT NULL)")


def _with_booleans(rows: Rows, boolean_columns: Sequence[int]) -> Rows:
    """Rows of SQLite, where what is true or false is a number, as PostgreSQL takes them."""
    return (
        [[bool(value) if at in boolean_columns else value for at, value in enumerate(row)] for row in rows]
        if boolean_columns
        else rows
    )


def _any_row_sql(table: Table) -> str:
    return f'SELECT 1 FROM "{table.name}" LIMIT 1'  # noqa: S608 -- names of ours


def not_empty_error(target: AnyStoreLocation) -> StoreError:
    """What to say of a store that something is in."""
    return StoreError(f"found {target}, which is not empty; allowed: an empty store, or --force, which replaces it")


def in_use_error(target: AnyStoreLocation) -> StoreError:
    """What to say of a store that another program has open."""
    return StoreError(f"another program has {target} open; stop it first")
