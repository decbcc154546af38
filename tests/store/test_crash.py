"""Crash tests: a killed process loses no acknowledged write and leaves no partial write."""

import asyncio
from random import Random

import asyncpg
import pytest

from croupier.store.store import Store
from tests.store.store_fixture import TempStore, facts, journal
from tests.store.writer_processes import TABLES, Child, play_and_pay

COINS = 10_000_000


def kill_repeatedly(temp_store: TempStore, times: int) -> None:
    temp_store.run(lambda store: store.add_account("alice", coins=COINS))
    random = Random(times)
    acknowledged = {(table, kind): 0 for table in TABLES for kind in ("fact", "coin")}
    for _ in range(times):
        child = Child(play_and_pay, temp_store.url)
        messages = [child.receive() for _ in range(random.randint(1, 60))]
        for table, kind, seq in messages + child.kill():
            acknowledged[table, kind] = max(acknowledged[table, kind], seq)
        if temp_store.engine == "postgresql":
            asyncio.run(wait_until_disconnected(temp_store.url))
        temp_store.run(lambda store: check_nothing_is_lost(store, acknowledged))


async def wait_until_disconnected(url: str) -> None:
    """Wait until PostgreSQL has ended the connections of the killed process."""
    connection = await asyncpg.connect(url)
    query = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while await connection.fetchval(query):
        await asyncio.sleep(0.001)
    await connection.close()


async def check_nothing_is_lost(store: Store, acknowledged: dict[tuple[str, str], int]) -> None:
    assert await store.find_problems() == []
    ends = {table: await store.last_seq("holdem", table) for table in TABLES}
    for table, end in ends.items():
        assert max(acknowledged[table, "coin"], acknowledged[table, "fact"]) <= end
        assert await journal(store, table) == facts(table, range(1, end + 1))
        hands = await store.hands("holdem", table, limit=end + 1)
        assert sorted(hand.number for hand in hands) == [*range(1, end + 1)]
    alice, house = await store.account("alice"), await store.house_account("holdem")
    assert alice is not None
    assert alice.balance + house.balance == COINS
    paid = house.balance
    assert sum(acknowledged[table, "coin"] for table in TABLES) <= paid <= sum(ends.values())


@pytest.mark.extended
def test_no_acknowledged_write_is_lost_by_20_kills(temp_store: TempStore) -> None:
    kill_repeatedly(temp_store, 20)


@pytest.mark.slow
def test_no_acknowledged_write_is_lost_by_200_kills(temp_store: TempStore) -> None:
    kill_repeatedly(temp_store, 200)
