"""A snapshot that cannot be saved costs time at the next start, and is logged for whoever looks after the server."""

import asyncio
from asyncio import Future
from typing import Any

import pytest

from croupier.recording import holdem_journal, oldmaid_journal
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.oldmaid.table.persistence import GameLogEntry, GameStarted, LogReplay
from croupier.store.records import Snapshot, WriteRefused
from tests.http.service_fixture import house
from tests.net.raw_client import Run
from tests.net.test_faults import Book


class Store:
    """Saves no snapshot: it fails, or is cancelled."""

    def __init__(self, *, cancelled: bool) -> None:
        self._cancelled = cancelled

    def save(self, snapshot: Snapshot) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        if self._cancelled:
            future.cancel()
        else:
            future.set_exception(WriteRefused("string or blob too big"))
        return future


def heard(store: Any, book: Book) -> None:
    """A fact of hold'em is durable."""
    found = house()
    holdem_journal.HoldemJournal(store, found, found.settings, 1, 0, log=book).confirm_written([HouseInput(1.0)])


def noted(store: Any, book: Book) -> None:
    """A fact of Old Maid is durable."""
    notes: list[GameLogEntry] = [GameStarted(1, ("ann", "bob"))]
    oldmaid_journal.OldMaidJournal(store, lambda: 1.0, LogReplay(), 1, 0, log=book).confirm_written(notes)


@pytest.mark.parametrize(("keeps", "table"), [(heard, "house"), (noted, "table")], ids=["holdem", "oldmaid"])
@pytest.mark.parametrize("cancelled", [False, True], ids=["fails", "the loop ends"])
def test_a_snapshot_that_fails_is_logged(
    run: Run, monkeypatch: pytest.MonkeyPatch, keeps: Any, table: str, cancelled: bool
) -> None:
    for module in (holdem_journal, oldmaid_journal):
        monkeypatch.setattr(module, "SELDOM", 1)
    book = Book()

    async def main() -> None:
        keeps(Store(cancelled=cancelled), book)
        await asyncio.sleep(0)

    run(main())
    facts = {"table": table, "seq": 2, "reason": "string or blob too big"}
    assert book.entries == ([] if cancelled else [("warning", "a snapshot could not be saved", facts)])
