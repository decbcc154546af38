"""Migrations of the store's schema, run by Alembic.

Alembic is imported only if there is something to migrate, so that a server opens an up-to-date store without delay.
"""

import sqlite3
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from croupier.store.records import StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

REVISIONS = ("0001", "0002")
"""All revisions, oldest first; only a store of the last one can be opened."""

REVISION_SQL = "SELECT version_num FROM alembic_version"
"""Selects the revision of a store."""

_UPGRADE_LOCK = Lock()
"""Alembic's context is global to the process, not local to a thread."""


def check_revision(revision: str | None, store_name: str) -> None:
    """Check that a store has the last revision. Raises StoreError, in which the store is called `store_name`."""
    if revision == REVISIONS[-1]:
        return
    if revision is not None and revision not in REVISIONS:
        raise StoreError(
            f"found {store_name} of revision {revision}, which a newer croupier has made; allowed: {REVISIONS[-1]}"
        )
    found = "without a schema" if revision is None else f"of revision {revision}"
    raise StoreError(f"found {store_name} {found}; allowed: {REVISIONS[-1]}, which `croupier db upgrade` makes of it")


def upgrade_file(path: Path) -> None:
    """Migrate an SQLite file to the last revision, atomically. Raises StoreError and sqlite3.Error."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import NullPool

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(path, timeout=10, autocommit=False)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    try:
        with _UPGRADE_LOCK, engine.begin() as connection:
            upgrade_connection(connection)
    except DBAPIError as error:
        raise error.orig or error from None


def upgrade_connection(connection: "Connection") -> None:
    """Migrate a database to the last revision, in the transaction of this connection.

    An empty database becomes an empty store. Raises StoreError if the database has other tables, or if a newer version
    of croupier created it.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from sqlalchemy import inspect

    revision = MigrationContext.configure(connection).get_current_revision()
    if revision is None:
        if tables := inspect(connection).get_table_names():
            raise StoreError(f"found a database with the table {tables[0]!r}; allowed: a store, or an empty one")
    elif revision not in REVISIONS:
        check_revision(revision, "a store")
    config = Config()
    config.set_main_option("script_location", "croupier.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
