"""Hands and matches: what was played, found again by where, by whom and when."""

import asyncio

import pytest

from croupier.store.records import Match, StoredHand, WriteRefused
from croupier.store.store import Store
from tests.store.store_fixture import NOON, Shelf, error, fact, facts


def hand(number: int, *players: str, table: str = "a", room: str = "holdem") -> StoredHand:
    return StoredHand(
        room, table, number, NOON + number, players, f"hand {number}\nvariant = 'NT'", f"{players[0]} won"
    )


HANDS = [
    hand(1, "alice", "bob"),
    hand(2, "bob", "cleo"),
    hand(3, "alice", "cleo", "alice", table="b"),
    hand(4, 'dan, "d" %_\'', "bob", room="oldmaid"),
]


def test_a_hand_is_found_by_its_number(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.add_hand(HANDS[0])
        assert await store.hand("holdem", "a", 1) == HANDS[0]
        assert await store.hand("holdem", "a", 2) is None

    shelf.run(story)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"room": "holdem"}, [3, 2, 1]),
        ({"room": "holdem", "table": "a"}, [2, 1]),
        ({"player": "alice"}, [3, 1]),
        ({"player": "ali"}, []),
        ({"player": HANDS[3].players[0]}, [4]),
        ({"room": "holdem", "player": "bob"}, [2, 1]),
        ({"since": NOON + 2}, [4, 3, 2]),
        ({"until": NOON + 2}, [1]),
        ({"since": NOON + 2, "until": NOON + 4, "player": "cleo", "table": "a"}, [2]),
        ({"most": 2}, [4, 3]),
        ({"room": "kuhn"}, []),
    ],
)
def test_hands_are_found_by_where_and_when_they_were_played_and_by_whom(
    shelf: Shelf, asked: dict[str, object], found: list[int]
) -> None:
    async def story(store: Store) -> None:
        for each in HANDS:
            store.add_hand(each)
        await store.add_match(Match("holdem", NOON, ("x",), b"{}"))
        assert await store.hands(**asked) == [HANDS[number - 1] for number in found]

    shelf.run(story)


def test_a_number_that_a_table_has_had_is_refused(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.add_hand(HANDS[0])
        failed = await error(store.add_hand(hand(1, "zoe")))
        assert isinstance(failed, WriteRefused)
        assert str(failed) == "found hand 1 of holdem a already; allowed: a new number"
        assert await store.hands() == [HANDS[0]]
        assert await store.hands(player="zoe") == []

    shelf.run(story)


def test_a_hand_is_written_with_the_fact_that_ends_it_or_not_at_all(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        await store.append([fact("a", 1)], [HANDS[0]])
        again = store.append([fact("a", 2)], [HANDS[0], HANDS[1]])
        neighbour = store.append([fact("b", 1)], [HANDS[2]])
        behind = store.append([fact("a", 1)], [HANDS[1]])
        assert isinstance(await error(again), WriteRefused)
        await neighbour
        assert isinstance(await error(behind), WriteRefused)
        assert await store.hands() == [HANDS[2], HANDS[0]]
        assert [await store.last_seq("holdem", table) for table in "ab"] == [1, 1]
        assert await store.find_problems() == []

    shelf.run(story)


def test_hands_that_end_together_are_written_together_whoever_has_played_them(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        twice, nobody = (
            StoredHand("holdem", "b", 1, NOON, ("ann", "ann"), "r", "s"),
            StoredHand("holdem", "c", 1, NOON, (), "r", "s"),
        )
        away = [each.__replace__(room="holdem", table="d") for each in HANDS]
        await asyncio.gather(
            *(store.append(facts(hand.table, range(1, 30)), [hand]) for hand in (twice, nobody)),
            store.append(facts("d", range(1, 3)), away),
        )
        assert await store.hands(player="ann", table="b") == [twice]
        assert await store.hands(table="c") == [nobody]
        assert await store.hands(table="d") == away[::-1]
        assert await store.hands(player="alice") == [away[2], away[0]]
        assert [await store.last_seq("holdem", table) for table in "bcd"] == [29, 29, 2]
        assert await store.find_problems() == []

    shelf.run(story)


def test_matches_are_listed_with_the_latest_first(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        played = [Match("kuhn", NOON + n, ("exact", "random"), f'{{"net":{n}}}'.encode()) for n in range(3)]
        ids = [await store.add_match(match) for match in played]
        kept = [match.__replace__(id=number) for match, number in zip(played, ids, strict=True)]
        assert await store.matches("kuhn") == kept[::-1]
        assert await store.matches("kuhn", limit=1) == kept[2:]
        assert await store.matches("holdem") == []

    shelf.run(story)


@pytest.mark.parametrize("asked", [{}, {"table": "a"}, {"player": "alice"}, {"table": "b", "player": "cleo"}])
def test_every_hand_is_read_in_portions_as_it_was_when_asked_for(shelf: Shelf, asked: dict[str, str]) -> None:
    async def story(store: Store) -> None:
        for each in HANDS:
            await store.add_hand(each)
        found = []
        async for each in store.iterate_hands("holdem", **asked):
            found.append(each)
            if len(found) == 1:
                await store.add_hand(hand(99, "alice", "cleo", table="a"))
                await store.add_hand(hand(99, "alice", "cleo", table="b"))
        now = [each for each in await store.hands("holdem", **asked, limit=1000) if each.number != 99]
        assert found == now != []

    shelf.run(story)


def test_more_hands_than_a_portion_are_all_read(shelf: Shelf) -> None:
    async def story(store: Store) -> None:
        many = [hand(number, "alice") for number in range(1, 2502)]
        await store.append([fact("a", 1)], many)
        assert [each.number async for each in store.iterate_hands("holdem")] == [*range(2501, 0, -1)]

    shelf.run(story)
