"""Opening a store: where it is, what is there instead, and who may not have it."""

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
from tests.store.store_fixture import Shelf, fact, run


async def visit(where: str | None, **settings: object) -> None:
    async with await open_store(where, **settings) as store:
        await store.append([fact("a", await store.last_seq("holdem", "a") + 1)])


def refusal(where: str, **settings: object) -> str:
    with pytest.raises(StoreError) as found:
        run(visit(where, **settings))
    return str(found.value)


@pytest.mark.parametrize(
    ("where", "found"),
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
def test_a_store_is_a_path_or_a_url(where: str, found: object) -> None:
    assert parse_location(where) == found


def test_without_a_word_it_is_a_file_among_the_users_data() -> None:
    assert parse_location(None) == SqliteLocation(
        Path(platformdirs.user_data_dir("croupier", appauthor=False)) / "store.sqlite"
    )


@pytest.mark.parametrize("where", ["", ":memory:", "sqlite://", "sqlite://books", "sqlite:///:memory:", "mysql://a/b"])
def test_anything_else_is_refused(where: str) -> None:
    with pytest.raises(StoreError, match="allowed: a path, sqlite:///PATH, postgresql://USER@HOST/DATABASE"):
        parse_location(where)


def test_the_password_of_a_server_is_never_told() -> None:
    for url in (
        "postgresql://croupier:secret@db:5/books?sslmode=require",
        "postgresql://db:5/books?user=croupier&password=secret",
        "postgresql://croupier:sec/ret@db:5/books",
        "postgresql://croupier:sec?ret@db:5/books",
        "postgresql://croupier:se@cret@db:5/books",
    ):
        assert str(parse_location(url)) == "postgresql://db:5/books"
    assert "cret" not in str(parse_location("postgresql://db/books?user=a@b&password=secret"))
    told = refusal("postgresql://croupier:secret@127.0.0.1:1/books")
    assert told.startswith("cannot reach postgresql://127.0.0.1:1/books: ")
    assert "secret" not in told


def test_a_file_that_is_not_there_is_made_with_its_folders_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a store?#%20.db"
    run(visit(str(path)))
    run(visit(str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [left.name for left in path.parent.iterdir()] == [path.name]
    assert Shelf(str(path), "sqlite").run(lambda store: store.last_seq("holdem", "a")) == 2


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.touch()
    run(visit(str(path)))
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_a_store_that_must_be_there_is_not_made(tmp_path: Path) -> None:
    told = refusal(str(tmp_path / "store"), new=False)
    assert told == f"found nothing at {tmp_path / 'store'}; allowed: a store of croupier"
    assert [*tmp_path.iterdir()] == []


def test_two_who_make_the_same_store_at_once_share_it(tmp_path: Path) -> None:
    async def both() -> None:
        where = str(tmp_path / "store")
        one, other = await asyncio.gather(open_store(where), open_store(where))
        async with one, other:
            await one.append([fact("a", 1)])
            assert await other.last_seq("holdem", "a") == 1

    run(both())
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear friend, " * 100)
    assert "file is not a database" in refusal(str(path))
    assert path.read_text() == "Dear friend, " * 100


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    assert refusal(str(tmp_path)).startswith(f"found {tmp_path}, which cannot be opened")


def test_a_path_through_a_file_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot make a store" in refusal(str(tmp_path / "file" / "store"))


def test_the_database_of_another_program_is_neither_opened_nor_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE birds (name)")
    before = path.read_bytes()
    assert "`croupier db upgrade`" in refusal(str(path))
    with pytest.raises(StoreError, match="found a database with the table 'birds'"):
        run(upgrade_store(str(path)))
    assert path.read_bytes() == before


def set_revision(shelf: Shelf, revision: str) -> None:
    if shelf.engine == "postgresql":
        asyncio.run(ask(shelf.url, f"UPDATE alembic_version SET version_num = '{revision}'"))
    else:
        with closing(sqlite3.connect(shelf.url)) as file:
            file.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            file.commit()


def test_the_store_of_a_newer_croupier_is_refused(shelf: Shelf) -> None:
    set_revision(shelf, "9999")
    assert "of revision 9999, which a newer croupier has made; allowed: 0002" in refusal(shelf.url)
    with pytest.raises(StoreError, match="which a newer croupier has made"):
        run(upgrade_store(shelf.url))


def test_the_store_of_an_older_croupier_is_told_how_to_be_upgraded(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "REVISIONS", ("0001", "0002", "0003"))
    assert "of revision 0002; allowed: 0003, which `croupier db upgrade` makes of it" in refusal(shelf.url)


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(shelf: Shelf) -> None:
    run(visit(shelf.url))
    run(upgrade_store(shelf.url))
    assert shelf.run(lambda store: store.last_seq("holdem", "a")) == 1


def test_an_empty_database_of_a_server_becomes_a_store_unless_one_must_be_there(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")
    told = "without a schema; allowed: 0002, which `croupier db upgrade` makes of it"
    assert told in refusal(url, new=False)
    assert told in refusal(url, new=False), "nothing was made"
    run(visit(url))
    run(visit(url, new=False))


def test_two_who_open_the_same_empty_database_at_once_share_it(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")

    async def both() -> None:
        one, other = await asyncio.gather(open_store(url), open_store(url))
        async with one, other:
            await one.append([fact("a", 1)])
            assert await other.last_seq("holdem", "a") == 1

    run(both())


def test_the_database_of_another_program_on_a_server_is_left_as_it_is(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")
    asyncio.run(ask(url, "CREATE TABLE birds (name text)"))
    assert "found a database with the table 'birds'; allowed: a store, or an empty one" in refusal(url)


def test_two_who_upgrade_the_same_database_at_once_do_it_once(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")

    async def both() -> None:
        await asyncio.gather(upgrade_store(url), upgrade_store(url))

    run(both())
    assert Shelf(url, "postgresql").run(Store.find_problems) == []


@pytest.mark.parametrize("url", ["postgresql://a:b:c/d", "postgresql://[::1/d", "postgresql://h:port/d"])
def test_a_url_that_nobody_can_read_is_said_plainly(url: str) -> None:
    assert refusal(url).startswith("cannot reach postgresql://")


def test_a_database_that_is_not_there_is_said_plainly(cluster: Cluster) -> None:
    assert 'database "nowhere" does not exist' in refusal(cluster.url("nowhere"))
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        run(upgrade_store(cluster.url("nowhere")))


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    monkeypatch.delitem(sys.modules, "croupier.store.postgres", raising=False)
    told = "found no asyncpg, which speaks to PostgreSQL; pip install 'croupier[postgresql]'"
    assert refusal("postgresql://127.0.0.1:1/books") == told
    with pytest.raises(StoreError, match="found no asyncpg"):
        run(upgrade_store("postgresql://127.0.0.1:1/books"))


READER = """
import asyncio, os, sys
from croupier.store.store import open_store

async def main(mine, museum):
    async with await open_store(mine): pass
    if os.getuid() == 0:
        os.setuid(65534)
    await open_store(museum)

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_file_that_may_only_be_read_is_refused_at_once(blank: bytes, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as museum:
        path = Path(museum) / "store"
        path.write_bytes(blank)
        path.chmod(0o444)
        Path(museum).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READER, str(tmp_path / "store"), str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        told = f"found a store that cannot be written to: {path}: attempt to write a readonly database"
        assert told in done.stderr
        assert path.read_bytes() == blank


def test_a_server_that_opens_its_store_waits_neither_for_sqlalchemy_nor_for_alembic(shelf: Shelf) -> None:
    script = (
        "import asyncio, sys\nfrom croupier.store.store import open_store\n"
        "async def main():\n    async with await open_store(sys.argv[1]) as store: print(await store.tables('kuhn'))\n"
        "asyncio.run(main())\nprint({'sqlalchemy', 'alembic'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, shelf.url], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\nset()\n"


def test_a_store_that_rooms_share_is_closed_by_the_last_of_them(tmp_path: Path) -> None:
    async def story() -> None:
        store = await open_store(str(tmp_path / "books"))
        other = store.share()
        await store.close()
        await other.append([fact("a", 1)])
        assert await other.last_seq("holdem", "a") == 1
        await other.close()
        with pytest.raises(StoreError, match="the store is closed"):
            await other.append([fact("a", 2)])

    run(story())
