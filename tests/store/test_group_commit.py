"""The scribe: many facts with one stroke, nobody forgotten, nothing out of order, and no queue without end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from croupier.store import group_commit as module
from croupier.store.engine import Facts, Write
from croupier.store.group_commit import MAX_BATCH_FACTS, GroupCommitter
from croupier.store.records import StoreUnavailable, WriteRefused
from tests.store.store_fixture import PATIENCE, run


class Desk:
    """An engine that only remembers. It commits when it is let; `broken` says why it cannot."""

    def __init__(self) -> None:
        self.commits: list[list[Write]] = []
        self.let = asyncio.Event()
        self.let.set()
        self.begun = asyncio.Event()
        self.broken: BaseException | None = None
        self.tried = 0
        self.guilty: dict[str, Exception] = {}

    async def commit(self, deeds: Sequence[Write]) -> list[object]:
        self.begun.set()
        await self.let.wait()
        if self.broken is not None:
            raise self.broken
        self.commits.append([*deeds])
        return [self.guilty.get(deed.rows[0][1]) for deed in deeds if isinstance(deed, Facts)]

    async def reconnect(self) -> None:
        self.tried += 1
        if self.broken is not None:
            raise self.broken

    async def check_connection(self) -> None:
        if self.broken is not None:
            raise self.broken

    def written(self) -> list[tuple[str, int]]:
        return [row[1:3] for commit in self.commits for deed in commit for row in deed.rows]


def some(table: str, *seqs: int) -> Facts:
    return Facts([("holdem", table, seq, "{}", 0.0) for seq in seqs], len(seqs))


def told(story: Callable[[GroupCommitter, Desk], Awaitable[None]], most: int = 100) -> None:
    async def main() -> None:
        desk = Desk()
        scribe = GroupCommitter(desk, most, (0.001, 0.004))
        async with asyncio.timeout(PATIENCE):
            await story(scribe, desk)
            await scribe.close()

    run(main())


def test_all_that_is_said_in_one_turn_of_the_loop_is_one_commit() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        await asyncio.gather(*(scribe.submit(some(table, 1)) for table in "abcd"))
        assert [len(commit) for commit in desk.commits] == [4]

    told(story)


def test_tables_that_go_on_as_soon_as_they_may_are_always_written_together() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        async def table(name: str) -> None:
            for seq in range(5):
                await scribe.submit(some(name, seq))

        await asyncio.gather(*map(table, "abcdefgh"))
        assert [len(commit) for commit in desk.commits] == [8] * 5

    told(story)


def test_what_comes_during_a_commit_goes_with_the_next() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.let.clear()
        first = scribe.submit(some("a", 1))
        await desk.begun.wait()
        later = [scribe.submit(some("a", 2)), scribe.submit(some("b", 1)), scribe.submit(some("a", 3))]
        assert not first.done()
        desk.let.set()
        await asyncio.gather(first, *later)
        assert [len(commit) for commit in desk.commits] == [1, 3]
        assert desk.written() == [("a", 1), ("a", 2), ("b", 1), ("a", 3)]

    told(story)


def test_a_commit_is_never_larger_than_a_batch_unless_one_flight_is() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        flights = [
            some("a", *range(MAX_BATCH_FACTS - 1)),
            some("b", 1),
            some("c", 1),
            some("d", *range(2 * MAX_BATCH_FACTS)),
            some("e", 1),
        ]
        await asyncio.gather(*map(scribe.submit, flights))
        assert desk.commits == [flights[:2], flights[2:3], flights[3:4], flights[4:]]

    told(story, most=10 * MAX_BATCH_FACTS)


def test_everybody_is_told_his_own_outcome() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.guilty = {"b": WriteRefused("no")}
        outcomes = await asyncio.gather(*(scribe.submit(some(table, 1)) for table in "abc"), return_exceptions=True)
        assert outcomes == [None, desk.guilty["b"], None]
        assert scribe.outage is None

    told(story)


def test_a_full_queue_takes_nothing_until_there_is_room() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.let.clear()
        waiting = [scribe.submit(some("a", 1, 2)), scribe.submit(some("b", 1))]
        assert scribe.is_full
        with pytest.raises(StoreUnavailable, match="found 3 facts that wait to be written; allowed: 3"):
            await scribe.submit(some("c", 1))
        room = asyncio.ensure_future(scribe.wait_for_space())
        await desk.begun.wait()
        assert not room.done()
        desk.let.set()
        await room
        assert not scribe.is_full
        await asyncio.gather(*waiting, scribe.submit(some("d", 1)))
        assert desk.written() == [("a", 1), ("a", 2), ("b", 1), ("d", 1)]

    told(story, most=3)


def test_there_is_room_at_once_when_nothing_waits() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        await scribe.wait_for_space()
        await scribe.wait_until_up()
        assert (scribe.is_full, scribe.outage) == (False, None)

    told(story)


def test_a_commit_that_fails_takes_all_that_wait_with_it_and_nothing_of_them_is_written_later() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.let.clear()
        first = scribe.submit(some("a", 1))
        await desk.begun.wait()
        waiting = [scribe.submit(some("a", 2)), scribe.submit(some("b", 1))]
        desk.broken = StoreUnavailable("the disk is full")
        desk.let.set()
        outcomes = await asyncio.gather(first, *waiting, return_exceptions=True)
        assert [(type(each), str(each)) for each in outcomes] == [(StoreUnavailable, "the disk is full")] * 3
        assert scribe.outage == "the disk is full"
        desk.broken = None
        await scribe.wait_until_up()
        await scribe.submit(some("a", 1))
        assert desk.written() == [("a", 1)]

    told(story)


def test_a_store_that_is_down_refuses_at_once_and_comes_back_by_itself() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.broken = StoreUnavailable("gone")
        with pytest.raises(StoreUnavailable, match="gone"):
            await scribe.submit(some("a", 1))
        while desk.tried < 4:
            refused = scribe.submit(some("a", 1))
            assert refused.done()
            assert isinstance(refused.exception(), StoreUnavailable)
            await scribe.wait_for_space()
            await asyncio.sleep(0)
        desk.broken = None
        await scribe.wait_until_up()
        assert scribe.outage is None
        await scribe.submit(some("a", 1))
        assert desk.written() == [("a", 1)]

    told(story)


def test_a_mistake_of_the_engine_leaves_nobody_waiting() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.broken = ZeroDivisionError("oh")
        with pytest.raises(StoreUnavailable, match="ZeroDivisionError"):
            await scribe.submit(some("a", 1))
        desk.broken = None
        await scribe.wait_until_up()

    told(story)


def test_who_closes_the_store_waits_for_what_was_said_and_nothing_more_may_be() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.let.clear()
        said = scribe.submit(some("a", 1))
        closing = asyncio.ensure_future(scribe.close())
        await desk.begun.wait()
        with pytest.raises(StoreUnavailable, match="closed"):
            await scribe.submit(some("a", 2))
        assert not closing.done()
        desk.let.set()
        await closing
        assert said.done()
        assert desk.written() == [("a", 1)]

    told(story)


def test_a_store_that_is_down_can_be_closed() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        desk.broken = StoreUnavailable("gone")
        with pytest.raises(StoreUnavailable):
            await scribe.submit(some("a", 1))

    told(story)


def test_what_nobody_waits_for_any_more_is_written_all_the_same() -> None:
    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        scribe.submit(some("a", 1)).cancel()
        await scribe.submit(some("a", 2))
        assert desk.written() == [("a", 1), ("a", 2)]

    told(story)


def test_a_store_that_goes_away_while_nobody_writes_is_down_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_INTERVAL_SECONDS", 0.001)

    async def story(scribe: GroupCommitter, desk: Desk) -> None:
        await scribe.submit(some("a", 1))
        desk.broken = StoreUnavailable("the file is gone")
        while scribe.outage is None:
            await asyncio.sleep(0.001)
        assert scribe.outage == "the file is gone"
        with pytest.raises(StoreUnavailable, match="the file is gone"):
            await scribe.submit(some("a", 2))
        desk.broken = None
        await scribe.wait_until_up()
        await scribe.submit(some("a", 2))
        assert desk.written() == [("a", 1), ("a", 2)]

    told(story)
