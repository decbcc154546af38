"""Restoring of backups: atomic, on either engine, and never by mistake."""

import asyncio
import sqlite3
import stat
import subprocess
from contextlib import closing, suppress
from pathlib import Path

import pytest
from bench.cluster import Cluster

from croupier.store.records import StoreError
from croupier.store.restore import restore_store
from croupier.store.store import Store
from tests.processes import COMMAND, environment
from tests.store.conftest import new_database
from tests.store.store_fixture import TempStore, fact, run
from tests.store.test_checks import fill
from tests.store.test_copies import store_content


@pytest.fixture
def backup(empty_store_file: bytes, tmp_path: Path) -> Path:
    """A backup of a store with rows of every kind."""
    path, copy = tmp_path / "before", tmp_path / "backup"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        await fill(store)
        await store.append([fact("long", seq) for seq in range(1, 2502)])
        await store.backup(copy)

    TempStore(str(path), "sqlite").run(steps)
    return copy


def error_text(file: Path, temp_store: TempStore, *, force: bool = False) -> str:
    with pytest.raises(StoreError) as found:
        run(restore_store(file, temp_store.url, force=force))
    return str(found.value)


def test_backup_is_restored_into_an_empty_store(temp_store: TempStore, backup: Path) -> None:
    before = backup.read_bytes()
    run(restore_store(backup, temp_store.url))
    assert backup.read_bytes() == before
    assert temp_store.run(store_content) == TempStore(str(backup), "sqlite").run(store_content)
    assert temp_store.run(Store.find_problems) == []


def test_ids_continue_after_a_restore(temp_store: TempStore, backup: Path) -> None:
    run(restore_store(backup, temp_store.url))

    async def steps(store: Store) -> None:
        known = {account.id for account in await store.accounts()}
        assert (await store.add_account("zoe", coins=5)).id not in known
        await store.append([fact("long", 2502)])
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_non_empty_store_is_replaced_only_by_force(temp_store: TempStore, backup: Path) -> None:
    temp_store.run(lambda store: store.add_account("mallory", coins=5))
    assert "which is not empty; allowed: an empty store, or --force, which replaces it" in error_text(
        backup, temp_store
    )
    assert temp_store.run(lambda store: store.account("mallory")) is not None
    run(restore_store(backup, temp_store.url, force=True))
    assert temp_store.run(lambda store: store.account("mallory")) is None
    assert temp_store.run(store_content) == TempStore(str(backup), "sqlite").run(store_content)


def test_open_store_is_not_replaced(temp_store: TempStore, backup: Path) -> None:
    async def steps(store: Store) -> None:
        with pytest.raises(StoreError, match="open; stop it first"):
            await restore_store(backup, temp_store.url, force=True)
        await store.append([fact("a", 1)])

    temp_store.run(steps)
    run(restore_store(backup, temp_store.url, force=True))
    assert temp_store.run(lambda store: store.last_seq("holdem", "long")) == 2501


def test_missing_store_is_created_privately(backup: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "store"
    run(restore_store(backup, str(path)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [left.name for left in path.parent.iterdir()] == ["store"]
    assert TempStore(str(path), "sqlite").run(Store.find_problems) == []


def test_empty_database_is_initialized_for_a_restore(cluster: Cluster, backup: Path) -> None:
    url = new_database(cluster, "template0")
    run(restore_store(backup, url))
    assert TempStore(url, "postgresql").run(Store.find_problems) == []


def test_invalid_backup_is_reported_and_nothing_is_changed(temp_store: TempStore, backup: Path, tmp_path: Path) -> None:
    letter, other, damaged = tmp_path / "letter", tmp_path / "other", tmp_path / "damaged"
    letter.write_text("Dear friend, " * 100)
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE birds (name)")
    data = bytearray(backup.read_bytes())
    data[-4096 * 10 :] = b"\xa5" * 4096 * 10
    damaged.write_bytes(data)
    temp_store.run(lambda store: store.add_account("ann", coins=5))
    assert "found no file" in error_text(tmp_path / "nothing", temp_store, force=True)
    assert "file is not a database" in error_text(letter, temp_store, force=True)
    assert "without a schema" in error_text(other, temp_store, force=True)
    assert "damaged" in error_text(damaged, temp_store, force=True)
    assert temp_store.run(lambda store: store.account("ann")) is not None


def test_failed_restore_leaves_the_store_unchanged(
    request: pytest.FixtureRequest, backup: Path, tmp_path: Path
) -> None:
    """The backup has a value that PostgreSQL cannot store."""
    url = new_database(request.getfixturevalue("cluster"))
    temp_store = TempStore(url, "postgresql")
    temp_store.run(lambda store: store.add_account("ann", coins=5))
    with closing(sqlite3.connect(backup)) as file:
        file.execute("UPDATE matches SET players = 'a' || char(0) || 'b'")
        file.commit()
    assert "0x00" in error_text(backup, temp_store, force=True)
    assert temp_store.run(lambda store: store.account("ann")) is not None


def test_store_is_not_restored_from_itself(backup: Path) -> None:
    message = error_text(backup, TempStore(str(backup), "sqlite"), force=True)
    assert message == f"found {backup} as the backup and as the store; allowed: two files"


def test_restore_times_out_if_the_tables_are_locked(
    request: pytest.FixtureRequest, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_database(request.getfixturevalue("cluster"))
    monkeypatch.setattr("croupier.store.restore.LOCK_TIMEOUT", "10ms")

    async def steps() -> None:
        import asyncpg

        other = await asyncpg.connect(url)
        try:
            async with other.transaction():
                await other.fetch("SELECT * FROM hands")
                with pytest.raises(StoreError, match="open; stop it first"):
                    await restore_store(backup, url)
        finally:
            await other.close()

    asyncio.run(steps())


@pytest.mark.slow
def test_killed_restore_leaves_the_old_or_the_new_store(empty_store_file: bytes, tmp_path: Path) -> None:
    """The last sequence number shows which of them it is."""
    old, new, copy = tmp_path / "old", tmp_path / "new", tmp_path / "copy"

    def filled(path: Path, facts: int) -> None:
        path.write_bytes(empty_store_file)

        async def steps(store: Store) -> None:
            for first in range(1, facts, 1000):
                await store.append([fact("a", seq, '{"x":"' + "y" * 2000 + '"}') for seq in range(first, first + 1000)])

        TempStore(str(path), "sqlite").run(steps)

    filled(old, 3000)
    filled(new, 10_000)
    TempStore(str(new), "sqlite").run(lambda store: store.backup(copy))
    found = set()
    for delay in range(12):
        path = tmp_path / f"store{delay}"
        TempStore(str(old), "sqlite").run(lambda store, path=path: store.backup(path))
        command = [*COMMAND, "db", "restore", str(copy), "--force", "--store", str(path)]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL) as restoring:
            with suppress(subprocess.TimeoutExpired):
                restoring.wait(0.3 + 0.1 * delay)
            restoring.kill()
        temp_store = TempStore(str(path), "sqlite")
        found.add(temp_store.run(lambda store: store.last_seq("holdem", "a")))
        assert temp_store.run(Store.find_problems) == []
        path.unlink()
    assert found <= {3000, 10_000}
