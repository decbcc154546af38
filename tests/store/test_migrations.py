"""Migrations: they make what the schema says, on both engines, and are the ones that the house knows of."""

import asyncio
import sqlite3

import asyncpg
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from croupier.store.migrations import REVISIONS
from croupier.store.schema import METADATA
from tests.store.store_fixture import Shelf


def differences(connection: Connection) -> list[object]:
    return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA)


async def differences_at_a_server(url: str) -> list[object]:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool
    )
    async with engine.connect() as connection:
        return await connection.run_sync(differences)


def test_the_migrations_make_what_the_schema_says(shelf: Shelf) -> None:
    if shelf.engine == "postgresql":
        assert asyncio.run(differences_at_a_server(shelf.url)) == []
        return
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(shelf.url), poolclass=NullPool)
    with engine.connect() as connection:
        assert differences(connection) == []


def test_the_house_knows_all_revisions_and_their_order() -> None:
    config = Config()
    config.set_main_option("script_location", "croupier.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(step.revision for step in scripts.walk_revisions())[::-1] == REVISIONS
