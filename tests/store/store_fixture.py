"""A store for a test, of either engine; and what tests write into it."""

import asyncio
from asyncio import Future
from collections.abc import Awaitable, Callable
from typing import Any

from croupier.net.event_loop import loop_factory
from croupier.store.records import JournalEntry, StoreError
from croupier.store.store import Store, open_store

PATIENCE = 30.0
NOON = 1_000_000_000.25
"""When everything happens."""


class Shelf:
    """Where a store is, and a loop to open it on; it can be opened again and again."""

    def __init__(self, url: str, engine: str) -> None:
        self.url = url
        self.engine = engine

    def run[T](self, story: Callable[[Store], Awaitable[T]], **settings: Any) -> T:
        """Open the store, tell the story, and close it."""

        async def told() -> T:
            async with asyncio.timeout(PATIENCE), await open_store(self.url, **settings) as store:
                return await story(store)

        return run(told())


def run[T](main: Awaitable[T]) -> T:
    """Run on the loop of a server; what the loop is told of is an error here."""
    faults: list[dict[str, Any]] = []
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.get_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        result = runner.run(main)
    assert faults == []
    return result


def fact(table: str, seq: int, text: str = "", room: str = "holdem") -> JournalEntry:
    """A fact of a table; its text is JSON."""
    return JournalEntry(room, table, seq, (text or f'{{"n":{seq}}}').encode(), NOON + seq)


def facts(table: str, seqs: range) -> list[JournalEntry]:
    """Facts of one table."""
    return [fact(table, seq) for seq in seqs]


async def journal(store: Store, table: str, after: int = 0, room: str = "holdem") -> list[JournalEntry]:
    """All of a table's journal."""
    return [entry async for entry in store.read_journal(room, table, after)]


async def error(future: Future[Any]) -> StoreError:
    """What it fails with."""
    (outcome,) = await asyncio.gather(future, return_exceptions=True)
    assert isinstance(outcome, StoreError), outcome
    return outcome
