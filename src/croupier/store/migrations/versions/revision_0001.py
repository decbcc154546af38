"""The first schema: accounts and ledger, journal and snapshots, hands and matches."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = BigInteger().with_variant(Integer, "sqlite")
NAME = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create all tables."""
    _accounts()
    _tables()
    op.create_table(
        "matches",
        Column("id", NUMBER, primary_key=True),
        Column("room", NAME, nullable=False),
        Column("time", Double, nullable=False),
        Column("players", Text, nullable=False),
        Column("result", Text, nullable=False),
    )
    op.create_table(
        "pulse",
        Column("id", NUMBER, primary_key=True, autoincrement=False),
        Column("time", Double, nullable=False),
    )


def _accounts() -> None:
    op.create_table(
        "accounts",
        Column("id", NUMBER, primary_key=True),
        Column("name", NAME, nullable=False),
        Column("house", Boolean, nullable=False),
        Column("password", Text),
        Column("created", Double, nullable=False),
        Column("closed", Double),
        Column("balance", BigInteger, nullable=False),
        UniqueConstraint("name", "house", name="accounts_name"),
        CheckConstraint("house OR balance >= 0", name="accounts_balance"),
    )
    op.create_table(
        "transfers",
        Column("id", NUMBER, primary_key=True),
        Column("key", NAME),
        Column("time", Double, nullable=False),
        Column("reason", Text, nullable=False),
        UniqueConstraint("key", name="transfers_key"),
    )
    op.create_table(
        "entries",
        Column("transfer", BigInteger, ForeignKey("transfers.id", name="entries_transfer"), nullable=False),
        Column("account", BigInteger, ForeignKey("accounts.id", name="entries_account"), nullable=False),
        Column("coins", BigInteger, nullable=False),
        PrimaryKeyConstraint("transfer", "account"),
        sqlite_with_rowid=False,
    )
    op.create_index("entries_statement", "entries", ["account", "transfer"])


def _tables() -> None:
    op.create_table(
        "journal",
        Column("room", NAME, nullable=False),
        Column("table", NAME, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("fact", Text, nullable=False),
        Column("time", Double, nullable=False),
        PrimaryKeyConstraint("room", "table", "seq"),
    )
    op.create_table(
        "snapshots",
        Column("room", NAME, nullable=False),
        Column("table", NAME, nullable=False),
        Column("seq", BigInteger, nullable=False),
        Column("state", Text, nullable=False),
        Column("time", Double, nullable=False),
        PrimaryKeyConstraint("room", "table"),
    )
    op.create_table(
        "hands",
        Column("room", NAME, nullable=False),
        Column("table", NAME, nullable=False),
        Column("number", BigInteger, nullable=False),
        Column("time", Double, nullable=False),
        Column("players", Text, nullable=False),
        Column("record", Text, nullable=False),
        Column("summary", Text, nullable=False),
        PrimaryKeyConstraint("room", "table", "number"),
    )
    op.create_index("hands_time", "hands", ["time"])
    op.create_table(
        "played",
        Column("player", NAME, nullable=False),
        Column("room", NAME, nullable=False),
        Column("table", NAME, nullable=False),
        Column("number", BigInteger, nullable=False),
        PrimaryKeyConstraint("player", "room", "table", "number"),
        sqlite_with_rowid=False,
    )
