"""Migrations of the store's schema: scripts that either engine runs in one transaction."""

from collections.abc import Callable, Sequence
from typing import Final

from croupier.core.usernames import skeleton
from croupier.store.engine import StatementGenerator
from croupier.store.records import StoreError
from croupier.store.schema import SQLITE, Dialect, schema_statements

REVISIONS: Final = ("0001", "0002", "0003")
"""All revisions, oldest first; only a store of the last one can be opened."""

REVISION_SQL: Final = "SELECT version_num FROM alembic_version"
"""Selects the revision of a store."""


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


def upgrade(dialect: Dialect) -> StatementGenerator[None]:
    """Migrate a database to the last revision. An empty database becomes an empty store.

    Raises StoreError if the database has other tables, or if a newer version of croupier created it.
    """
    names = [row[0] for row in (yield dialect.table_names_sql, ())]
    if "alembic_version" in names:
        revision = (yield REVISION_SQL, ())[0][0]
        if revision not in REVISIONS:
            check_revision(revision, "a store")
        for migrate in MIGRATIONS[REVISIONS.index(revision) :]:
            yield from migrate(dialect)
        yield "UPDATE alembic_version SET version_num = $1", (REVISIONS[-1],)
    else:
        if names:
            raise StoreError(f"found a database with the table {names[0]!r}; allowed: a store, or an empty one")
        for statement in schema_statements(dialect):
            yield statement, ()
        yield "INSERT INTO alembic_version (version_num) VALUES ($1)", (REVISIONS[-1],)


def _add_skeletons(dialect: Dialect) -> StatementGenerator[None]:
    """0002: new names cannot look like existing ones. Of existing names that look alike the first gets the skeleton."""
    yield f"ALTER TABLE accounts ADD COLUMN skeleton {dialect.name}", ()
    seen: set[str] = set()
    for number, name in (yield "SELECT id, name FROM accounts WHERE NOT house ORDER BY id", ()):
        if ":" not in name and (alike := skeleton(name)) not in seen:
            seen.add(alike)
            yield "UPDATE accounts SET skeleton = $2 WHERE id = $1", (number, alike)
    yield "CREATE UNIQUE INDEX accounts_skeleton ON accounts (skeleton)", ()


BYTES_COLUMNS: Final = (
    ("journal", "fact", 'room, "table", seq, CAST(fact AS BLOB), time'),
    ("snapshots", "state", 'room, "table", seq, CAST(state AS BLOB), time'),
    ("matches", "result", "id, room, time, players, CAST(result AS BLOB)"),
)
"""The columns of revision 0003 with bytes: the table, the column, and all columns, converted, for SQLite."""


def _store_bytes(dialect: Dialect) -> StatementGenerator[None]:
    """0003: what the program has as bytes is stored as bytes. SQLite cannot change a column, but copy the table."""
    if dialect is not SQLITE:
        for table, column, _ in BYTES_COLUMNS:
            yield f"ALTER TABLE {table} ALTER COLUMN {column} TYPE bytea USING convert_to({column}, 'UTF8')", ()
        yield "ALTER TABLE pulse ALTER COLUMN id TYPE integer", ()  # as in SQLite
        return
    for table, column, converted in BYTES_COLUMNS:
        definition = (yield "SELECT sql FROM sqlite_schema WHERE name = $1", (table,))[0][0]
        yield f"ALTER TABLE {table} RENAME TO old_{table}", ()
        yield definition.replace(f"{column} TEXT", f"{column} BLOB"), ()
        yield f"INSERT INTO {table} SELECT {converted} FROM old_{table} ORDER BY rowid", ()  # noqa: S608 -- constants
        yield f"DROP TABLE old_{table}", ()


MIGRATIONS: Final[Sequence[Callable[[Dialect], StatementGenerator[None]]]] = (_add_skeletons, _store_bytes)
"""Each one makes a store of the next revision."""
