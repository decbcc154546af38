"""The pages of the books, ruled: one schema for SQLite and for PostgreSQL.

Migrations make it; a test compares what they have made with what stands here.
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
"""The numbers that the engine gives; only an INTEGER is numbered by SQLite."""

NAME = Text().with_variant(Text(collation="C"), "postgresql")
"""What is looked up and sorted: byte by byte, as SQLite does it, whatever the language of the server is."""

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
"""`skeleton` is what names that look alike have in common; accounts that nobody logs in to have none.

`balance` is derived: it is the sum of the account's entries, changed with them, and `check` adds them up again."""

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
"""The ledger, double entry: the coins of a transfer sum to zero."""

JOURNAL = Table(
    "journal",
    METADATA,
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("fact", Text, nullable=False),
    Column("time", Double, nullable=False),
)
"""In SQLite the facts stand in the order in which they came, and only the key is sorted: facts are long."""

SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("room", NAME, primary_key=True),
    Column("table", NAME, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("time", Double, nullable=False),
)
"""The latest of each table."""

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
"""In which hands somebody has played: the index of `players`."""

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
"""One row, written to see whether anything can be."""
