"""The journal: every fact of a table, in order, and the state that it can be read from."""

import asyncio

import pytest

from croupier.store import store as module
from croupier.store.records import JournalHead, Snapshot, WriteRefused
from croupier.store.store import Store
from tests.store.store_fixture import NOON, Shelf, error, fact, facts, journal


def test_what_was_written_is_read_again_by_whoever_opens_the_store_next(shelf: Shelf) -> None:
    async def write(store: Store) -> None:
        await store.append(facts("a", range(1, 4)))

    shelf.run(write)
    assert shelf.run(lambda store: journal(store, "a")) == facts("a", range(1, 4))


def test_a_fact_is_kept_to_the_byte_and_its_time_to_the_bit(shelf: Shelf) -> None:
    odd = '{ "á" :\t"\\u0000 🃏 \\\\ \\" \'$1", "x":1e400}'

    async def story(store: Store) -> None:
        await store.append([fact("tàble 🂡", 1, odd)])
        assert await journal(store, "tàble 🂡") == [fact("tàble 🂡", 1, odd)]

    shelf.run(story)


def test_a_journal_is_read_from_where_one_wants_it(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.append(facts("a", range(1, 11)))
        assert await journal(store, "a", after=7) == facts("a", range(8, 11))
        assert await journal(store, "a", after=10) == []
        assert await journal(store, "b") == []

    shelf.run(story)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
def test_a_long_journal_is_read_in_portions(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(module, "FETCH_FACTS", 2)

    async def story(store: Store) -> None:
        await store.append(facts("a", range(1, length + 1)))
        assert await journal(store, "a") == facts("a", range(1, length + 1))

    shelf.run(story)


def test_tables_and_rooms_are_kept_apart(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.append([*facts("b", range(1, 3)), fact("a", 1), fact("b", 1, room="oldmaid")])
        assert await store.journal_heads("holdem") == [JournalHead("a", 1), JournalHead("b", 2)]
        assert await store.journal_heads("oldmaid") == [JournalHead("b", 1)]
        assert await store.journal_heads("kuhn") == []
        assert [await store.last_seq("holdem", table) for table in "abc"] == [1, 2, 0]
        assert await journal(store, "b", room="oldmaid") == [fact("b", 1, room="oldmaid")]

    shelf.run(story)


def test_a_fact_with_a_number_that_was_had_is_refused_and_nothing_of_its_flight_is_written(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.append(facts("a", range(1, 3)))
        failed = await error(store.append([fact("b", 1), fact("a", 2, '"other"'), fact("a", 3)]))
        assert isinstance(failed, WriteRefused)
        assert str(failed).startswith("found facts of holdem b from 1 on (")
        assert str(failed).endswith("); allowed: those that follow its last")
        assert await journal(store, "a") == facts("a", range(1, 3))
        assert await store.last_seq("holdem", "b") == 0
        assert store.outage is None

    shelf.run(story)


def test_a_refused_fact_harms_nobody_who_is_written_with_it(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.append([fact("a", 1)])
        flights = [store.append(facts(table, range(1, 21))) for table in "bacad"]
        outcomes = await asyncio.gather(*flights, return_exceptions=True)
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

    shelf.run(story)


def test_of_two_who_write_the_same_number_at_once_the_first_is_right(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        first, second = store.append([fact("a", 1, '"first"')]), store.append([fact("a", 1, '"second"')])
        await first
        assert isinstance(await error(second), WriteRefused)
        assert await journal(store, "a") == [fact("a", 1, '"first"')]

    shelf.run(story)


@pytest.mark.parametrize(
    ("table", "seq"), [("a", 2**63), ("a", -(2**63) - 1), ("\ud800", 1)], ids=["too large", "too small", "no character"]
)
@pytest.mark.parametrize("many", [1, 40], ids=["with another one", "with many others"])
def test_what_no_engine_can_write_is_refused_alone(shelf: Shelf, table: str, seq: int, many: int) -> None:
    async def story(store: Store) -> None:
        before, failed = store.append(facts("b", range(1, many + 1))), store.append([fact(table, seq)])
        behind = store.append(facts("c", range(1, many + 1)))
        assert isinstance(await error(failed), WriteRefused)
        await asyncio.gather(before, behind)
        assert await store.journal_heads("holdem") == [JournalHead("b", many), JournalHead("c", many)]
        assert store.outage is None
        await store.append(facts("d", range(1, many + 1)))

    shelf.run(story)


def test_a_fact_that_is_no_utf_8_is_refused_before_anything_is_written(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        with pytest.raises(UnicodeDecodeError):
            store.append([fact("a", 1), fact("a", 2).__replace__(fact=b"\xff")])
        assert await store.last_seq("holdem", "a") == 0

    shelf.run(story)


def test_what_one_table_says_is_written_in_order_whatever_others_say(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
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

    shelf.run(story)


def test_a_thousand_facts_that_nobody_waits_for_are_there_when_the_store_is_closed(shelf: Shelf) -> None:
    async def write(store: Store) -> None:
        for seq in range(1, 3001):
            store.append([fact("a", seq)])

    shelf.run(write)
    assert shelf.run(lambda store: store.last_seq("holdem", "a")) == 3000
    assert shelf.run(Store.find_problems) == []


def test_nobody_has_to_wait_for_what_he_has_written(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        task = asyncio.ensure_future(store.append([fact("a", 1)]))
        task.cancel()
        await store.append([fact("a", 2)])
        assert await store.last_seq("holdem", "a") == 2
        assert len(await journal(store, "a")) == 2

    shelf.run(story)


def test_the_latest_state_of_a_table_is_kept(shelf: Shelf) -> None:
    early, late = (Snapshot("holdem", "a", seq, f'{{"hand":{seq}}}'.encode(), NOON + seq) for seq in (2, 5))

    async def story(store: Store) -> None:
        assert await store.load_snapshot("holdem", "a") is None
        await store.append(facts("a", range(1, 6)))
        await store.save_snapshot(early)
        assert await store.load_snapshot("holdem", "a") == early
        await store.save_snapshot(late)
        assert await store.load_snapshot("holdem", "a") == late
        assert await store.load_snapshot("holdem", "b") is None

    shelf.run(story)
