"""The schema of a store, for SQLite and PostgreSQL."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

from msgspec import Struct


class Dialect(Struct, frozen=True):
    """The differences between the SQL of the two engines.

    `begin` begins a transaction that writes. `table_names_sql` selects the names of the tables of a database. The rest
    are words that the schema has in braces.
    """

    begin: str
    table_names_sql: str
    id: str
    """An id that the database assigns."""

    name: str
    """Text that is looked up and sorted, bytewise on both engines, whatever the locale of the server."""

    bytes: str
    sorted: str
    """For a table whose rows are stored in the order of the key."""


SQLITE: Final = Dialect(
    begin="BEGIN IMMEDIATE",
    table_names_sql="SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    id="INTEGER",
    name="TEXT",
    bytes="BLOB",
    sorted=" WITHOUT ROWID",
)
POSTGRESQL: Final = Dialect(
    begin="BEGIN",
    table_names_sql="SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
    id="BIGSERIAL",
    name='TEXT COLLATE "C"',
    bytes="BYTEA",
    sorted="",
)

PULSE: Final = "pulse"
"""A table of a single row, written to test whether the store is writable."""

SCHEMA: Final = """
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY
);
CREATE TABLE accounts (
    id {id} NOT NULL PRIMARY KEY,
    name {name} NOT NULL,
    house BOOLEAN NOT NULL,
    password TEXT,
    created DOUBLE PRECISION NOT NULL,
    closed DOUBLE PRECISION,
    balance BIGINT NOT NULL,
    skeleton {name},
    CONSTRAINT accounts_name UNIQUE (name, house),
    CONSTRAINT accounts_balance CHECK (house OR balance >= 0)
);
CREATE TABLE transfers (
    id {id} NOT NULL PRIMARY KEY,
    key {name},
    time DOUBLE PRECISION NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT transfers_key UNIQUE (key)
);
CREATE TABLE entries (
    transfer BIGINT NOT NULL CONSTRAINT entries_transfer REFERENCES transfers (id),
    account BIGINT NOT NULL CONSTRAINT entries_account REFERENCES accounts (id),
    coins BIGINT NOT NULL,
    PRIMARY KEY (transfer, account)
){sorted};
CREATE INDEX entries_statement ON entries (account, transfer);
CREATE TABLE journal (
    room {name} NOT NULL,
    "table" {name} NOT NULL,
    seq BIGINT NOT NULL,
    fact {bytes} NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (room, "table", seq)
);
CREATE TABLE snapshots (
    room {name} NOT NULL,
    "table" {name} NOT NULL,
    seq BIGINT NOT NULL,
    state {bytes} NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (room, "table")
);
CREATE TABLE hands (
    room {name} NOT NULL,
    "table" {name} NOT NULL,
    number BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    players TEXT NOT NULL,
    record TEXT NOT NULL,
    summary TEXT NOT NULL,
    PRIMARY KEY (room, "table", number)
);
CREATE INDEX hands_time ON hands (time);
CREATE TABLE played (
    player {name} NOT NULL,
    room {name} NOT NULL,
    "table" {name} NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (player, room, "table", number)
){sorted};
CREATE TABLE matches (
    id {id} NOT NULL PRIMARY KEY,
    room {name} NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    players TEXT NOT NULL,
    result {bytes} NOT NULL
);
CREATE TABLE pulse (
    id INTEGER NOT NULL PRIMARY KEY,
    time DOUBLE PRECISION NOT NULL
);
CREATE UNIQUE INDEX accounts_skeleton ON accounts (skeleton)"""
"""Writes rely on the order of the columns: facts, hands and copies are inserted as complete rows.

accounts: `skeleton` is the same for names that look alike (see `usernames.skeleton`), NULL for accounts without login.
`balance` is derived: it is the sum of the account's entries, updated with them and verified by `croupier db check`.
entries: the double-entry ledger; the coins of each transfer sum to 0.
journal: in SQLite this is a rowid table: facts are long, so they stay in insertion order and only the key is sorted.
snapshots: only the latest snapshot of each table is kept.
hands: `players` is a JSON array of names, in the order of their seats.
matches: unused so far.
played: the hands of each player, an index of `hands.players`.
alembic_version: the revision, under the name that it had when Alembic made the migrations: older versions look there.
"""


class Table(Struct, frozen=True):
    """A table of the schema, without that of the revision."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    """The primary key."""

    boolean_columns: frozenset[str]
    """Booleans, which SQLite returns as 0 or 1."""


def schema_statements(dialect: Dialect) -> Sequence[str]:
    """The statements that create the schema in an empty database."""
    words = {"id": dialect.id, "name": dialect.name, "bytes": dialect.bytes, "sorted": dialect.sorted}
    return SCHEMA.format(**words).split(";")


@cache
def tables() -> Sequence[Table]:
    """The tables, in an order that satisfies the foreign keys, as SQLite understands the schema."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(";".join(schema_statements(SQLITE)))
        rows = database.execute(
            """SELECT t.name, c.name, c.type, c.pk FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.name <> 'alembic_version' ORDER BY t.rowid, c.cid"""
        ).fetchall()
    return [_table(name, [row[1:] for row in columns]) for name, columns in groupby(rows, itemgetter(0))]


def _table(name: str, columns: Sequence[tuple[str, str, int]]) -> Table:
    """Make a table from the name, the type and the number in the key (from 1, or 0) of each column."""
    key = sorted((number, column) for column, _, number in columns if number)
    booleans = frozenset(column for column, kind, _ in columns if kind == "BOOLEAN")
    return Table(name, tuple(column for column, _, _ in columns), tuple(column for _, column in key), booleans)
