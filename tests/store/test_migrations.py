"""Migrations: they produce the schema on both engines, and REVISIONS lists them."""

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
from tests.store.store_fixture import TempStore


def differences(connection: Connection) -> list[object]:
    return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA)


async def postgres_differences(url: str) -> list[object]:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool
    )
    async with engine.connect() as connection:
        return await connection.run_sync(differences)


def test_migrations_produce_the_schema(temp_store: TempStore) -> None:
    if temp_store.engine == "postgresql":
        assert asyncio.run(postgres_differences(temp_store.url)) == []
        return
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(temp_store.url), poolclass=NullPool)
    with engine.connect() as connection:
        assert differences(connection) == []


def test_revisions_are_complete_and_in_order() -> None:
    config = Config()
    config.set_main_option("script_location", "croupier.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(step.revision for step in scripts.walk_revisions())[::-1] == REVISIONS
