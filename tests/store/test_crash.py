"""A server that is killed at any moment: nothing that was acknowledged is lost, and nothing is half there."""

import asyncio
from random import Random

import asyncpg
import pytest

from croupier.store.store import Store
from tests.store.store_fixture import Shelf, facts, journal
from tests.store.writer_processes import TABLES, Child, gamble

COINS = 10_000_000


def kill_again_and_again(shelf: Shelf, times: int) -> None:
    shelf.run(lambda store: store.add_account("alice", coins=COINS))
    luck = Random(times)
    told = {(table, kind): 0 for table in TABLES for kind in ("fact", "coin")}
    for _ in range(times):
        child = Child(gamble, shelf.url)
        words = [child.hear() for _ in range(luck.randint(1, 60))]
        for table, kind, seq in words + child.kill():
            told[table, kind] = max(told[table, kind], seq)
        if shelf.engine == "postgresql":
            asyncio.run(all_are_gone(shelf.url))
        shelf.run(lambda store: nothing_is_lost(store, told))


async def all_are_gone(url: str) -> None:
    """Wait until the server has noticed that its client is dead, and has ended what that one had begun."""
    connection = await asyncpg.connect(url)
    asked = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while await connection.fetchval(asked):
        await asyncio.sleep(0.001)
    await connection.close()


async def nothing_is_lost(store: Store, told: dict[tuple[str, str], int]) -> None:
    assert await store.find_problems() == []
    ends = {table: await store.last_seq("holdem", table) for table in TABLES}
    for table, end in ends.items():
        assert max(told[table, "coin"], told[table, "fact"]) <= end
        assert await journal(store, table) == facts(table, range(1, end + 1))
        hands = await store.hands("holdem", table, limit=end + 1)
        assert sorted(hand.number for hand in hands) == [*range(1, end + 1)]
    alice, house = await store.account("alice"), await store.house_account("holdem")
    assert alice is not None
    assert alice.balance + house.balance == COINS
    paid = house.balance
    assert sum(told[table, "coin"] for table in TABLES) <= paid <= sum(ends.values())


def test_nothing_that_was_acknowledged_is_lost_when_the_process_is_killed(shelf: Shelf) -> None:
    kill_again_and_again(shelf, 20)


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_however_often_the_process_is_killed(shelf: Shelf) -> None:
    kill_again_and_again(shelf, 200)
