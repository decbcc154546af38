"""SQLite files of stores: creation, migration, opening, and running of scripts."""

import os
import re
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import batched, chain
from pathlib import Path
from urllib.parse import quote

from croupier.store.batches import run_in_transaction
from croupier.store.engine import Facts, Insert, Query, StatementGenerator
from croupier.store.migrations import REVISION_SQL, check_revision, upgrade
from croupier.store.records import StoreError
from croupier.store.schema import SQLITE
from croupier.store.scripts import make_insert
from croupier.store.urls import SqliteLocation

BUSY_TIMEOUT_SECONDS = 5.0
"""The time to wait for another process that writes to the same file."""

MAX_INSERT_ROWS = 64
"""Rows inserted by one statement. While it runs, the event loop has the interpreter to itself."""

CHECKPOINT_PAGES = 8000

CONNECTION_PRAGMAS = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
PRAGMA journal_size_limit = 67108864;
"""
"""With synchronous = FULL, a commit returns only when it is on disk, also in WAL mode. A checkpoint happens at a log
size of 32 MB: many commits change the same pages, which are then written to the file only once."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection to an existing store: autocommit, durable, and usable in any thread, one at a time."""
    connection = _connect(path)
    try:
        connection.executescript(CONNECTION_PRAGMAS)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"  # mode=rw: do not create the file
    return sqlite3.connect(uri, timeout=BUSY_TIMEOUT_SECONDS, uri=True, isolation_level=None, check_same_thread=False)


def set_writer_patience(connection: sqlite3.Connection, *, is_patient: bool) -> None:
    """Set whether commits wait for other processes, and checkpoint the log when it is long. Both take long."""
    connection.execute(f"PRAGMA busy_timeout = {round(BUSY_TIMEOUT_SECONDS * 1000) if is_patient else 0}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES if is_patient else 0}")


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a read-only connection, usable in any thread, one at a time."""
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, check_same_thread=False)


def open_file(location: SqliteLocation, *, create: bool = True) -> None:
    """Check that the file is a store of the last revision, and create a missing file if `create` is set.

    Raises StoreError for anything else.
    """
    path = location.path
    with translate_errors(path):
        if not path.exists() or path.stat().st_size == 0:
            if not create:
                raise StoreError(f"found nothing at {path}; allowed: a store of croupier")
            _make_store(path)
        with closing(_connect(path)) as connection:
            revision = read_revision(connection)
    check_revision(revision, str(path))


def upgrade_store_file(location: SqliteLocation) -> None:
    """Create a store, or migrate an older one to the last revision. Raises StoreError."""
    with translate_errors(location.path):
        _make_store(location.path)


def execute(connection: sqlite3.Connection, query: Query) -> sqlite3.Cursor:
    """Run a query with parameters $1, $2, …."""
    sql, arguments = query
    return connection.execute(_to_sqlite_sql(sql), arguments)


def run_statements[T](connection: sqlite3.Connection, statements: StatementGenerator[T]) -> T:
    """Run a script."""
    try:
        statement = next(statements)
        while True:
            try:
                if isinstance(statement, Insert):
                    rows = []
                    insert_rows(connection, statement)
                else:
                    rows = execute(connection, statement).fetchall()
            except Exception as error:
                statement = statements.throw(error)
            else:
                statement = statements.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


def insert_facts(facts: Facts, connection: sqlite3.Connection) -> None:
    """Insert facts and hands, all or none. A single fact, which is the usual case, needs no transaction."""
    if len(facts.rows) == 1 and not facts.hands:
        connection.execute(insert_sql("journal", len(facts.rows[0])), facts.rows[0])
    else:
        insert_rows(connection, make_insert([facts]))


def insert_rows(connection: sqlite3.Connection, insert: Insert) -> None:
    """Insert rows: with one statement, with several in the current transaction, or in one of their own."""
    statements = [
        (insert_sql(table, len(rows[0]), len(rows)), [*chain.from_iterable(rows)])
        for table, all_rows in insert.rows.items()
        for rows in batched(all_rows, MAX_INSERT_ROWS)
    ]
    if len(statements) == 1 or connection.in_transaction:
        for sql, values in statements:
            connection.execute(sql, values)
    else:
        connection.execute(SQLITE.begin)
        with connection:
            for sql, values in statements:
                connection.execute(sql, values)


@cache
def insert_sql(table: str, width: int, count: int = 1) -> str:
    """SQL that inserts `count` rows of `width` columns."""
    row = f"({', '.join('?' * width)})"
    return f'INSERT INTO "{table}" VALUES {", ".join([row] * count)}'  # noqa: S608 -- names from the schema


@cache
def _to_sqlite_sql(text: str) -> str:
    return re.sub(r"\$(\d+)", r"?\1", text)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise StoreError instead of sqlite3.Error and OSError."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"found {path}, which cannot be opened: {error}; allowed: a store of croupier") from error
    except OSError as error:
        raise StoreError(f"cannot make a store at {path}: {error.strerror}") from error


def read_revision(connection: sqlite3.Connection) -> str | None:
    """The revision of a store, None if the database is not a store."""
    try:
        row = connection.execute(REVISION_SQL).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # no such table
            return None
        raise
    return str(row[0]) if row else None


def _make_store(path: Path) -> None:
    """Migrate a file to the last revision; a missing file is created atomically."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), new_file(path) as file:  # another process may have created it
            upgrade_file(file)
            connect(file).close()  # now it has a write-ahead log; two processes cannot change to one at the same time
    upgrade_file(path)


def upgrade_file(path: Path) -> None:
    """Migrate a file to the last revision, atomically. Raises StoreError and sqlite3.Error."""
    with closing(_connect(path)) as connection:
        run_statements(connection, run_in_transaction(upgrade(SQLITE), SQLITE))


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Create a file atomically: write to the yielded draft, which gets the name `path` at the end.

    Only the owner may read the file. Raises OSError, and FileExistsError if `path` exists.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield draft
        path.hardlink_to(draft)
    finally:
        draft.unlink()
