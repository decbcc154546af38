"""Restoring: a backup is brought back into a store of either engine, as a whole, and never by mistake."""

import asyncio
import sqlite3
import stat
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest

from croupier.store.records import StoreError
from croupier.store.restore import restore_store
from croupier.store.store import Store
from tests.processes import COMMAND, environment
from tests.store.conftest import new_database
from tests.store.store_fixture import Shelf, fact, run
from tests.store.test_checks import fill
from tests.store.test_copies import books


@pytest.fixture
def backup(blank: bytes, tmp_path: Path) -> Path:
    """A backup of a store with something of everything."""
    path, copy = tmp_path / "before", tmp_path / "backup"
    path.write_bytes(blank)

    async def story(store: Store) -> None:
        await fill(store)
        await store.append([fact("long", seq) for seq in range(1, 2502)])
        await store.backup(copy)

    Shelf(str(path), "sqlite").run(story)
    return copy


def refusal(file: Path, shelf: Shelf, *, force: bool = False) -> str:
    with pytest.raises(StoreError) as found:
        run(restore_store(file, shelf.url, force=force))
    return str(found.value)


def test_a_backup_comes_back_into_an_empty_store_of_either_engine(shelf: Shelf, backup: Path) -> None:
    before = backup.read_bytes()
    run(restore_store(backup, shelf.url))
    assert backup.read_bytes() == before
    assert shelf.run(books) == Shelf(str(backup), "sqlite").run(books)
    assert shelf.run(Store.find_problems) == []


def test_what_is_restored_goes_on_with_the_next_numbers(shelf: Shelf, backup: Path) -> None:
    run(restore_store(backup, shelf.url))

    async def story(store: Store) -> None:
        known = {account.id for account in await store.accounts()}
        assert (await store.add_account("zoe", coins=5)).id not in known
        await store.append([fact("long", 2502)])
        assert await store.find_problems() == []

    shelf.run(story)


def test_a_store_that_is_not_empty_is_replaced_only_by_force(shelf: Shelf, backup: Path) -> None:
    shelf.run(lambda store: store.add_account("mallory", coins=5))
    assert "which is not empty; allowed: an empty store, or --force, which replaces it" in refusal(backup, shelf)
    assert shelf.run(lambda store: store.account("mallory")) is not None
    run(restore_store(backup, shelf.url, force=True))
    assert shelf.run(lambda store: store.account("mallory")) is None
    assert shelf.run(books) == Shelf(str(backup), "sqlite").run(books)


def test_a_store_that_somebody_has_open_is_not_replaced(shelf: Shelf, backup: Path) -> None:
    async def story(store: Store) -> None:
        with pytest.raises(StoreError, match="open; stop it first"):
            await restore_store(backup, shelf.url, force=True)
        await store.append([fact("a", 1)])

    shelf.run(story)
    run(restore_store(backup, shelf.url, force=True))
    assert shelf.run(lambda store: store.last_seq("holdem", "long")) == 2501


def test_where_no_store_is_one_is_made_that_only_its_owner_may_read(backup: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "store"
    run(restore_store(backup, str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [left.name for left in path.parent.iterdir()] == ["store"]
    assert Shelf(str(path), "sqlite").run(Store.find_problems) == []


def test_an_empty_database_is_set_up_for_a_backup(request: pytest.FixtureRequest, backup: Path) -> None:
    url = new_database(request.getfixturevalue("cluster"), "template0")
    run(restore_store(backup, url))
    assert Shelf(url, "postgresql").run(Store.find_problems) == []


def test_what_is_no_backup_is_said_and_nothing_is_changed(shelf: Shelf, backup: Path, tmp_path: Path) -> None:
    letter, other, damaged = tmp_path / "letter", tmp_path / "other", tmp_path / "damaged"
    letter.write_text("Dear friend, " * 100)
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE birds (name)")
    data = bytearray(backup.read_bytes())
    data[-4096 * 10 :] = b"\xa5" * 4096 * 10
    damaged.write_bytes(data)
    shelf.run(lambda store: store.add_account("ann", coins=5))
    assert "found no file" in refusal(tmp_path / "nothing", shelf, force=True)
    assert "file is not a database" in refusal(letter, shelf, force=True)
    assert "without a schema" in refusal(other, shelf, force=True)
    assert "damaged" in refusal(damaged, shelf, force=True)
    assert shelf.run(lambda store: store.account("ann")) is not None


def test_a_restore_that_fails_on_the_way_leaves_the_store_as_it_was(
    request: pytest.FixtureRequest, backup: Path, tmp_path: Path
) -> None:
    """What SQLite has kept but PostgreSQL cannot keep."""
    url = new_database(request.getfixturevalue("cluster"))
    shelf = Shelf(url, "postgresql")
    shelf.run(lambda store: store.add_account("ann", coins=5))
    with closing(sqlite3.connect(backup)) as file:
        file.execute("UPDATE matches SET players = 'a' || char(0) || 'b'")
        file.commit()
    assert "0x00" in refusal(backup, shelf, force=True)
    assert shelf.run(lambda store: store.account("ann")) is not None


def test_a_store_is_not_restored_from_itself(backup: Path) -> None:
    told = refusal(backup, Shelf(str(backup), "sqlite"), force=True)
    assert told == f"found {backup} as the backup and as the store; allowed: two files"


def test_a_server_whose_store_is_locked_is_asked_only_for_a_while(
    request: pytest.FixtureRequest, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database(request.getfixturevalue("cluster"))
    monkeypatch.setattr("croupier.store.restore.LOCK_TIMEOUT", "10ms")

    async def story() -> None:
        import asyncpg

        other = await asyncpg.connect(url)
        try:
            async with other.transaction():
                await other.fetch("SELECT * FROM hands")
                with pytest.raises(StoreError, match="open; stop it first"):
                    await restore_store(backup, url)
        finally:
            await other.close()

    asyncio.run(story())


@pytest.mark.slow
def test_a_restore_that_is_killed_at_any_moment_leaves_the_old_store_or_the_new_one(
    blank: bytes, tmp_path: Path
) -> None:
    """Which of them it is, the number of the last fact tells."""
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"

    def filled(path: Path, facts: int) -> None:
        path.write_bytes(blank)

        async def story(store: Store) -> None:
            for first in range(1, facts, 1000):
                await store.append([fact("a", seq, '{"x":"' + "y" * 2000 + '"}') for seq in range(first, first + 1000)])

        Shelf(str(path), "sqlite").run(story)

    filled(old, 3000)
    filled(new, 10_000)
    Shelf(str(new), "sqlite").run(lambda store: store.backup(copy))
    found = set()
    for delay in range(12):
        path = tmp_path / f"store{delay}"
        Shelf(str(old), "sqlite").run(lambda store, path=path: store.backup(path))
        words = [*COMMAND, "db", "restore", str(copy), "--force", "--store", str(path)]
        with subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL) as restoring:
            with suppress(subprocess.TimeoutExpired):
                restoring.wait(0.3 + 0.1 * delay)
            restoring.kill()
        shelf = Shelf(str(path), "sqlite")
        found.add(shelf.run(lambda store: store.last_seq("holdem", "a")))
        assert shelf.run(Store.find_problems) == []
        path.unlink()
    assert found <= {3000, 10_000}
