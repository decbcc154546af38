"""Temporary stores of either engine for tests, and sample facts."""

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from shutil import disk_usage
from typing import Any, NamedTuple

from croupier.net.event_loop import loop_factory
from croupier.store import scripts
from croupier.store.engine import Script, StatementGenerator
from croupier.store.records import JournalEntry, Posting, StoredHand, StoreError
from croupier.store.store import Store, open_store

TIMEOUT_SECONDS = 60.0
NOON = 1_000_000_000.25
"""The time of all sample data."""


def memory_folder() -> Path | None:
    """A folder in memory, because much is written; None if there is none, or if it is too small."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and disk_usage(memory).free > 1 << 30 else None


class TempStore:
    """The URL and the engine of a temporary store, which can be opened repeatedly."""

    def __init__(self, url: str, engine: str) -> None:
        self.url = url
        self.engine = engine

    def run[T](self, steps: Callable[[Store], Awaitable[T]], **settings: Any) -> T:
        """Open the store, run the steps, and close it."""

        async def main() -> T:
            async with asyncio.timeout(TIMEOUT_SECONDS), await open_store(self.url, **settings) as store:
                return await steps(store)

        return run(main())


def run[T](main: Awaitable[T]) -> T:
    """Run on an event loop like a server's, and fail if its exception handler is called."""
    faults: list[dict[str, Any]] = []
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.get_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        result = runner.run(main)
    assert faults == []
    return result


def add_match(store: Store) -> Future[Any]:
    """Add a row to the table of matches, which no part of the program uses."""
    sql = "INSERT INTO matches (room, time, players, result) VALUES ($1, $2, $3, $4)"

    def statements() -> StatementGenerator[None]:
        yield sql, ("kuhn", NOON, '["exact","random"]', b'{"net":3}')

    return store._committer.submit(Script(statements))


async def matches(store: Store) -> list[tuple[object, ...]]:
    """All rows of the table of matches."""
    return [tuple(row) for row in await store._engine.fetch("SELECT * FROM matches ORDER BY id")]


class StatementEntry(NamedTuple):
    """A line of an account's statement: the coins of a transfer, and the balance after it."""

    transfer: int
    time: float
    reason: str
    coins: int
    balance: int


async def statement(store: Store, account: int) -> list[StatementEntry]:
    """The entries of an account with the balance after each, oldest first."""
    rows = await store._engine.fetch(
        """SELECT t.id, t.time, t.reason, e.coins, CAST(SUM(e.coins) OVER (ORDER BY t.id) AS bigint)
        FROM entries e JOIN transfers t ON t.id = e.transfer WHERE e.account = $1 ORDER BY t.id""",
        account,
    )
    return [StatementEntry(*row) for row in rows]


async def balance(store: Store, account: int) -> int:
    """The balance of an account in coins."""
    ((coins,),) = await store._engine.fetch("SELECT balance FROM accounts WHERE id = $1", account)
    return int(coins)


def transfer(store: Store, reason: str, postings: Sequence[Posting], key: str | None = None) -> Future[int]:
    """Execute one transfer; the result is its id."""
    now = store._clock()
    return store._write(lambda: scripts.transfer(reason, postings, key, now))


def add_hand(store: Store, hand: StoredHand) -> Future[None]:
    """Store a finished hand alone."""
    return store._write(lambda: scripts.add_hand(hand))


def fact(table: str, seq: int, text: str = "", room: str = "holdem") -> JournalEntry:
    """A fact of a table; `text` is JSON."""
    return JournalEntry(room, table, seq, (text or f'{{"n":{seq}}}').encode(), NOON + seq)


def facts(table: str, seqs: range) -> list[JournalEntry]:
    """Facts of one table."""
    return [fact(table, seq) for seq in seqs]


async def journal(store: Store, table: str, after: int = 0, room: str = "holdem") -> list[JournalEntry]:
    """The journal of a table as a list."""
    return [entry async for entry in store.read_journal(room, table, after)]


async def error(future: Future[Any]) -> StoreError:
    """The exception of a failed future."""
    (outcome,) = await asyncio.gather(future, return_exceptions=True)
    assert isinstance(outcome, StoreError), outcome
    return outcome
