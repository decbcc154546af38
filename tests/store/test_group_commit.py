"""Group commit: batches, order, outcomes, outages, and the limit of the queue."""

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest

from croupier.net.event_loop import call_when_done
from croupier.store import group_commit as module
from croupier.store.engine import Facts, Write
from croupier.store.group_commit import MAX_BATCH_FACTS, GroupCommitter
from croupier.store.records import JournalEntry, StoreUnavailable, WriteRefused
from tests.store.store_fixture import TIMEOUT_SECONDS, run


class FakeEngine:
    """An engine in memory. It commits while `may_commit` is set; `failure` is raised instead of committing.

    With `is_fast` it commits single writes at once. A check of the connection waits until `may_check` is set.
    """

    def __init__(self) -> None:
        self.commits: list[list[Write]] = []
        self.is_fast = False
        self.may_commit = asyncio.Event()
        self.may_commit.set()
        self.has_begun = asyncio.Event()
        self.may_check = asyncio.Event()
        self.may_check.set()
        self.is_checking = asyncio.Event()
        self.failure: BaseException | None = None
        self.reconnect_count = 0
        self.refused_tables: dict[str, Exception] = {}

    def commit_at_once(self, write: Facts) -> bool:
        return self.is_fast and write.rows[0][1] not in self.refused_tables and bool(self._commit([write]))

    def commit(self, writes: Sequence[Write]) -> Future[list[object]]:
        async def commit() -> list[object]:
            self.has_begun.set()
            await self.may_commit.wait()
            return self._commit(writes)

        return asyncio.ensure_future(commit())

    def _commit(self, writes: Sequence[Write]) -> list[object]:
        if self.failure is not None:
            raise self.failure
        self.commits.append([*writes])
        return [self.refused_tables.get(write.rows[0][1]) for write in writes if isinstance(write, Facts)]

    async def reconnect(self) -> None:
        self.reconnect_count += 1
        if self.failure is not None:
            raise self.failure

    async def check_connection(self) -> None:
        if not self.may_check.is_set():
            self.is_checking.set()
            await self.may_check.wait()
        if self.failure is not None:
            raise self.failure

    def written(self) -> list[tuple[str, int]]:
        return [row[1:3] for commit in self.commits for write in commit for row in write.rows]


def make_facts(table: str, *seqs: int) -> Facts:
    return Facts([JournalEntry("holdem", table, seq, b"{}", 0.0) for seq in seqs], len(seqs))


def run_steps(steps: Callable[[GroupCommitter, FakeEngine], Awaitable[None]], max_pending: int = 100) -> None:
    async def main() -> None:
        engine = FakeEngine()
        committer = GroupCommitter(engine, max_pending, (0.001, 0.004))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await steps(committer, engine)
            await committer.close()

    run(main())


def test_writes_of_one_loop_turn_are_one_commit() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        await asyncio.gather(*(committer.submit(make_facts(table, 1)) for table in "abcd"))
        assert [len(commit) for commit in engine.commits] == [4]

    run_steps(steps)


def test_fast_engine_commits_a_single_write_at_once() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.is_fast = True
        engine.refused_tables = {"b": WriteRefused("no")}
        written, refused = committer.submit(make_facts("a", 1)), committer.submit(make_facts("b", 1))
        assert (written.done(), refused.done()) == (True, False)
        with pytest.raises(WriteRefused, match="no"):
            await refused
        assert (engine.written(), committer.pending_count) == ([("a", 1), ("b", 1)], 0)

    run_steps(steps)


def test_write_waits_for_an_earlier_commit_also_if_the_engine_is_fast() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_commit.clear()
        first = committer.submit(make_facts("a", 1))
        await engine.has_begun.wait()
        engine.is_fast = True
        second = committer.submit(make_facts("a", 2))
        assert not second.done()
        engine.may_commit.set()
        await asyncio.gather(first, second)
        assert engine.written() == [("a", 1), ("a", 2)]

    run_steps(steps)


def test_failed_commit_at_once_is_an_outage_until_the_engine_recovers() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.is_fast, engine.failure = True, StoreUnavailable("gone")
        for _ in range(2):
            failed = committer.submit(make_facts("a", 1))
            assert str(failed.exception()) == committer.outage == "gone"
        while engine.reconnect_count < 2:
            await asyncio.sleep(0.001)
        engine.failure = None
        await committer.wait_until_up()
        assert committer.submit(make_facts("a", 1)).done()
        assert engine.written() == [("a", 1)]

    run_steps(steps)


def test_tables_that_continue_at_once_are_always_committed_together() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        async def table(name: str) -> None:
            for seq in range(5):
                await committer.submit(make_facts(name, seq))

        await asyncio.gather(*map(table, "abcdefgh"))
        assert [len(commit) for commit in engine.commits] == [8] * 5

    run_steps(steps)


def test_writes_during_a_commit_go_into_the_next_one() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_commit.clear()
        first = committer.submit(make_facts("a", 1))
        await engine.has_begun.wait()
        later = [
            committer.submit(make_facts("a", 2)),
            committer.submit(make_facts("b", 1)),
            committer.submit(make_facts("a", 3)),
        ]
        assert not first.done()
        engine.may_commit.set()
        await asyncio.gather(first, *later)
        assert [len(commit) for commit in engine.commits] == [1, 3]
        assert engine.written() == [("a", 1), ("a", 2), ("b", 1), ("a", 3)]

    run_steps(steps)


def test_what_is_written_when_a_write_is_durable_is_committed_at_once_and_together() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        done: list[Future[None]] = []

        def continue_table(name: str, seq: int, _: Future[None]) -> None:
            write = committer.submit(make_facts(name, seq))
            call_when_done(write, partial(continue_table, name, seq + 1) if seq < 3 else done.append)

        for name in "ab":
            call_when_done(committer.submit(make_facts(name, 1)), partial(continue_table, name, 2))
        committer.submit(make_facts("c", 1))
        while len(done) < 2:
            await asyncio.sleep(0)
        assert [len(commit) for commit in engine.commits] == [3, 2, 2]

    run_steps(steps)


def test_error_of_one_owner_does_not_concern_other_writes() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        faults: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, fault: faults.append(fault["exception"]))
        call_when_done(committer.submit(make_facts("a", 1)), lambda _: 1 / 0)
        await committer.submit(make_facts("b", 1))
        await committer.submit(make_facts("b", 2))
        assert [type(fault) for fault in faults] == [ZeroDivisionError]
        assert engine.written() == [("a", 1), ("b", 1), ("b", 2)]

    run_steps(steps)


def test_write_during_a_check_of_the_connection_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_INTERVAL_SECONDS", 0.001)

    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_check.clear()
        await engine.is_checking.wait()
        write = committer.submit(make_facts("a", 1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert engine.commits == []
        engine.may_check.set()
        await write
        assert engine.written() == [("a", 1)]

    run_steps(steps)


def test_commit_is_never_larger_than_a_batch_except_for_a_single_write() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        batches = [
            make_facts("a", *range(MAX_BATCH_FACTS - 1)),
            make_facts("b", 1),
            make_facts("c", 1),
            make_facts("d", *range(2 * MAX_BATCH_FACTS)),
            make_facts("e", 1),
        ]
        await asyncio.gather(*map(committer.submit, batches))
        assert engine.commits == [batches[:2], batches[2:3], batches[3:4], batches[4:]]

    run_steps(steps, max_pending=10 * MAX_BATCH_FACTS)


def test_each_future_gets_its_own_outcome() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.refused_tables = {"b": WriteRefused("no")}
        outcomes = await asyncio.gather(
            *(committer.submit(make_facts(table, 1)) for table in "abc"), return_exceptions=True
        )
        assert outcomes == [None, engine.refused_tables["b"], None]
        assert committer.outage is None

    run_steps(steps)


def test_full_queue_refuses_writes_until_there_is_space() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_commit.clear()
        waiting = [committer.submit(make_facts("a", 1, 2)), committer.submit(make_facts("b", 1))]
        with pytest.raises(StoreUnavailable, match="found 3 facts that wait to be written; allowed: 3"):
            await committer.submit(make_facts("c", 1))
        engine.may_commit.set()
        await asyncio.gather(*waiting)
        await committer.submit(make_facts("d", 1))
        assert engine.written() == [("a", 1), ("a", 2), ("b", 1), ("d", 1)]

    run_steps(steps, max_pending=3)


def test_failed_commit_fails_all_pending_writes_for_good() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_commit.clear()
        first = committer.submit(make_facts("a", 1))
        await engine.has_begun.wait()
        waiting = [committer.submit(make_facts("a", 2)), committer.submit(make_facts("b", 1))]
        engine.failure = StoreUnavailable("the disk is full")
        engine.may_commit.set()
        outcomes = await asyncio.gather(first, *waiting, return_exceptions=True)
        assert [(type(each), str(each)) for each in outcomes] == [(StoreUnavailable, "the disk is full")] * 3
        assert committer.outage == "the disk is full"
        engine.failure = None
        await committer.wait_until_up()
        await committer.submit(make_facts("a", 1))
        assert engine.written() == [("a", 1)]

    run_steps(steps)


def test_writes_fail_at_once_during_an_outage_and_the_store_recovers() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.failure = StoreUnavailable("gone")
        with pytest.raises(StoreUnavailable, match="gone"):
            await committer.submit(make_facts("a", 1))
        while engine.reconnect_count < 4:
            refused = committer.submit(make_facts("a", 1))
            assert refused.done()
            assert isinstance(refused.exception(), StoreUnavailable)
            await asyncio.sleep(0)
        engine.failure = None
        await committer.wait_until_up()
        assert committer.outage is None
        await committer.submit(make_facts("a", 1))
        assert engine.written() == [("a", 1)]

    run_steps(steps)


def test_unexpected_exception_of_the_engine_resolves_all_futures() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.failure = ZeroDivisionError("oh")
        with pytest.raises(StoreUnavailable, match="ZeroDivisionError"):
            await committer.submit(make_facts("a", 1))
        engine.failure = None
        await committer.wait_until_up()

    run_steps(steps)


def test_close_waits_for_pending_writes_and_refuses_new_ones() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.may_commit.clear()
        pending = committer.submit(make_facts("a", 1))
        closing = asyncio.ensure_future(committer.close())
        await engine.has_begun.wait()
        with pytest.raises(StoreUnavailable, match="closed"):
            await committer.submit(make_facts("a", 2))
        assert not closing.done()
        engine.may_commit.set()
        await closing
        assert pending.done()
        assert engine.written() == [("a", 1)]

    run_steps(steps)


def test_store_can_be_closed_during_an_outage() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        engine.failure = StoreUnavailable("gone")
        with pytest.raises(StoreUnavailable):
            await committer.submit(make_facts("a", 1))

    run_steps(steps)


def test_write_with_a_cancelled_future_is_committed() -> None:
    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        committer.submit(make_facts("a", 1)).cancel()
        await committer.submit(make_facts("a", 2))
        assert engine.written() == [("a", 1), ("a", 2)]

    run_steps(steps)


def test_outage_of_an_idle_store_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_INTERVAL_SECONDS", 0.001)

    async def steps(committer: GroupCommitter, engine: FakeEngine) -> None:
        await committer.submit(make_facts("a", 1))
        engine.failure = StoreUnavailable("the file is gone")
        while committer.outage is None:
            await asyncio.sleep(0.001)
        assert committer.outage == "the file is gone"
        with pytest.raises(StoreUnavailable, match="the file is gone"):
            await committer.submit(make_facts("a", 2))
        engine.failure = None
        await committer.wait_until_up()
        await committer.submit(make_facts("a", 2))
        assert engine.written() == [("a", 1), ("a", 2)]

    run_steps(steps)
