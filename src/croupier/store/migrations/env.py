"""What Alembic runs to bring the books to a revision: on the connection that it was given, in its transaction."""

from alembic import context

from croupier.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
