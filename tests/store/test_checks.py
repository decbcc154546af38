"""Integrity checks: tampering is found, and intact stores have no problems."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from croupier.store.records import Posting, Snapshot, StoredHand, StoreFinding
from croupier.store.store import Store
from tests.store.conftest import ask
from tests.store.store_fixture import NOON, TempStore, add_hand, add_match, fact, facts, transfer


async def fill(store: Store) -> None:
    """Fill a store with rows of every kind."""
    alice, house = await store.add_account("alice", "hash", coins=100), await store.house_account("holdem")
    await store.append([*facts("a", range(1, 6)), *facts("b", range(1, 3)), fact("a", 1, room="kuhn")])
    await store.save_snapshot(Snapshot("holdem", "a", 4, b'{"chips":[1,2]}', NOON))
    await add_hand(store, StoredHand("holdem", "a", 1, NOON, ("alice", "bob"), "record", "alice won"))
    await transfer(store, "hand 1", [Posting(alice.id, -20), Posting(house.id, 20)], key="holdem/a/1")
    await store.add_account("bob")
    await store.close_account("bob", reason="gone")
    await add_match(store)


def tamper(temp_store: TempStore, sql: str) -> None:
    """Change the database directly."""
    if temp_store.engine == "postgresql":
        asyncio.run(ask(temp_store.url, sql))
    else:
        with closing(sqlite3.connect(temp_store.url)) as file:
            file.execute("PRAGMA ignore_check_constraints = ON")
            file.executescript(sql)


def test_intact_store_has_no_problems(temp_store: TempStore) -> None:
    assert temp_store.run(Store.find_problems) == []
    temp_store.run(fill)
    assert temp_store.run(Store.find_problems) == []


SQLITE_CHECK_MESSAGE = "CHECK constraint failed in accounts"
"""A finding of SQLite itself; PostgreSQL prevents the change."""

TAMPERINGS = [
    (
        "UPDATE entries SET coins = 21 WHERE transfer = 2 AND coins = 20",
        [
            StoreFinding("transfers 2", "found coins that sum to 1; allowed: 0"),
            StoreFinding("accounts holdem", "found a balance of 20; allowed: 21, the sum of its entries"),
        ],
    ),
    (
        "INSERT INTO transfers (id, time, reason) VALUES (99, 0, 'nothing')",
        [StoreFinding("transfers 99", "found no entry; allowed: the two sides of it")],
    ),
    (
        "UPDATE accounts SET balance = balance + 5 WHERE name = 'alice'",
        [StoreFinding("accounts alice", "found a balance of 85; allowed: 80, the sum of its entries")],
    ),
    (
        "ALTER TABLE accounts DROP CONSTRAINT accounts_balance; UPDATE accounts SET balance = -1 WHERE name = 'alice'",
        [
            StoreFinding("accounts alice", "found a balance of -1; allowed: 80, the sum of its entries"),
            StoreFinding("accounts alice", "found a balance of -1; allowed: 0 or more, for a player"),
        ],
    ),
    (
        "UPDATE accounts SET closed = 5 WHERE name = 'alice'",
        [StoreFinding("accounts alice", "found 80 coins in a closed account; allowed: 0")],
    ),
    (
        "DELETE FROM journal WHERE room = 'holdem' AND \"table\" = 'a' AND seq = 3",
        [StoreFinding("journal holdem a", "found 4 facts, from 1 to 5; allowed: all from 1")],
    ),
    (
        "DELETE FROM journal WHERE room = 'holdem' AND \"table\" = 'b' AND seq = 1",
        [StoreFinding("journal holdem b", "found 1 facts, from 2 to 2; allowed: all from 1")],
    ),
    (
        "UPDATE journal SET seq = -seq WHERE room = 'kuhn'",
        [StoreFinding("journal kuhn a", "found 1 facts, from -1 to -1; allowed: all from 1")],
    ),
    (
        "UPDATE snapshots SET seq = 6",
        [StoreFinding("snapshots holdem a", "found the state after fact 6; allowed: 0 to 5, the last in the journal")],
    ),
    (
        "UPDATE hands SET room = 'z'; UPDATE played SET room = 'z'",
        [
            StoreFinding(
                "hands z a 1", "found a hand of a room without a journal; allowed: hands of rooms that have one"
            )
        ],
    ),
    (
        "UPDATE played SET number = 2 WHERE player = 'bob'",
        [StoreFinding("played bob holdem a 2", "found a player of a hand that is not there; allowed: those of hands")],
    ),
]


@pytest.mark.parametrize(("sql", "found"), TAMPERINGS, ids=[sql[:40] for sql, _ in TAMPERINGS])
def test_tampering_is_found(temp_store: TempStore, sql: str, found: list[StoreFinding]) -> None:
    temp_store.run(fill)
    if temp_store.engine == "sqlite":  # SQLite cannot drop a constraint, but ignores it
        sql = sql.replace("ALTER TABLE accounts DROP CONSTRAINT accounts_balance; ", "")
    tamper(temp_store, sql)
    message = temp_store.run(Store.find_problems)
    assert [finding for finding in message if finding.where != "engine"] == found
    assert [finding.message for finding in message if finding.where == "engine"] in ([], [SQLITE_CHECK_MESSAGE])
