"""Every test of the store is run on both engines; PostgreSQL is a server of this process's own, from a wheel."""

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from shutil import disk_usage

import asyncpg
import pytest
from bench.cluster import Cluster

from croupier.store.store import upgrade_store
from tests.store.store_fixture import Shelf

ENGINES = ("sqlite", "postgresql")


async def ask(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


def quick_folder() -> Path | None:
    """Where files are in memory, for many databases are made here; None where that is not so, or is too small."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and disk_usage(memory).free > 1 << 30 else None


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server with a store `books` in it, of which there are copies at little cost."""
    with Cluster(quick_folder()) as running:
        asyncio.run(ask(running.url(), "CREATE DATABASE books"))
        asyncio.run(upgrade_store(running.url("books")))
        yield running


NUMBERS = count(1)


def new_database(cluster: Cluster, template: str = "books") -> str:
    """The URL of a new database."""
    name = f"books{next(NUMBERS)}"
    asyncio.run(ask(cluster.url(), f"CREATE DATABASE {name} TEMPLATE {template}"))
    return cluster.url(name)


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of an empty store."""
    path = tmp_path_factory.mktemp("blank") / "store.sqlite"
    asyncio.run(upgrade_store(str(path)))
    return path.read_bytes()


@pytest.fixture(params=ENGINES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """An empty store."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = new_database(cluster)
        yield Shelf(url, "postgresql")
        name = url.partition("@/")[2].partition("?")[0]
        asyncio.run(ask(cluster.url(), f"DROP DATABASE {name} WITH (FORCE)"))
        return
    path = tmp_path / "store.sqlite"
    path.write_bytes(request.getfixturevalue("blank"))
    yield Shelf(str(path), "sqlite")
