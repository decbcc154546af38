"""A snapshot that cannot be saved is logged."""

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
from tests.net.test_faults import RecordingLogger


class FailingStore:
    """Saving a snapshot fails, or is cancelled."""

    def __init__(self, *, cancelled: bool) -> None:
        self._cancelled = cancelled

    def save_snapshot(self, snapshot: Snapshot) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        if self._cancelled:
            future.cancel()
        else:
            future.set_exception(WriteRefused("string or blob too big"))
        return future


def confirm_holdem(store: Any, book: RecordingLogger) -> None:
    """Confirm an entry of a hold'em journal."""
    holdem_house = house()
    holdem_journal.HoldemJournal(store, holdem_house, holdem_house.settings, 1, 0, log=book).confirm_written(
        [HouseInput(1.0)]
    )


def confirm_oldmaid(store: Any, book: RecordingLogger) -> None:
    """Confirm an entry of an Old Maid journal."""
    entries: list[GameLogEntry] = [GameStarted(1, ("ann", "bob"))]
    oldmaid_journal.OldMaidJournal(store, lambda: 1.0, LogReplay(), 1, 0, log=book).confirm_written(entries)


@pytest.mark.parametrize(
    ("confirm", "table"), [(confirm_holdem, "house"), (confirm_oldmaid, "table")], ids=["holdem", "oldmaid"]
)
@pytest.mark.parametrize("cancelled", [False, True], ids=["fails", "the loop ends"])
def test_failed_snapshot_is_logged(
    run: Run, monkeypatch: pytest.MonkeyPatch, confirm: Any, table: str, cancelled: bool
) -> None:
    for module in (holdem_journal, oldmaid_journal):
        monkeypatch.setattr(module, "MIN_FACTS_PER_SNAPSHOT", 1)
    book = RecordingLogger()

    async def main() -> None:
        confirm(FailingStore(cancelled=cancelled), book)
        await asyncio.sleep(0)

    run(main())
    facts = {"table": table, "seq": 2, "reason": "string or blob too big"}
    assert book.entries == ([] if cancelled else [("warning", "snapshot not saved", facts)])
