"""Opening a store: locations, creation, revisions and errors."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import platformdirs
import pytest
from bench.cluster import Cluster

from croupier.store import migrations
from croupier.store.records import StoreError
from croupier.store.store import Store, open_store, upgrade_store
from croupier.store.urls import PostgresLocation, SqliteLocation, parse_location
from tests.store.conftest import ask, new_database
from tests.store.store_fixture import TempStore, fact, run


async def open_and_append(location: str | None, **settings: object) -> None:
    async with await open_store(location, **settings) as store:
        await store.append([fact("a", await store.last_seq("holdem", "a") + 1)])


def error_text(location: str, **settings: object) -> str:
    with pytest.raises(StoreError) as found:
        run(open_and_append(location, **settings))
    return str(found.value)


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("books", SqliteLocation(Path("books"))),
        ("/var/books.db", SqliteLocation(Path("/var/books.db"))),
        ("~/books", SqliteLocation(Path.home() / "books")),
        ("sqlite:///books%20of%20ours", SqliteLocation(Path("books of ours"))),
        ("sqlite:////var/books", SqliteLocation(Path("/var/books"))),
        ("postgresql://a:b@c:5/d", PostgresLocation("postgresql://a:b@c:5/d")),
        ("postgres://c/d", PostgresLocation("postgresql://c/d")),
    ],
)
def test_location_is_a_path_or_a_url(location: str, found: object) -> None:
    assert parse_location(location) == found


def test_default_location_is_in_the_users_data_folder() -> None:
    assert parse_location(None) == SqliteLocation(
        Path(platformdirs.user_data_dir("croupier", appauthor=False)) / "store.sqlite"
    )


@pytest.mark.parametrize(
    "location", ["", ":memory:", "sqlite://", "sqlite://books", "sqlite:///:memory:", "mysql://a/b"]
)
def test_invalid_location_raises_store_error(location: str) -> None:
    with pytest.raises(StoreError, match="allowed: a path, sqlite:///PATH, postgresql://USER@HOST/DATABASE"):
        parse_location(location)


def test_password_of_a_url_is_never_shown() -> None:
    for url in (
        "postgresql://croupier:secret@db:5/books?sslmode=require",
        "postgresql://db:5/books?user=croupier&password=secret",
        "postgresql://croupier:sec/ret@db:5/books",
        "postgresql://croupier:sec?ret@db:5/books",
        "postgresql://croupier:se@cret@db:5/books",
    ):
        assert str(parse_location(url)) == "postgresql://db:5/books"
    assert "cret" not in str(parse_location("postgresql://db/books?user=a@b&password=secret"))
    message = error_text("postgresql://croupier:secret@127.0.0.1:1/books")
    assert message.startswith("cannot reach postgresql://127.0.0.1:1/books: ")
    assert "Errno" not in message
    assert "secret" not in message


def test_missing_file_is_created_privately_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a store?#%20.db"
    run(open_and_append(str(path)))
    run(open_and_append(str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [left.name for left in path.parent.iterdir()] == [path.name]
    assert TempStore(str(path), "sqlite").run(lambda store: store.last_seq("holdem", "a")) == 2


def test_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch()
    run(open_and_append(str(path)))
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_missing_store_is_not_created_without_create(tmp_path: Path) -> None:
    message = error_text(str(tmp_path / "store"), create=False)
    assert message == f"found nothing at {tmp_path / 'store'}; allowed: a store of croupier"
    assert [*tmp_path.iterdir()] == []


def test_concurrent_creation_gives_one_store(tmp_path: Path) -> None:
    async def open_both() -> None:
        location = str(tmp_path / "store")
        one, other = await asyncio.gather(open_store(location), open_store(location))
        async with one, other:
            await one.append([fact("a", 1)])
            assert await other.last_seq("holdem", "a") == 1

    run(open_both())
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_foreign_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear friend, " * 100)
    assert "file is not a database" in error_text(str(path))
    assert path.read_text() == "Dear friend, " * 100


def test_folder_is_refused(tmp_path: Path) -> None:
    assert error_text(str(tmp_path)).startswith(f"found {tmp_path}, which cannot be opened")


def test_path_through_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot make a store" in error_text(str(tmp_path / "file" / "store"))


def test_foreign_sqlite_database_is_neither_opened_nor_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE birds (name)")
    before = path.read_bytes()
    assert "`croupier db upgrade`" in error_text(str(path))
    with pytest.raises(StoreError, match="found a database with the table 'birds'"):
        run(upgrade_store(str(path)))
    assert path.read_bytes() == before


def set_revision(temp_store: TempStore, revision: str) -> None:
    if temp_store.engine == "postgresql":
        asyncio.run(ask(temp_store.url, f"UPDATE alembic_version SET version_num = '{revision}'"))
    else:
        with closing(sqlite3.connect(temp_store.url)) as file:
            file.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            file.commit()


def test_newer_revision_is_refused(temp_store: TempStore) -> None:
    set_revision(temp_store, "9999")
    assert "of revision 9999, which a newer croupier has made; allowed: 0003" in error_text(temp_store.url)
    with pytest.raises(StoreError, match="which a newer croupier has made"):
        run(upgrade_store(temp_store.url))


def test_older_revision_is_refused_with_the_upgrade_command(
    temp_store: TempStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "REVISIONS", ("0001", "0002", "0003", "0004"))
    assert "of revision 0003; allowed: 0004, which `croupier db upgrade` makes of it" in error_text(temp_store.url)


def test_upgrade_of_a_current_store_changes_nothing(temp_store: TempStore) -> None:
    run(open_and_append(temp_store.url))
    run(upgrade_store(temp_store.url))
    assert temp_store.run(lambda store: store.last_seq("holdem", "a")) == 1


def test_empty_database_becomes_a_store_only_with_create(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")
    message = "without a schema; allowed: 0003, which `croupier db upgrade` makes of it"
    assert message in error_text(url, create=False)
    assert message in error_text(url, create=False), "no store was created"
    run(open_and_append(url))
    run(open_and_append(url, create=False))


def test_concurrent_opening_of_an_empty_database_gives_one_store(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")

    async def open_both() -> None:
        one, other = await asyncio.gather(open_store(url), open_store(url))
        async with one, other:
            await one.append([fact("a", 1)])
            assert await other.last_seq("holdem", "a") == 1

    run(open_both())


def test_foreign_postgresql_database_is_refused(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")
    asyncio.run(ask(url, "CREATE TABLE birds (name text)"))
    assert "found a database with the table 'birds'; allowed: a store, or an empty one" in error_text(url)


def test_concurrent_upgrades_run_once(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")

    async def open_both() -> None:
        await asyncio.gather(upgrade_store(url), upgrade_store(url))

    run(open_both())
    assert TempStore(url, "postgresql").run(Store.find_problems) == []


@pytest.mark.parametrize("url", ["postgresql://a:b:c/d", "postgresql://[::1/d", "postgresql://h:port/d"])
def test_invalid_url_is_reported(url: str) -> None:
    assert error_text(url).startswith("cannot reach postgresql://")


def test_missing_database_is_reported(cluster: Cluster) -> None:
    assert 'database "nowhere" does not exist' in error_text(cluster.url("nowhere"))
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        run(upgrade_store(cluster.url("nowhere")))


def test_missing_driver_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, "croupier.store.postgres", raising=False)
    monkeypatch.delattr("croupier.store.postgres", raising=False)
    message = "found no asyncpg, the driver of PostgreSQL; pip install 'croupier[postgresql]'"
    assert error_text("postgresql://127.0.0.1:1/books") == message
    with pytest.raises(StoreError, match="found no asyncpg"):
        run(upgrade_store("postgresql://127.0.0.1:1/books"))


READ_ONLY_SCRIPT = """
import asyncio, os, sys
from croupier.store.store import open_store

async def main(mine, museum):
    async with await open_store(mine): pass
    if os.getuid() == 0:
        os.setuid(65534)
    await open_store(museum)

asyncio.run(main(*sys.argv[1:]))
"""


def test_read_only_file_is_refused(empty_store_file: bytes, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as museum:
        path = Path(museum) / "store"
        path.write_bytes(empty_store_file)
        path.chmod(0o444)
        Path(museum).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY_SCRIPT, str(tmp_path / "store"), str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        message = f"found {path}, which cannot be opened: attempt to write a readonly database"
        assert message in done.stderr
        assert path.read_bytes() == empty_store_file


def test_opening_an_sqlite_store_imports_no_driver_of_postgresql(empty_store_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)
    script = (
        "import asyncio, sys\nfrom croupier.store.store import open_store\n"
        "async def main():\n    async with await open_store(sys.argv[1]) as store:\n"
        "        print(await store.journal_heads('kuhn'))\n"
        "asyncio.run(main())\nprint({'asyncpg', 'croupier.store.postgres'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\nset()\n"


def test_shared_store_is_closed_by_its_last_owner(tmp_path: Path) -> None:
    async def steps() -> None:
        store = await open_store(str(tmp_path / "books"))
        other = store.share()
        await store.close()
        await other.append([fact("a", 1)])
        assert await other.last_seq("holdem", "a") == 1
        await other.close()
        with pytest.raises(StoreError, match="the store is closed"):
            await other.append([fact("a", 2)])

    run(steps())
