"""Hands and matches: storage, and search by room, table, player and time."""

import asyncio

import pytest

from croupier.store.records import StoredHand, WriteRefused
from croupier.store.store import Store
from tests.store.store_fixture import NOON, TempStore, add_hand, error, fact, facts


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


def test_hand_is_found_by_its_number(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await add_hand(store, HANDS[0])
        assert await store.hand("holdem", "a", 1) == HANDS[0]
        assert await store.hand("holdem", "a", 2) is None

    temp_store.run(steps)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"room": "holdem"}, [3, 2, 1]),
        ({"room": "holdem", "table": "a"}, [2, 1]),
        ({"player": "alice"}, [3, 1]),
        ({"player": "ali"}, []),
        ({"player": HANDS[3].players[0]}, [4]),
        ({"room": "holdem", "player": "bob"}, [2, 1]),
        ({"limit": 2}, [4, 3]),
        ({"room": "kuhn"}, []),
    ],
)
def test_hands_are_found_by_room_table_and_player(
    temp_store: TempStore, filters: dict[str, object], found: list[int]
) -> None:
    async def steps(store: Store) -> None:
        for each in HANDS:
            await add_hand(store, each)
        assert await store.hands(**filters) == [HANDS[number - 1] for number in found]

    temp_store.run(steps)


def test_duplicate_hand_number_is_refused(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await add_hand(store, HANDS[0])
        failed = await error(add_hand(store, hand(1, "zoe")))
        assert isinstance(failed, WriteRefused)
        assert str(failed) == "found hand 1 of holdem a already; allowed: a new number"
        assert await store.hands() == [HANDS[0]]
        assert await store.hands(player="zoe") == []

    temp_store.run(steps)


def test_hand_and_its_last_fact_are_written_atomically(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        await store.append([fact("a", 1)], [HANDS[0]])
        repeated = store.append([fact("a", 2)], [HANDS[0], HANDS[1]])
        neighbour = store.append([fact("b", 1)], [HANDS[2]])
        duplicate_fact = store.append([fact("a", 1)], [HANDS[1]])
        assert isinstance(await error(repeated), WriteRefused)
        await neighbour
        assert isinstance(await error(duplicate_fact), WriteRefused)
        assert await store.hands() == [HANDS[2], HANDS[0]]
        assert [await store.last_seq("holdem", table) for table in "ab"] == [1, 1]
        assert await store.find_problems() == []

    temp_store.run(steps)


def test_hands_with_any_players_are_committed_together(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        same_player_twice, without_players = (
            StoredHand("holdem", "b", 1, NOON, ("ann", "ann"), "r", "s"),
            StoredHand("holdem", "c", 1, NOON, (), "r", "s"),
        )
        others = [each.__replace__(room="holdem", table="d") for each in HANDS]
        await asyncio.gather(
            *(store.append(facts(hand.table, range(1, 30)), [hand]) for hand in (same_player_twice, without_players)),
            store.append(facts("d", range(1, 3)), others),
        )
        assert await store.hands(player="ann", table="b") == [same_player_twice]
        assert await store.hands(table="c") == [without_players]
        assert await store.hands(table="d") == others[::-1]
        assert await store.hands(player="alice") == [others[2], others[0]]
        assert [await store.last_seq("holdem", table) for table in "bcd"] == [29, 29, 2]
        assert await store.find_problems() == []

    temp_store.run(steps)


@pytest.mark.parametrize("filters", [{}, {"table": "a"}, {"player": "alice"}, {"table": "b", "player": "cleo"}])
def test_iteration_sees_a_consistent_snapshot(temp_store: TempStore, filters: dict[str, str]) -> None:
    async def steps(store: Store) -> None:
        for each in HANDS:
            await add_hand(store, each)
        found = []
        async for each in store.iterate_hands("holdem", **filters):
            found.append(each)
            if len(found) == 1:
                await add_hand(store, hand(99, "alice", "cleo", table="a"))
                await add_hand(store, hand(99, "alice", "cleo", table="b"))
        now = [each for each in await store.hands("holdem", **filters, limit=1000) if each.number != 99]
        assert found == now != []

    temp_store.run(steps)


def test_iteration_reads_all_portions(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        many = [hand(number, "alice") for number in range(1, 2502)]
        await store.append([fact("a", 1)], many)
        assert [each.number async for each in store.iterate_hands("holdem")] == [*range(2501, 0, -1)]

    temp_store.run(steps)
