"""Fixtures: every test of the store runs on both engines; the PostgreSQL server comes from a wheel."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import asyncpg
import pytest
from bench.cluster import Cluster

from croupier.store.store import upgrade_store
from tests.store.store_fixture import TempStore, memory_folder

ENGINES = ("sqlite", "postgresql")


async def ask(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server with an empty store `empty_store`, which serves as a template for cheap copies."""
    with Cluster(memory_folder()) as running:
        asyncio.run(ask(running.url(), "CREATE DATABASE empty_store"))
        asyncio.run(upgrade_store(running.url("empty_store")))
        yield running


NUMBERS = count(1)


def new_database(cluster: Cluster, template: str = "empty_store") -> str:
    """Create a database, and return its URL."""
    name = f"store_{next(NUMBERS)}"
    asyncio.run(ask(cluster.url(), f"CREATE DATABASE {name} TEMPLATE {template}"))
    return cluster.url(name)


@pytest.fixture(scope="session")
def empty_store_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of an empty SQLite store."""
    path = tmp_path_factory.mktemp("empty") / "store.sqlite"
    asyncio.run(upgrade_store(str(path)))
    return path.read_bytes()


@pytest.fixture(params=ENGINES)
def temp_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TempStore]:
    """An empty store."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = new_database(cluster)
        yield TempStore(url, "postgresql")
        name = url.partition("@/")[2].partition("?")[0]
        asyncio.run(ask(cluster.url(), f"DROP DATABASE {name} WITH (FORCE)"))
        return
    path = tmp_path / "store.sqlite"
    path.write_bytes(request.getfixturevalue("empty_store_file"))
    yield TempStore(str(path), "sqlite")
