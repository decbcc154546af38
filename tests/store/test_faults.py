"""When nothing can be written the store says why, loses nothing that it has promised, and comes back by itself."""

import asyncio
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
from bench.cluster import Cluster

from croupier.store import group_commit, sqlite_file
from croupier.store.records import StoreFinding, StoreUnavailable
from croupier.store.store import Store, open_store, upgrade_store
from tests.store.conftest import ask, new_database
from tests.store.store_fixture import Shelf, error, fact, facts, journal, run
from tests.store.writer_processes import Child, fill_the_disk

PAUSES = (0.01, 0.05)


@pytest.fixture(scope="module")
def fragile() -> Iterator[Cluster]:
    """A server that may be stopped."""
    with Cluster() as running:
        asyncio.run(upgrade_store(running.url()))
        yield running


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["in good order", "at once"])
def test_a_server_that_is_stopped_and_started_again(fragile: Cluster, how: int) -> None:
    table = f"stopped by {how}"

    async def story(store: Store) -> None:
        await store.append(facts(table, range(1, 4)))
        await asyncio.to_thread(fragile.stop, how)
        with pytest.raises(StoreUnavailable, match=r"^postgresql:///postgres: "):
            await store.append([fact(table, 4)])
        assert store.outage is not None
        with pytest.raises(StoreUnavailable):
            await store.last_seq("holdem", table)
        with pytest.raises(StoreUnavailable):
            await store.find_problems()
        assert isinstance(await error(store.add_account("alice")), StoreUnavailable)
        await asyncio.to_thread(fragile.start)
        await store.wait_until_up()
        assert store.outage is None
        assert await store.last_seq("holdem", table) == 3
        await store.append([fact(table, 4)])
        assert await journal(store, table) == facts(table, range(1, 5))
        assert await store.find_problems() == []

    Shelf(fragile.url(), "postgresql").run(story, pauses=PAUSES)


def test_a_server_that_was_started_anew_while_nobody_wrote_is_found_again_without_a_word(fragile: Cluster) -> None:
    async def story(store: Store) -> None:
        await store.append([fact("idle", 1)])
        await asyncio.to_thread(fragile.stop)
        await asyncio.to_thread(fragile.start)
        await store.append([fact("idle", 2)])
        assert store.outage is None

    Shelf(fragile.url(), "postgresql").run(story)


@pytest.mark.parametrize(
    "how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL], ids=["in good order", "at once", "killed"]
)
def test_whoever_reads_while_the_server_goes_is_told_that_the_store_is_down(fragile: Cluster, how: int) -> None:
    """A connection may also break between two messages, which asyncpg takes for a fault of its own."""
    reading, times = 8, 5

    async def story(store: Store) -> None:
        async def read() -> None:
            with pytest.raises(StoreUnavailable):  # noqa: PT012 -- sooner or later
                while True:
                    await store.account("alice")

        for _ in range(times):
            readers = [asyncio.create_task(read()) for _ in range(reading)]
            await store.account("alice")
            await asyncio.to_thread(fragile.stop, how)
            await asyncio.gather(*readers)
            await asyncio.to_thread(fragile.start_anew)
            assert await store.account("alice") is None

    Shelf(fragile.url(), "postgresql").run(story, pauses=PAUSES)


def test_a_store_whose_server_is_gone_can_be_closed(fragile: Cluster) -> None:
    async def story(store: Store) -> None:
        await store.append([fact("gone", 1)])
        await store.last_seq("holdem", "gone")
        await asyncio.to_thread(fragile.stop)
        assert isinstance(await error(store.append([fact("gone", 2)])), StoreUnavailable)

    try:
        Shelf(fragile.url(), "postgresql").run(story)
    finally:
        fragile.start()


def test_a_server_whose_settings_lose_what_was_committed_is_found(fragile: Cluster) -> None:
    shelf = Shelf(fragile.url(), "postgresql")
    assert shelf.run(Store.find_problems) == []
    asyncio.run(ask(shelf.url, "ALTER SYSTEM SET fsync = off"))
    asyncio.run(ask(shelf.url, "SELECT pg_reload_conf()"))
    try:
        told = "found fsync = off in the server's settings; allowed: on"
        assert shelf.run(until_checked) == [StoreFinding("engine", told)]
    finally:
        asyncio.run(ask(shelf.url, "ALTER SYSTEM RESET fsync"))
        asyncio.run(ask(shelf.url, "SELECT pg_reload_conf()"))


async def until_checked(store: Store) -> list[StoreFinding]:
    """What a check finds when the server has heard of its new settings."""
    while not (found := await store.find_problems()):
        await asyncio.sleep(0.01)
    return found


def test_a_crash_of_the_server_loses_nothing_that_was_acknowledged(fragile: Cluster) -> None:
    durable = dict.fromkeys("abcdefgh", 0)

    async def story(store: Store) -> None:
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
        await asyncio.to_thread(fragile.stop, signal.SIGQUIT)
        await playing
        await asyncio.to_thread(fragile.start)
        await store.wait_until_up()
        for name, seq in durable.items():
            assert seq <= await store.last_seq("holdem", f"crash {name}") <= seq + 1
        assert await store.find_problems() == []

    Shelf(fragile.url(), "postgresql").run(story, pauses=PAUSES)


def test_a_connection_that_is_cut_fails_what_was_on_its_way_and_nothing_else(cluster: Cluster) -> None:
    shelf = Shelf(new_database(cluster), "postgresql")

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        other = await asyncpg.connect(shelf.url)
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

    shelf.run(story, pauses=PAUSES)


def test_what_failed_is_not_written_behind_ones_back_when_the_store_is_up_again(cluster: Cluster) -> None:
    shelf = Shelf(new_database(cluster), "postgresql")

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])  # from now on the server has everything that it needs to commit the next
        other = await asyncpg.connect(shelf.url)
        locked = other.transaction()
        await locked.start()
        await other.execute("LOCK TABLE journal IN EXCLUSIVE MODE")
        stuck = store.append([fact("a", 2, '"stuck"')])
        asked = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'croupier'"
        while not await other.fetchval(asked):
            await asyncio.sleep(0.001)
        store._engine._writer.terminate()  # the server is not told, as when a cable is cut
        assert isinstance(await error(stuck), StoreUnavailable)
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") == 1
        await locked.rollback()
        await other.close()
        await store.append([fact("a", 2)])
        assert await journal(store, "a") == facts("a", range(1, 3))

    shelf.run(story, pauses=PAUSES)


def test_a_disk_that_is_full(blank: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)
    child = Child(fill_the_disk, str(path), 600_000)
    told, down = child.hear()
    assert told.startswith(f"{path}: ")
    assert down is not None
    assert child.hear() is True, "what is said to a store that is down is refused at once"
    durable, there = child.hear()
    assert durable == there > 0
    written, there = child.hear()
    assert written == there == durable + 1
    assert child.hear() == []
    child.end()


def test_a_file_that_another_process_does_not_let_go(
    blank: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_SECONDS", 0.02)

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert str(await error(store.append([fact("a", 2)]))) == f"{path}: database is locked"
            assert await journal(store, "a") == facts("a", range(1, 2)), "it can be read all the same"
            other.execute("ROLLBACK")
        await store.wait_until_up()
        await store.append([fact("a", 2)])

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)


def test_a_file_that_is_gone_is_not_made_anew(blank: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_SECONDS", 0.02)

    async def story(store: Store) -> None:
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

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


async def is_refused(store: Store, seq: int, why: str) -> None:
    """Nothing can be written, and the reason is this."""
    found = await error(store.append([fact("a", seq)]))
    assert isinstance(found, StoreUnavailable)
    assert why in str(found)
    assert why in str(store.outage)


def test_a_file_that_is_deleted_takes_nothing_more_until_the_very_file_is_back(blank: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        (tmp_path / "aside").hardlink_to(path)
        path.unlink()
        await is_refused(store, 2, f"{path}: the store was deleted or moved while it was open")
        await is_refused(store, 2, "put back the very file")
        (tmp_path / "aside").rename(path)
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") in {1, 2}, "nobody knows"
        await store.append([fact("a", await store.last_seq("holdem", "a") + 1)])
        assert await store.find_problems() == []

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)
    assert [left.name for left in tmp_path.iterdir()] == ["store"]


def test_a_file_that_is_deleted_while_nobody_writes_is_noticed(
    blank: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "CHECK_INTERVAL_SECONDS", 0.005)
    path = tmp_path / "store"
    path.write_bytes(blank)

    async def story(store: Store) -> None:
        path.unlink()
        while store.outage is None:
            await asyncio.sleep(0.001)
        assert store.outage.startswith(f"{path}: the store was deleted")

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)


def test_another_store_in_the_place_of_the_one_that_was_opened_is_neither_written_nor_read(
    blank: bytes, tmp_path: Path
) -> None:
    """Even a backup is only opened anew: rooms go on from what they know to be in the store."""
    path, other = tmp_path / "store", tmp_path / "other"
    path.write_bytes(blank)

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        await store.backup(other)
        await store.append([fact("a", 2)])
        (tmp_path / "aside").hardlink_to(path)
        other.rename(path)
        await is_refused(store, 3, f"{path}: the store was replaced by another one")
        with pytest.raises(StoreUnavailable, match="replaced"):
            await store.find_problems()
        await is_refused(store, 3, "replaced")

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)
    for left in tmp_path.glob("store-*"):
        left.unlink()  # as whoever restores a backup has to

    async def again(store: Store) -> None:
        assert await store.last_seq("holdem", "a") == 1
        await store.append([fact("a", 2)])
        assert await store.find_problems() == []

    Shelf(str(path), "sqlite").run(again)


def test_the_log_of_another_store_is_still_there_when_one_that_was_replaced_is_closed(
    blank: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)

    async def main() -> None:
        first = await open_store(str(path))
        await first.append([fact("a", 1)])
        for left in (path, *tmp_path.glob("store-*")):
            left.unlink()
        path.write_bytes(blank)
        async with await open_store(str(path)) as other:
            await other.append([fact("b", 1)])
            await is_refused(first, 2, "replaced by another one")
            await first.close()
            await other.append([fact("b", 2)])
            assert await other.find_problems() == []

    run(main())


def test_a_log_that_is_deleted_is_noticed_and_nothing_is_lost(blank: bytes, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_bytes(blank)

    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        (tmp_path / "store-wal").unlink()
        await is_refused(store, 2, "store-wal: the log of the store was deleted or replaced")
        await store.wait_until_up()
        assert await store.last_seq("holdem", "a") == 2, "it was written before it was noticed"
        await store.append([fact("a", 3)])
        assert await journal(store, "a") == facts("a", range(1, 4))
        assert await store.find_problems() == []

    Shelf(str(path), "sqlite").run(story, pauses=PAUSES)
