"""The file of a store of SQLite: made, brought to the last revision, and opened."""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from croupier.store.migrations import REVISION_SQL, check_revision, upgrade_file
from croupier.store.records import StoreError
from croupier.store.urls import SqliteLocation

BUSY_TIMEOUT_SECONDS = 5.0
"""How many seconds are waited for another process that writes to the same file."""

CONNECTION_PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA wal_autocheckpoint = 8000;
PRAGMA journal_size_limit = 67108864;
"""
"""FULL: a commit returns when it is on the disk, also in WAL mode. The file is written to when the log has 32 MB: the
pages of the tables that are played at are the same in many commits, and go there once."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a store that is there: autocommit, durable, and for any thread, one at a time."""
    connection = _connect(path)
    try:
        connection.executescript(CONNECTION_PRAGMAS)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode=rw"  # what is not there is not made
    return sqlite3.connect(uri, timeout=BUSY_TIMEOUT_SECONDS, uri=True, isolation_level=None, check_same_thread=False)


def connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, for any thread, one at a time."""
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, check_same_thread=False)


def open_file(location: SqliteLocation, *, create: bool = True) -> None:
    """See to it that a store is at this place: make one if nothing is there. Raises StoreError, which says what is."""
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
    """Make a store, or bring an older one to the last revision. Raises StoreError."""
    with translate_errors(location.path):
        _make_store(location.path)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise StoreError for what SQLite or the system says of a file."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"found {path}, which cannot be opened: {error}; allowed: a store of croupier") from error
    except OSError as error:
        raise StoreError(f"cannot make a store at {path}: {error.strerror}") from error


def read_revision(connection: sqlite3.Connection) -> str | None:
    """The revision of a store, None for what is none."""
    try:
        found = connection.execute(REVISION_SQL).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # there is no such table
            return None
        raise
    return str(found[0]) if found else None


def _make_store(path: Path) -> None:
    """Make a store of what is there; where nothing is, it is there as a whole or not at all."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), new_file(path) as file:  # another process may have been faster
            upgrade_file(file)
    upgrade_file(path)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A file that only its owner may read, and which has its name when all is written. Raises OSError.

    FileExistsError: something is there already.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield draft
        path.hardlink_to(draft)
    finally:
        draft.unlink()
