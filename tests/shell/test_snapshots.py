"""A snapshot that cannot be saved costs time at the next start, and is logged for whoever looks after the server."""

import asyncio
from asyncio import Future
from typing import Any

import pytest

from croupier.rooms.holdem.keeping import Heard
from croupier.rooms.oldmaid.keeping import Note, Started, Tale
from croupier.shell import courses, journal
from croupier.store.records import Refused, Snapshot
from tests.shell.callers import Run
from tests.shell.test_switchboard_faults import Book
from tests.shell.web import house


class Store:
    """Saves no snapshot: it fails, or is cancelled."""

    def __init__(self, *, cancelled: bool) -> None:
        self._cancelled = cancelled

    def save(self, snapshot: Snapshot) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        if self._cancelled:
            future.cancel()
        else:
            future.set_exception(Refused("string or blob too big"))
        return future


def heard(store: Any, book: Book) -> None:
    """A fact of hold'em is durable."""
    found = house()
    journal.Journal(store, found, found.settings, 1, 0, log=book).settled([Heard(1.0)])


def noted(store: Any, book: Book) -> None:
    """A fact of Old Maid is durable."""
    notes: list[Note] = [Started(1, ("ann", "bob"))]
    courses.Courses(store, lambda: 1.0, Tale(), 1, 0, log=book).settled(notes)


@pytest.mark.parametrize(("keeps", "table"), [(heard, "house"), (noted, "table")], ids=["holdem", "oldmaid"])
@pytest.mark.parametrize("cancelled", [False, True], ids=["fails", "the loop ends"])
def test_a_snapshot_that_fails_is_logged(
    run: Run, monkeypatch: pytest.MonkeyPatch, keeps: Any, table: str, cancelled: bool
) -> None:
    for module in (journal, courses):
        monkeypatch.setattr(module, "SELDOM", 1)
    book = Book()

    async def main() -> None:
        keeps(Store(cancelled=cancelled), book)
        await asyncio.sleep(0)

    run(main())
    facts = {"table": table, "seq": 2, "reason": "string or blob too big"}
    assert book.entries == ([] if cancelled else [("warning", "a snapshot could not be saved", facts)])
