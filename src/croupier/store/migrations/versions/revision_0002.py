"""Skeletons of user names, so that new names cannot look like existing ones."""

from alembic import op
from sqlalchemy import Column, Text, column, select, table

from croupier.core.usernames import skeleton

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAME = Text().with_variant(Text(collation="C"), "postgresql")
ACCOUNTS = table("accounts", column("id"), column("name"), column("house"), column("skeleton"))


def upgrade() -> None:
    """Add the column. Existing users whose names look alike stay valid; only the first of them gets the skeleton."""
    op.add_column("accounts", Column("skeleton", NAME))
    connection = op.get_bind()
    seen: set[str] = set()
    players = select(ACCOUNTS.c.id, ACCOUNTS.c.name).where(~ACCOUNTS.c.house).order_by(ACCOUNTS.c.id)
    for number, name in connection.execute(players).all():
        if ":" not in name and (alike := skeleton(name)) not in seen:
            seen.add(alike)
            connection.execute(ACCOUNTS.update().where(ACCOUNTS.c.id == number).values(skeleton=alike))
    op.create_index("accounts_skeleton", "accounts", ["skeleton"], unique=True)
