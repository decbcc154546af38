"""Where SQLite commits: the policy with injected times, and the engine with an injected timer."""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from itertools import count, cycle
from pathlib import Path

import pytest

from croupier.store import sqlite_file
from croupier.store.commit_place import (
    MAX_LOOP_RUN,
    MAX_LOOP_WEIGHT,
    MAX_PAUSE_SECONDS,
    RECENT_COMMITS,
    ROW_SECONDS,
    SLOW_SECONDS,
    SLOW_SHARE,
    STALL_SECONDS,
    CommitPlacePolicy,
    count_waits,
)
from croupier.store.engine import Facts
from croupier.store.records import JournalEntry, StoreUnavailable
from croupier.store.sqlite import SqliteEngine
from croupier.store.urls import SqliteLocation
from tests.store.store_fixture import NOON, TIMEOUT_SECONDS, TempStore, facts, journal, run

FAST, SLOW, STALL = SLOW_SECONDS / 4, SLOW_SECONDS, STALL_SECONDS


def make_facts(seq: int, count: int = 1) -> Facts:
    numbers = range(seq, seq + count)
    return Facts([JournalEntry("holdem", "a", n, b'{"n":%d}' % n, NOON + n) for n in numbers], count)


class FakeClock:
    """A timer that the test sets, and that moves by `step` seconds at each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 1000.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def make_policy(clock: FakeClock | None = None) -> CommitPlacePolicy:
    """A policy that has seen fast commits in the thread."""
    policy = CommitPlacePolicy(clock or FakeClock())
    for _ in range(RECENT_COMMITS):
        policy.record(FAST, 0, on_loop=False)
    return policy


def test_first_commits_are_made_in_the_thread() -> None:
    policy = CommitPlacePolicy(FakeClock())
    for _ in range(RECENT_COMMITS):
        assert not policy.allows_loop(1)
        policy.record(FAST, 0, on_loop=False)
    assert policy.allows_loop(1)


def test_only_a_small_write_is_committed_on_the_loop() -> None:
    assert make_policy().allows_loop(MAX_LOOP_WEIGHT)
    assert not make_policy().allows_loop(MAX_LOOP_WEIGHT + 1)


@pytest.mark.parametrize("seconds", [SLOW, 0.02, 3.0])
def test_slow_commit_on_the_loop_returns_to_the_thread(seconds: float) -> None:
    clock = FakeClock()
    policy = make_policy(clock)
    policy.record(FAST, 0, on_loop=True)
    assert policy.allows_loop(1)
    policy.record(seconds, 0, on_loop=True)
    assert not policy.allows_loop(1)
    clock.now += seconds / SLOW_SHARE * 0.99
    policy.record(FAST, 0, on_loop=False)
    assert not policy.allows_loop(1)
    clock.now += seconds / SLOW_SHARE * 0.02
    assert policy.allows_loop(1)


def test_each_further_slow_commit_doubles_the_pause_up_to_a_limit() -> None:
    clock = FakeClock()
    policy = make_policy(clock)
    pause = SLOW / SLOW_SHARE
    while pause < MAX_PAUSE_SECONDS:
        policy.record(SLOW, 0, on_loop=True)
        clock.now += pause * 0.99
        assert not policy.allows_loop(1)
        clock.now += pause * 0.02
        assert policy.allows_loop(1)
        pause *= 2
    for _ in range(2):
        policy.record(SLOW, 0, on_loop=True)
        clock.now += MAX_PAUSE_SECONDS * 1.01
        assert policy.allows_loop(1)
    policy.record(FAST, 0, on_loop=True)
    policy.record(SLOW, 0, on_loop=True)
    clock.now += SLOW / SLOW_SHARE * 1.01
    assert policy.allows_loop(1), "a fast one has come between"


def test_slow_commits_take_at_most_their_share_of_the_loop() -> None:
    """A disk on which every second commit on the loop is slow, and none in the thread."""
    clock = FakeClock()
    policy = make_policy(clock)
    started, blocked = clock.now, 0.0
    loop_times = cycle([FAST, 0.005])
    while clock.now < started + 10.0:
        on_loop = policy.allows_loop(1)
        seconds = next(loop_times) if on_loop else FAST
        clock.now += seconds
        blocked += seconds if on_loop else 0.0
        policy.record(seconds, 0, on_loop=on_loop)
    assert 10 * 0.005 < blocked <= 10.0 * SLOW_SHARE + 0.005


def test_fastest_of_recent_commits_in_the_thread_shows_the_time_of_the_disk() -> None:
    """The others may have waited for the interpreter, which the event loop was using."""
    policy = make_policy()
    for number in range(10 * RECENT_COMMITS):
        policy.record(FAST if number % RECENT_COMMITS == 0 else 5.0, 0, on_loop=False)
        assert policy.allows_loop(1)


def test_time_of_the_rows_does_not_count() -> None:
    policy = make_policy()
    policy.record(FAST + 100 * ROW_SECONDS, 100, on_loop=True)
    assert policy.allows_loop(1)
    policy.record(SLOW + 2 * ROW_SECONDS, 1, on_loop=True)
    assert not policy.allows_loop(1)


def test_disk_that_would_stall_the_loop_is_not_tried_there() -> None:
    policy = make_policy()
    for _ in range(RECENT_COMMITS - 1):
        policy.record(STALL, 0, on_loop=False)
        assert policy.allows_loop(1)
    policy.record(STALL, 0, on_loop=False)
    assert not policy.allows_loop(1)
    policy.record(SLOW, 0, on_loop=False)
    assert policy.allows_loop(1), "it may be fast on the loop"


def test_commit_that_is_interrupted_but_does_not_wait_is_not_slow() -> None:
    policy = make_policy()
    policy.record(3.0, 0, on_loop=True, has_waited=False)
    assert policy.allows_loop(1)
    assert not policy.allows_loop(MAX_LOOP_WEIGHT + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the waits of a thread")
def test_waits_of_a_thread_are_counted() -> None:
    before = count_waits()
    time.sleep(0.001)
    assert count_waits() > before


def test_thread_commits_from_time_to_time_so_that_it_can_make_checkpoints() -> None:
    policy = make_policy()
    for _ in range(MAX_LOOP_RUN):
        assert policy.allows_loop(1)
        policy.record(FAST, 0, on_loop=True)
    assert not policy.allows_loop(1)
    policy.record(FAST, 0, on_loop=False)
    assert policy.allows_loop(1)


def run_engine(
    path: Path, clock: FakeClock, steps: Callable[[SqliteEngine], Awaitable[None]], *, waits: bool = True
) -> None:
    """Run steps with an engine whose commits take as long as the clock says; with `waits`, they wait for the disk."""

    async def main() -> None:
        counter = count(step=1 if waits else 0)
        engine = SqliteEngine(SqliteLocation(path), lambda: NOON, clock, counter.__next__)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await engine.reconnect()
                await steps(engine)
        finally:
            await engine.close()

    run(main())


async def commit(engine: SqliteEngine, *writes: Facts) -> Sequence[object]:
    """Commit as the group committer does: a single write on the loop, if the engine does that."""
    return [None] if len(writes) == 1 and engine.commit_at_once(writes[0]) else await engine.commit(writes)


def counts(engine: SqliteEngine) -> dict[str, int]:
    return {place: sum(times.counts) for place, times in engine.commit_times.items()}


@pytest.fixture
def path(empty_store_file: bytes, tmp_path: Path) -> Path:
    store = tmp_path / "store"
    store.write_bytes(empty_store_file)
    return store


def test_fast_disk_is_written_on_the_loop(path: Path) -> None:
    count = RECENT_COMMITS + MAX_LOOP_RUN + 10

    async def steps(engine: SqliteEngine) -> None:
        for seq in range(1, count + 1):
            outcomes = await commit(engine, make_facts(seq))
            assert outcomes == [None]
        assert counts(engine) == {"loop": MAX_LOOP_RUN + 9, "thread": RECENT_COMMITS + 1}
        await commit(engine, make_facts(count + 1), make_facts(count + 2))
        assert counts(engine) == {"loop": MAX_LOOP_RUN + 9, "thread": RECENT_COMMITS + 2}

    run_engine(path, FakeClock(FAST), steps)
    found = TempStore(str(path), "sqlite").run(lambda store: journal(store, "a"))
    assert found == facts("a", range(1, count + 3))


def test_slow_disk_is_written_in_the_thread(path: Path) -> None:
    async def steps(engine: SqliteEngine) -> None:
        for seq in range(1, 2 * RECENT_COMMITS):
            await commit(engine, make_facts(seq))
        assert counts(engine) == {"loop": 0, "thread": 2 * RECENT_COMMITS - 1}

    run_engine(path, FakeClock(2 * STALL), steps)


def test_busy_processor_is_no_slow_disk(path: Path) -> None:
    async def steps(engine: SqliteEngine) -> None:
        for seq in range(1, 2 * RECENT_COMMITS):
            await commit(engine, make_facts(seq))
        assert counts(engine) == {"loop": RECENT_COMMITS - 1, "thread": RECENT_COMMITS}

    run_engine(path, FakeClock(2 * SLOW), steps, waits=False)


async def commit_until_on_the_loop(engine: SqliteEngine) -> int:
    """Commit until the next commit is made on the loop; returns its sequence number."""
    for seq in range(1, RECENT_COMMITS + 2):
        await commit(engine, make_facts(seq))
    assert counts(engine) == {"loop": 1, "thread": RECENT_COMMITS}
    return RECENT_COMMITS + 2


def test_loop_does_not_wait_for_another_process_that_writes(path: Path) -> None:
    async def steps(engine: SqliteEngine) -> None:
        seq = await commit_until_on_the_loop(engine)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.ensure_future(commit(engine, make_facts(seq)))
            await asyncio.sleep(0.01)
            assert not waiting.done(), "the thread waits"
            other.execute("ROLLBACK")
            assert await waiting == [None]
        assert counts(engine) == {"loop": 1, "thread": RECENT_COMMITS + 1}
        await commit(engine, make_facts(seq + 1))
        assert counts(engine)["loop"] == 2

    run_engine(path, FakeClock(FAST), steps)


def test_locked_file_is_unavailable_also_after_commits_on_the_loop(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_TIMEOUT_SECONDS", 0.02)

    async def steps(engine: SqliteEngine) -> None:
        seq = await commit_until_on_the_loop(engine)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="database is locked"):
                await commit(engine, make_facts(seq))
            other.execute("ROLLBACK")

    run_engine(path, FakeClock(FAST), steps)


def test_loop_does_not_use_the_connection_while_the_thread_does(path: Path) -> None:
    async def steps(engine: SqliteEngine) -> None:
        seq = await commit_until_on_the_loop(engine)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            in_thread = asyncio.ensure_future(commit(engine, make_facts(seq), make_facts(seq + 1)))
            await asyncio.sleep(0.01)
            single = asyncio.ensure_future(commit(engine, make_facts(seq + 2)))
            await asyncio.sleep(0)
            assert not single.done()
            other.execute("ROLLBACK")
            assert (await in_thread, await single) == ([None, None], [None])
        assert counts(engine) == {"loop": 1, "thread": RECENT_COMMITS + 2}

    run_engine(path, FakeClock(FAST), steps)


def test_deleted_file_is_unavailable_for_commits_on_the_loop(path: Path) -> None:
    async def steps(engine: SqliteEngine) -> None:
        seq = await commit_until_on_the_loop(engine)
        path.unlink()
        with pytest.raises(StoreUnavailable, match="was deleted or moved"):
            await commit(engine, make_facts(seq))

    run_engine(path, FakeClock(FAST), steps)
