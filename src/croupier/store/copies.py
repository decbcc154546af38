"""Copies of a store: export as JSON lines, and a copy of all rows into a new SQLite file."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import msgspec

from croupier.store.engine import ReadTransaction, Rows
from croupier.store.migrations import REVISIONS
from croupier.store.records import SIGNING_KEYS
from croupier.store.schema import PULSE, Table, tables
from croupier.store.sqlite_file import insert_sql, new_file, upgrade_file

SECRET_COLUMNS = {("accounts", "password"), ("accounts", "skeleton")}
"""Columns that are not exported: secret, or derived by an internal rule."""

SECRET_ROWS = {("snapshots", *SIGNING_KEYS)}
"""Rows that are not exported: who knows the keys can forge the cookies of the web app."""


async def export_rows(transaction: ReadTransaction, stream: BinaryIO, now: float) -> int:
    """Write every row as a line `{"TABLE": {COLUMN: VALUE, …}}` after a first line `{"store": …}`.

    Returns the number of rows. Password hashes and the keys of the web app are omitted; a backup has them. Facts and
    states are exported as JSON text, as stored.
    """
    encode = msgspec.json.Encoder().encode
    stream.write(encode({"store": {"revision": REVISIONS[-1], "time": now}}) + b"\n")
    lines = 0
    for table in tables():
        if table.name == PULSE:
            continue
        async for rows in _read_rows(transaction, table):
            exported = [row for row in rows if (table.name, *row[:2]) not in SECRET_ROWS]
            for row in exported:
                values = {
                    column: _exported_value(value, is_boolean=column in table.boolean_columns)
                    for column, value in zip(table.columns, row, strict=True)
                    if (table.name, column) not in SECRET_COLUMNS
                }
                stream.write(encode({table.name: values}) + b"\n")
            lines += len(exported)
    return lines


def _exported_value(value: object, *, is_boolean: bool) -> object:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return bool(value) if is_boolean else value


async def copy_to_file(transaction: ReadTransaction, path: Path) -> None:
    """Copy every row into a new SQLite store. Raises OSError if the file cannot be created."""
    with new_file(path) as draft:
        await asyncio.to_thread(upgrade_file, draft)
        with closing(sqlite3.connect(draft, isolation_level=None, check_same_thread=False)) as copy:
            copy.execute("BEGIN")
            for table in tables():
                insert = insert_sql(table.name, len(table.columns))
                async for rows in _read_rows(transaction, table):
                    await asyncio.to_thread(copy.executemany, insert, [tuple(row) for row in rows])
            copy.execute("COMMIT")


def _read_rows(transaction: ReadTransaction, table: Table) -> AsyncIterator[Rows]:
    columns, key = (", ".join(f'"{name}"' for name in names) for names in (table.columns, table.key))
    return transaction.rows(f'SELECT {columns} FROM "{table.name}" ORDER BY {key}')  # noqa: S608 -- names from the schema
