"""Alembic's environment: runs migrations on the given connection, in its transaction."""

from alembic import context

from croupier.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
