"""Copies of a store: export as JSON lines, and a copy of all rows into a new SQLite file."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import msgspec
from sqlalchemy import Table

from croupier.store.engine import ReadTransaction, Rows
from croupier.store.migrations import REVISIONS, upgrade_file
from croupier.store.schema import ACCOUNTS, METADATA, PULSE
from croupier.store.sqlite_file import new_file

SECRET_COLUMNS = {ACCOUNTS.c.password, ACCOUNTS.c.skeleton}
"""Columns that are not exported: secret, or derived by an internal rule."""


async def export_rows(transaction: ReadTransaction, stream: BinaryIO, now: float) -> int:
    """Write every row as a line `{"TABLE": {COLUMN: VALUE, …}}` after a first line `{"store": …}`.

    Returns the number of rows. Password hashes are omitted; a backup has them. Facts and states are exported as JSON
    text, as stored.
    """
    encode = msgspec.json.Encoder().encode
    stream.write(encode({"store": {"revision": REVISIONS[-1], "time": now}}) + b"\n")
    lines = 0
    for table in METADATA.sorted_tables:
        if table is PULSE:
            continue
        columns = [column.name for column in table.columns]
        exported = [at for at, column in enumerate(table.columns) if column not in SECRET_COLUMNS]
        booleans = {column.name for column in table.columns if column.type.python_type is bool}
        async for rows in _read_rows(transaction, table):
            for row in rows:
                values = {columns[at]: row[at] for at in exported}
                values |= {name: bool(values[name]) for name in booleans}
                stream.write(encode({table.name: values}) + b"\n")
            lines += len(rows)
    return lines


async def copy_to_file(transaction: ReadTransaction, path: Path) -> None:
    """Copy every row into a new SQLite store. Raises OSError if the file cannot be created."""
    with new_file(path) as draft:
        await asyncio.to_thread(upgrade_file, draft)
        with closing(sqlite3.connect(draft, isolation_level=None, check_same_thread=False)) as copy:
            copy.execute("BEGIN")
            for table in METADATA.sorted_tables:
                marks = ", ".join("?" * len(table.columns))
                insert = f'INSERT INTO "{table.name}" VALUES ({marks})'  # noqa: S608 -- names from the schema
                async for rows in _read_rows(transaction, table):
                    await asyncio.to_thread(copy.executemany, insert, [tuple(row) for row in rows])
            copy.execute("COMMIT")


def _read_rows(transaction: ReadTransaction, table: Table) -> AsyncIterator[Rows]:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    order = ", ".join(f'"{column.name}"' for column in table.primary_key)
    return transaction.rows(f'SELECT {columns} FROM "{table.name}" ORDER BY {order}')  # noqa: S608 -- names from the schema
