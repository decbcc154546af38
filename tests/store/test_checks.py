"""Checking the books: whatever is forged in them is found, and what is in order is not complained of."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from croupier.store.records import Match, Posting, Snapshot, StoredHand, StoreFinding
from croupier.store.store import Store
from tests.store.conftest import ask
from tests.store.store_fixture import NOON, Shelf, fact, facts


async def fill(store: Store) -> None:
    """An evening with something of everything."""
    alice, house = await store.add_account("alice", "hash", coins=100), await store.house_account("holdem")
    await store.append([*facts("a", range(1, 6)), *facts("b", range(1, 3)), fact("a", 1, room="kuhn")])
    await store.save_snapshot(Snapshot("holdem", "a", 4, b'{"chips":[1,2]}', NOON))
    await store.add_hand(StoredHand("holdem", "a", 1, NOON, ("alice", "bob"), "record", "alice won"))
    await store.transfer("hand 1", [Posting(alice.id, -20), Posting(house.id, 20)], key="holdem/a/1")
    await store.add_account("bob")
    await store.close_account("bob", reason="gone")
    await store.add_match(Match("kuhn", NOON, ("exact", "random"), b'{"net":3}'))


def forge(shelf: Shelf, sql: str) -> None:
    """Change the books behind the store's back."""
    if shelf.engine == "postgresql":
        asyncio.run(ask(shelf.url, sql))
    else:
        with closing(sqlite3.connect(shelf.url)) as file:
            file.execute("PRAGMA ignore_check_constraints = ON")
            file.executescript(sql)


def test_books_that_are_in_order_have_no_faults(shelf: Shelf) -> None:
    assert shelf.run(Store.find_problems) == []
    shelf.run(fill)
    assert shelf.run(Store.find_problems) == []


CHECKED = "CHECK constraint failed in accounts"
"""What SQLite finds by itself; PostgreSQL does not let it happen."""

FORGERIES = [
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


@pytest.mark.parametrize(("forgery", "found"), FORGERIES, ids=[sql[:40] for sql, _ in FORGERIES])
def test_what_is_forged_is_found(shelf: Shelf, forgery: str, found: list[StoreFinding]) -> None:
    shelf.run(fill)
    if shelf.engine == "sqlite":  # which cannot drop a constraint, but ignore it
        forgery = forgery.replace("ALTER TABLE accounts DROP CONSTRAINT accounts_balance; ", "")
    forge(shelf, forgery)
    told = shelf.run(Store.find_problems)
    assert [finding for finding in told if finding.where != "engine"] == found
    assert [finding.message for finding in told if finding.where == "engine"] in ([], [CHECKED])
