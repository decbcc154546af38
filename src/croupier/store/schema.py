"""The schema of a store, for SQLite and PostgreSQL.

Migrations create it; a test compares their result with these definitions.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""Ids assigned by the database; SQLite does this only for INTEGER columns."""

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that is looked up and sorted, bytewise as in SQLite, whatever the locale of the server."""

ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("name", NAME, nullable=False),
    Column("house", Boolean, nullable=False),
    Column("password", Text),
    Column("created", Double, nullable=False),
    Column("closed", Double),
    Column("balance", BigInteger, nullable=False),
    Column("skeleton", NAME),
    UniqueConstraint("name", "house", name="accounts_name"),
    CheckConstraint("house OR balance >= 0", name="accounts_balance"),
    Index("accounts_skeleton", "skeleton", unique=True),
)
"""`skeleton` is the same for names that look alike (see `usernames.skeleton`), NULL for accounts without login.

`balance` is derived: it is the sum of the account's entries, updated with them and verified by `croupier db check`."""

TRANSFERS = Table(
    "transfers",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("key", NAME),
    Column("time", Double, nullable=False),
    Column("reason", Text, nullable=False),
    UniqueConstraint("key", name="transfers_key"),
)
ENTRIES = Table(
    "entries",
    METADATA,
    Column("transfer", BigInteger, ForeignKey("transfers.id", name="entries_transfer"), primary_key=True),
    Column("account", BigInteger, ForeignKey("accounts.id", name="entries_account"), primary_key=True),
    Column("coins", BigInteger, nullable=False),
    Index("entries_statement", "account", "transfer"),
    sqlite_with_rowid=False,
)
"""The double-entry ledger: the coins of each transfer sum to 0."""

JOURNAL = Table(
    "journal",
    METADATA,
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("fact", Text, nullable=False),
    Column("time", Double, nullable=False),
)
"""In SQLite this is a rowid table: facts are long, so they stay in insertion order and only the key is sorted."""

SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("time", Double, nullable=False),
)
"""Only the latest snapshot of each table is kept."""

HANDS = Table(
    "hands",
    METADATA,
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("players", Text, nullable=False),
    Column("record", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Index("hands_time", "time"),
)
"""`players` is a JSON array of names, in the order of their seats."""

PLAYED = Table(
    "played",
    METADATA,
    Column("player", NAME, primary_key=True),
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
"""The hands of each player: an index of `HANDS.players`."""

MATCHES = Table(
    "matches",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("room", NAME, nullable=False),
    Column("time", Double, nullable=False),
    Column("players", Text, nullable=False),
    Column("result", Text, nullable=False),
)
PULSE = Table(
    "pulse",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
)
"""A single row, written to test whether the store is writable."""
