"""The books copied out: as lines of JSON for other programs, or row by row into a file of SQLite."""

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
"""What is no business of other programs: it is secret, or derived by a rule of our own."""


async def export_rows(transaction: ReadTransaction, stream: BinaryIO, now: float) -> int:
    """Write every row as a line `{"TABLE": {COLUMN: VALUE, …}}`, the first of them `{"store": …}`: how many there are.

    Hashes of passwords are left out; a backup has them. Facts and states are the text that they are in the books.
    """
    encode = msgspec.json.Encoder().encode
    stream.write(encode({"store": {"revision": REVISIONS[-1], "time": now}}) + b"\n")
    lines = 0
    for table in METADATA.sorted_tables:
        if table is PULSE:
            continue
        columns = [column.name for column in table.columns]
        told = [place for place, column in enumerate(table.columns) if column not in SECRET_COLUMNS]
        truths = {column.name for column in table.columns if column.type.python_type is bool}
        async for rows in _read_rows(transaction, table):
            for row in rows:
                named = {columns[place]: row[place] for place in told}
                named |= {name: bool(named[name]) for name in truths}
                stream.write(encode({table.name: named}) + b"\n")
            lines += len(rows)
    return lines


async def copy_to_file(transaction: ReadTransaction, path: Path) -> None:
    """Write every row into a new file of SQLite, which is a store. Raises OSError for the file."""
    with new_file(path) as draft:
        await asyncio.to_thread(upgrade_file, draft)
        with closing(sqlite3.connect(draft, isolation_level=None, check_same_thread=False)) as copy:
            copy.execute("BEGIN")
            for table in METADATA.sorted_tables:
                marks = ", ".join("?" * len(table.columns))
                insert = f'INSERT INTO "{table.name}" VALUES ({marks})'  # noqa: S608 -- names of ours
                async for rows in _read_rows(transaction, table):
                    await asyncio.to_thread(copy.executemany, insert, [tuple(row) for row in rows])
            copy.execute("COMMIT")


def _read_rows(moment: ReadTransaction, table: Table) -> AsyncIterator[Rows]:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    order = ", ".join(f'"{column.name}"' for column in table.primary_key)
    return moment.rows(f'SELECT {columns} FROM "{table.name}" ORDER BY {order}')  # noqa: S608 -- names of ours
