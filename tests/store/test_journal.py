"""Journals and snapshots of tables."""

import asyncio

import pytest

from croupier.store import store as module
from croupier.store.records import JournalHead, Snapshot, WriteRefused
from croupier.store.sqlite_file import MAX_INSERT_ROWS
from croupier.store.store import Store
from tests.store.store_fixture import NOON, TempStore, error, fact, facts, journal


def test_written_facts_are_read_after_reopening(temp_store: TempStore) -> None:
    async def write(store: Store) -> None:
        await store.append(facts("a", range(1, 4)))

    temp_store.run(write)
    assert temp_store.run(lambda store: journal(store, "a")) == facts("a", range(1, 4))


def test_fact_and_time_are_stored_exactly(temp_store: TempStore) -> None:
    odd = '{ "á" :\t"\\u0000 🃏 \\\\ \\" \'$1", "x":1e400}'

    async def steps(store: Store) -> None:
        await store.append([fact("tàble 🂡", 1, odd)])
        assert await journal(store, "tàble 🂡") == [fact("tàble 🂡", 1, odd)]

    temp_store.run(steps)


def test_journal_is_read_after_a_sequence_number(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, 11)))
        assert await journal(store, "a", after=7) == facts("a", range(8, 11))
        assert await journal(store, "a", after=10) == []
        assert await journal(store, "b") == []

    temp_store.run(steps)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
def test_long_journal_is_read_in_portions(temp_store: TempStore, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(module, "FETCH_FACTS", 2)

    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, length + 1)))
        assert await journal(store, "a") == facts("a", range(1, length + 1))

    temp_store.run(steps)


def test_tables_and_rooms_are_independent(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append([*facts("b", range(1, 3)), fact("a", 1), fact("b", 1, room="oldmaid")])
        assert await store.journal_heads("holdem") == [JournalHead("a", 1), JournalHead("b", 2)]
        assert await store.journal_heads("oldmaid") == [JournalHead("b", 1)]
        assert await store.journal_heads("kuhn") == []
        assert [await store.last_seq("holdem", table) for table in "abc"] == [1, 2, 0]
        assert await journal(store, "b", room="oldmaid") == [fact("b", 1, room="oldmaid")]

    temp_store.run(steps)


def test_duplicate_sequence_number_refuses_the_whole_write(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append(facts("a", range(1, 3)))
        failed = await error(store.append([fact("b", 1), fact("a", 2, '"other"'), fact("a", 3)]))
        assert isinstance(failed, WriteRefused)
        assert str(failed).startswith("found facts of holdem b from 1 on (")
        assert str(failed).endswith("); allowed: those that follow its last")
        assert await journal(store, "a") == facts("a", range(1, 3))
        assert await store.last_seq("holdem", "b") == 0
        failed = await error(store.append([*facts("c", range(1, 3 * MAX_INSERT_ROWS)), fact("a", 2)]))
        assert isinstance(failed, WriteRefused), "several statements are one transaction"
        assert await store.last_seq("holdem", "c") == 0
        assert store.outage is None

    temp_store.run(steps)


def test_refused_fact_does_not_affect_other_writes_of_the_commit(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)])
        batches = [store.append(facts(table, range(1, 21))) for table in "bacad"]
        outcomes = await asyncio.gather(*batches, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [
            type(None),
            WriteRefused,
            type(None),
            WriteRefused,
            type(None),
        ]
        assert await store.journal_heads("holdem") == [
            JournalHead("a", 1),
            *(JournalHead(table, 20) for table in "bcd"),
        ]

    temp_store.run(steps)


def test_first_of_two_concurrent_writes_of_a_number_succeeds(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        first, second = store.append([fact("a", 1, '"first"')]), store.append([fact("a", 1, '"second"')])
        await first
        assert isinstance(await error(second), WriteRefused)
        assert await journal(store, "a") == [fact("a", 1, '"first"')]

    temp_store.run(steps)


@pytest.mark.parametrize(
    ("table", "seq"), [("a", 2**63), ("a", -(2**63) - 1), ("\ud800", 1)], ids=["too large", "too small", "no character"]
)
@pytest.mark.parametrize("count", [1, 40], ids=["with another one", "with many others"])
def test_unstorable_fact_is_refused_alone(temp_store: TempStore, table: str, seq: int, count: int) -> None:
    async def steps(store: Store) -> None:
        before, failed = store.append(facts("b", range(1, count + 1))), store.append([fact(table, seq)])
        later = store.append(facts("c", range(1, count + 1)))
        assert isinstance(await error(failed), WriteRefused)
        await asyncio.gather(before, later)
        assert await store.journal_heads("holdem") == [JournalHead("b", count), JournalHead("c", count)]
        assert store.outage is None
        await store.append(facts("d", range(1, count + 1)))

    temp_store.run(steps)


def test_facts_are_stored_as_bytes(temp_store: TempStore) -> None:
    odd = [fact("a", 1)._replace(fact=b"\xff\0"), fact("a", 2)._replace(fact=b""), fact("a", 3)]

    async def steps(store: Store) -> None:
        await store.append(odd)
        assert await journal(store, "a") == odd

    temp_store.run(steps)


def test_facts_of_a_table_are_written_in_order(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        done: list[tuple[str, int]] = []

        async def table(name: str) -> None:
            for seq in range(1, 41):
                await store.append([fact(name, seq)])
                assert await store.last_seq("holdem", name) == seq
                done.append((name, seq))

        await asyncio.gather(*map(table, "abcdefgh"))
        assert len(done) == 320
        assert await store.journal_heads("holdem") == [JournalHead(name, 40) for name in "abcdefgh"]
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_close_writes_thousands_of_unawaited_facts(temp_store: TempStore) -> None:
    async def write(store: Store) -> None:
        for seq in range(1, 3001):
            store.append([fact("a", seq)])

    temp_store.run(write)
    assert temp_store.run(lambda store: store.last_seq("holdem", "a")) == 3000
    assert temp_store.run(Store.find_problems) == []


def test_futures_need_not_be_awaited(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        task = asyncio.ensure_future(store.append([fact("a", 1)]))
        task.cancel()
        await store.append([fact("a", 2)])
        assert await store.last_seq("holdem", "a") == 2
        assert len(await journal(store, "a")) == 2

    temp_store.run(steps)


def test_latest_snapshot_is_stored(temp_store: TempStore) -> None:
    early, late = (Snapshot("holdem", "a", seq, f'{{"hand":{seq}}}'.encode(), NOON + seq) for seq in (2, 5))

    async def steps(store: Store) -> None:
        assert await store.load_snapshot("holdem", "a") is None
        await store.append(facts("a", range(1, 6)))
        await store.save_snapshot(early)
        assert await store.load_snapshot("holdem", "a") == early
        await store.save_snapshot(late)
        assert await store.load_snapshot("holdem", "a") == late
        assert await store.load_snapshot("holdem", "b") is None

    temp_store.run(steps)
