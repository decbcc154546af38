"""Outages: the store gives the reason, loses no acknowledged write, and recovers by itself."""

import asyncio
import gc
import io
import signal
import sqlite3
import threading
from collections.abc import Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from bench.cluster import Cluster

from croupier.store import group_commit, sqlite, sqlite_file
from croupier.store.records import StoreFinding, StoreUnavailable
from croupier.store.store import Store, open_store, upgrade_store
from tests.store.conftest import ask, new_database
from tests.store.store_fixture import TIMEOUT_SECONDS, TempStore, error, fact, facts, journal, run
from tests.store.writer_processes import Child, fill_the_disk

RETRY_DELAYS = (0.01, 0.05)


@pytest.fixture(scope="module")
def restartable_cluster() -> Iterator[Cluster]:
    """A PostgreSQL server that tests may stop."""
    with Cluster() as running:
        asyncio.run(upgrade_store(running.url()))
        yield running


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_store_recovers_from_a_database_restart(restartable_cluster: Cluster, how: int) -> None:
    table = f"stopped by {how}"

    async def steps(store: Store) -> None:
        await store.append(facts(table, range(1, 4)))
        await asyncio.to_thread(restartable_cluster.stop, how)
        with pytest.raises(StoreUnavailable, match=r"^postgresql:///postgres: "):
            await store.append([fact(table, 4)])
        assert store.outage is not None
        with pytest.raises(StoreUnavailable):
            await store.last_seq("holdem", table)
        with pytest.raises(StoreUnavailable):
            await store.find_problems()
        assert isinstance(await error(store.add_account("alice")), StoreUnavailable)
        await asyncio.to_thread(restartable_cluster.start)
        await store.wait_until_up()
        assert store.outage is None
        assert await store.last_seq("holdem", table) == 3
        await store.append([fact(table, 4)])
        assert await journal(store, table) == facts(table, range(1, 5))
        assert await store.find_problems() == []

    TempStore(restartable_cluster.url(), "postgresql").run(steps, retry_delays=RETRY_DELAYS)


def test_restart_of_an_idle_database_goes_unnoticed(
    restartable_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "CHECK_INTERVAL_SECONDS", TIMEOUT_SECONDS)  # a check would notice it

    async def steps(store: Store) -> None:
        await store.append([fact("idle", 1)])
        await asyncio.to_thread(restartable_cluster.stop)
        await asyncio.to_thread(restartable_cluster.start)
        await store.append([fact("idle", 2)])
        assert store.outage is None

    TempStore(restartable_cluster.url(), "postgresql").run(steps)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL], ids=["fast", "immediate", "killed"])
def test_reads_during_a_shutdown_raise_store_unavailable(restartable_cluster: Cluster, how: int) -> None:
    """A connection may also break between two messages, for which asyncpg raises an internal error."""
    reading, times = 8, 5

    async def steps(store: Store) -> None:
        async def read() -> None:
            with pytest.raises(StoreUnavailable):  # noqa: PT012 -- raised eventually
                while True:
                    await store.account("alice")

        for _ in range(times):
            readers = [asyncio.create_task(read()) for _ in range(reading)]
            await store.account("alice")
            await asyncio.to_thread(restartable_cluster.stop, how)
            await asyncio.gather(*readers)
            await asyncio.to_thread(restartable_cluster.start_anew)
            assert await store.account("alice") is None

    TempStore(restartable_cluster.url(), "postgresql").run(steps, retry_delays=RETRY_DELAYS)


def test_store_with_a_stopped_database_can_be_closed(restartable_cluster: Cluster) -> None:
    async def steps(store: Store) -> None:
        await store.append([fact("gone", 1)])
        await store.last_seq("holdem", "gone")
        await asyncio.to_thread(restartable_cluster.stop)
        assert isinstance(await error(store.append([fact("gone", 2)])), StoreUnavailable)

    try:
        TempStore(restartable_cluster.url(), "postgresql").run(steps)
    finally:
        restartable_cluster.start()


def test_unsafe_database_settings_are_found(restartable_cluster: Cluster) -> None:
    temp_store = TempStore(restartable_cluster.url(), "postgresql")
    assert temp_store.run(Store.find_problems) == []
    asyncio.run(ask(temp_store.url, "ALTER SYSTEM SET fsync = off"))
    asyncio.run(ask(temp_store.url, "SELECT pg_reload_conf()"))
    try:
        message = "found fsync = off in the server's settings; allowed: on"
        assert temp_store.run(until_checked) == [StoreFinding("engine", message)]
    finally:
        asyncio.run(ask(temp_store.url, "ALTER SYSTEM RESET fsync"))
        asyncio.run(ask(temp_store.url, "SELECT pg_reload_conf()"))


async def until_checked(store: Store) -> list[StoreFinding]:
    """The findings after the server has applied its new settings."""
    while not (found := await store.find_problems()):
        await asyncio.sleep(0.01)
    return found


def test_database_crash_loses_no_acknowledged_write(restartable_cluster: Cluster) -> None:
    durable = dict.fromkeys("abcdefgh", 0)

    async def steps(store: Store) -> None:
        async def table(name: str) -> None:
            try:
                while True:
                    await store.append([fact(f"crash {name}", durable[name] + 1)])
                    durable[name] += 1
            except StoreUnavailable:
                pass

        playing = asyncio.gather(*map(table, durable))
        while min(durable.values()) < 5:
            await asyncio.sleep(0.001)
        await asyncio.to_thread(restartable_cluster.stop, signal.SIGQUIT)
        await playing
        await asyncio.to_thread(restartable_cluster.start)
        await store.wait_until_up()
        for name, seq in durable.items():
            assert seq <= await store.last_seq("holdem", f"crash {name}") <= seq + 1
        assert await store.find_problems() == []

    TempStore(restartable_cluster.url(), "postgresql").run(steps, retry_delays=RETRY_DELAYS)


def test_cut_connection_fails_only_pending_writes(cluster: Cluster) -> None:
    temp_store = TempStore(new_database(cluster), "postgresql")

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        other = await asyncpg.connect(temp_store.url)
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
            "pg_backend_pid()"
        )
        await other.close()
        (outcome,) = await asyncio.gather(store.append([fact("a", 2)]), return_exceptions=True)
        await store.wait_until_up()
        last = await store.last_seq("holdem", "a")
        assert last == (2 if outcome is None else 1)
        await store.append([fact("a", last + 1)])

    temp_store.run(steps, retry_delays=RETRY_DELAYS)


def test_failed_write_is_not_committed_later(cluster: Cluster) -> None:
    temp_store = TempStore(new_database(cluster), "postgresql")

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])  # PostgreSQL now has all it needs to commit the next write
        other = await asyncpg.connect(temp_store.url)
        locked = other.transaction()
        await locked.start()
        await other.execute("LOCK TABLE journal IN EXCLUSIVE MODE")
        blocked = store.append([fact("a", 2, '"stuck"')])
        query = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'croupier'"
        while not await other.fetchval(query):
            await asyncio.sleep(0.001)
        store._engine._writer.terminate()  # without notice to the server, like a cut cable
        assert isinstance(await error(blocked), StoreUnavailable)
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") == 1
        await locked.rollback()
        await other.close()
        await store.append([fact("a", 2)])
        assert await journal(store, "a") == facts("a", range(1, 3))

    temp_store.run(steps, retry_delays=RETRY_DELAYS)


def test_store_recovers_from_a_full_disk(empty_store_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)
    child = Child(fill_the_disk, str(path), 600_000)
    message, down = child.receive()
    assert message.startswith(f"{path}: ")
    assert down is not None
    assert child.receive() is True, "writes during an outage fail at once"
    durable, there = child.receive()
    assert durable == there > 0
    written, there = child.receive()
    assert written == there == durable + 1
    assert child.receive() == []
    child.end()


def test_store_recovers_from_a_file_locked_by_another_process(
    empty_store_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_SECONDS", 0.02)

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert str(await error(store.append([fact("a", 2)]))) == f"{path}: database is locked"
            assert await journal(store, "a") == facts("a", range(1, 2)), "reads still work"
            other.execute("ROLLBACK")
        await store.wait_until_up()
        await store.append([fact("a", 2)])

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)


def test_missing_file_is_not_recreated(
    empty_store_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_SECONDS", 0.02)

    async def steps(store: Store) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            await store.append([fact("a", 1)])
            other.execute("BEGIN IMMEDIATE")
            for left in tmp_path.iterdir():
                left.rename(tmp_path / f"hidden {left.name}")
            assert isinstance(await error(store.append([fact("a", 2)])), StoreUnavailable)
        assert not path.exists()
        for left in tmp_path.iterdir():
            left.rename(tmp_path / left.name.removeprefix("hidden "))
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") == 1
        await store.append([fact("a", 2)])

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_cancelled_reader_leaves_no_open_connection(
    empty_store_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        await cancel_while_connecting(store.export(io.BytesIO()), monkeypatch)

    TempStore(str(path), "sqlite").run(steps)
    gc.collect()  # an open connection warns


def test_store_whose_opening_is_cancelled_is_closed(
    empty_store_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)
    run(cancel_while_connecting(open_store(str(path)), monkeypatch))
    gc.collect()  # an open connection warns


async def cancel_while_connecting(work: Coroutine[Any, Any, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel the work while a thread connects to the database for it."""
    loop = asyncio.get_running_loop()
    is_connecting, may_connect, has_connected = asyncio.Event(), threading.Event(), asyncio.Event()

    def connect_slowly(path: Path) -> sqlite3.Connection:
        loop.call_soon_threadsafe(is_connecting.set)
        may_connect.wait(TIMEOUT_SECONDS)
        loop.call_soon_threadsafe(has_connected.set)
        return sqlite_file.connect(path)

    monkeypatch.setattr(sqlite, "connect", connect_slowly)
    task = asyncio.create_task(work)
    await is_connecting.wait()
    task.cancel()
    loop.call_later(0.01, may_connect.set)  # after the task has noticed
    with pytest.raises(asyncio.CancelledError):
        await task
    await has_connected.wait()
    await asyncio.sleep(0.05)  # the thread goes on if nothing has waited for it


async def is_refused(store: Store, seq: int, why: str) -> None:
    """Check that a write fails for this reason."""
    found = await error(store.append([fact("a", seq)]))
    assert isinstance(found, StoreUnavailable)
    assert why in str(found)
    assert why in str(store.outage)


def test_deleted_file_is_unavailable_until_it_is_back(empty_store_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        (tmp_path / "aside").hardlink_to(path)
        path.unlink()
        await is_refused(store, 2, f"{path}: the store was deleted or moved while it was open")
        await is_refused(store, 2, "put back the original file")
        (tmp_path / "aside").rename(path)
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") in {1, 2}, "the outcome is unknown"
        await store.append([fact("a", await store.last_seq("holdem", "a") + 1)])
        assert await store.find_problems() == []

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_deletion_is_noticed_by_an_idle_store(
    empty_store_file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "CHECK_INTERVAL_SECONDS", 0.005)
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        path.unlink()
        while store.outage is None:
            await asyncio.sleep(0.001)
        assert store.outage.startswith(f"{path}: the store was deleted")

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)


def test_replaced_file_is_neither_written_nor_read(empty_store_file: bytes, tmp_path: Path) -> None:
    """Not even a backup is accepted without reopening, because rooms rely on the content that they have read."""
    path, other = tmp_path / "store", tmp_path / "other"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        await store.backup(other)
        await store.append([fact("a", 2)])
        (tmp_path / "aside").hardlink_to(path)
        other.rename(path)
        await is_refused(store, 3, f"{path}: the store was replaced by another one")
        with pytest.raises(StoreUnavailable, match="replaced"):
            await store.find_problems()
        await is_refused(store, 3, "replaced")

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)
    for left in tmp_path.glob("store-*"):
        left.unlink()  # as one must when restoring a backup by hand

    async def reopen(store: Store) -> None:
        assert await store.last_seq("holdem", "a") == 1
        await store.append([fact("a", 2)])
        assert await store.find_problems() == []

    TempStore(str(path), "sqlite").run(reopen)


def test_closing_a_replaced_store_keeps_the_log_of_the_new_one(empty_store_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)

    async def main() -> None:
        first = await open_store(str(path))
        await first.append([fact("a", 1)])
        for left in (path, *tmp_path.glob("store-*")):
            left.unlink()
        path.write_bytes(empty_store_file)
        async with await open_store(str(path)) as other:
            await other.append([fact("b", 1)])
            await is_refused(first, 2, "replaced by another one")
            await first.close()
            await other.append([fact("b", 2)])
            assert await other.find_problems() == []

    run(main())


def test_deletion_of_the_log_is_noticed_without_loss(empty_store_file: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(empty_store_file)

    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        (tmp_path / "store-wal").unlink()
        await is_refused(store, 2, "store-wal: the log of the store was deleted or replaced")
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") == 2, "the write preceded the check"
        await store.append([fact("a", 3)])
        assert await journal(store, "a") == facts("a", range(1, 4))
        assert await store.find_problems() == []

    TempStore(str(path), "sqlite").run(steps, retry_delays=RETRY_DELAYS)
