"""Restores a backup into a store, atomically, and only if no other program has the store open."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from croupier.store.engine import FETCH_ROWS, Rows
from croupier.store.migrations import check_revision
from croupier.store.records import StoreError
from croupier.store.schema import PULSE, Table, tables
from croupier.store.sqlite_file import connect, connect_read_only, new_file, open_file, read_revision, translate_errors
from croupier.store.store import import_postgres, upgrade_store
from croupier.store.urls import AnyStoreLocation, PostgresLocation, SqliteLocation, parse_location

LOCK_TIMEOUT = "5s"
"""The time that PostgreSQL waits for other programs to release their locks on the tables."""


async def restore_store(file: Path, location: str | None = None, *, force: bool = False) -> AnyStoreLocation:
    """Restore a backup into a store, which is created if it does not exist; returns its location.

    A store that is not empty is replaced only if `force` is set. Raises StoreError, which leaves the store unchanged.
    """
    target = parse_location(location)
    if isinstance(target, SqliteLocation):
        await asyncio.to_thread(_restore_file, file, target, force=force)
        return target
    import_postgres()
    with _open_backup(file) as source:
        await upgrade_store(location)
        await _restore_database(source, target, force=force)
    return target


@contextmanager
def _open_backup(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a backup for reading. Raises StoreError if the file is not a backup, or if it is damaged."""
    with translate_errors(file):
        if not file.is_file():
            raise StoreError(f"found no file {file}; allowed: one that `croupier db backup` wrote")
        with closing(connect_read_only(file)) as source:
            check_revision(read_revision(source), str(file))
            results = [str(row[0]) for row in source.execute("PRAGMA integrity_check")]
            if results != ["ok"]:
                raise StoreError(f"found {file}, which is damaged: {results[0]}; allowed: a whole backup")
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
            if not force and any(store.execute(sql).fetchone() for sql in _any_row_queries()):
                raise not_empty_error(target)
            source.backup(store)


def _lock_exclusively(store: sqlite3.Connection, target: SqliteLocation) -> None:
    """Lock the file until the connection is closed. Raises StoreError if another program has it open."""
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
    from asyncpg import LockNotAvailableError  # type: ignore[import-untyped]  # it is untyped

    from croupier.store.postgres import STORE_IN_USE_SQL, run_on_connection

    async def work(connection: Any) -> None:
        try:
            await replace(connection)
        except LockNotAvailableError as error:
            raise in_use_error(target) from error

    async def replace(connection: Any) -> None:
        async with connection.transaction():
            names = ", ".join(f'"{table.name}"' for table in tables())
            await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            if await connection.fetchval(STORE_IN_USE_SQL):
                raise in_use_error(target)
            await connection.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            if not force and any([await connection.fetchrow(sql) for sql in _any_row_queries()]):
                raise not_empty_error(target)
            await connection.execute(f"TRUNCATE {names}")
            for table in tables():
                await _copy_table(connection, table, source)

    await run_on_connection(target, work)


async def _copy_table(connection: Any, table: Table, source: sqlite3.Connection) -> None:
    columns = ", ".join(f'"{name}"' for name in table.columns)
    cursor = source.execute(f'SELECT {columns} FROM "{table.name}"')  # noqa: S608 -- names from the schema
    while rows := await asyncio.to_thread(cursor.fetchmany, FETCH_ROWS):
        await connection.copy_records_to_table(table.name, records=_with_booleans(rows, table), columns=table.columns)
    if table.key == ("id",) and table.name != PULSE:
        last = f'(SELECT MAX(id) FROM "{table.name}")'  # noqa: S608 -- names from the schema
        sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
        await connection.execute(f"SELECT setval({sequence}, COALESCE({last}, 1), {last} IS NOT NULL)")


def _with_booleans(rows: Rows, table: Table) -> Rows:
    """Convert the booleans of SQLite rows, which are numbers, for PostgreSQL."""
    if not table.boolean_columns:
        return rows
    is_boolean = [column in table.boolean_columns for column in table.columns]
    return [[bool(value) if flag else value for value, flag in zip(row, is_boolean, strict=True)] for row in rows]


def _any_row_queries() -> list[str]:
    """Queries for a row of each table that is empty in an empty store."""
    return [f'SELECT 1 FROM "{table.name}" LIMIT 1' for table in tables() if table.name != PULSE]  # noqa: S608 -- names from the schema


def not_empty_error(target: AnyStoreLocation) -> StoreError:
    """The error for a store that is not empty."""
    return StoreError(f"found {target}, which is not empty; allowed: an empty store, or --force, which replaces it")


def in_use_error(target: AnyStoreLocation) -> StoreError:
    """The error for a store that another program has open."""
    return StoreError(f"another program has {target} open; stop it first")
