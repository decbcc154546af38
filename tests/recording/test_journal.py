"""The journal of a room with shared tables: replay, snapshots, and writes with an unknown outcome."""

import asyncio
from asyncio import Future
from typing import Any, Self

import pytest

from croupier.recording import journal as event_journal
from croupier.recording.journal import EventJournal, JournalBatch
from croupier.store.records import JournalEntry, Snapshot, WriteRefused
from tests.net.raw_client import Run
from tests.net.test_faults import RecordingLogger


class Word:
    """A fact of a test journal: some text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_json(self) -> bytes:
        return self.text.encode()

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        return cls(data.decode())


class Sentence:
    """The words so far."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def apply(self, word: Word) -> None:
        self.words.append(word.text)

    def snapshot(self) -> bytes:
        return " ".join(self.words).encode()

    def restore(self, data: bytes) -> None:
        self.words = data.decode().split()


class ListStore:
    """A store in memory."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []
        self.snapshot: Snapshot | None = None
        self.snapshot_error: Exception | None = None
        self.is_closing = False

    def append(self, entries: list[JournalEntry], hands: Any) -> Future[None]:
        self.entries += entries
        return self._done(None)

    def save_snapshot(self, snapshot: Snapshot) -> Future[None]:
        if self.snapshot_error is None:
            self.snapshot = snapshot
        return self._done(self.snapshot_error)

    def _done(self, error: Exception | None) -> Future[None]:
        future: Future[None] = asyncio.get_running_loop().create_future()
        if self.is_closing:
            future.cancel()
        elif error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
        return future

    async def load_snapshot(self, room: str, table: str) -> Snapshot | None:
        return self.snapshot

    async def read_journal(self, room: str, table: str, after: int) -> Any:
        for entry in self.entries:
            if entry.seq > after:
                yield entry


def make_journal(
    store: ListStore, *, is_live: bool = False, log: Any = None
) -> tuple[Sentence, EventJournal[Any, None]]:
    sentence = Sentence()
    journal: EventJournal[Any, None] = EventJournal(store, "room", "table", sentence, is_live=is_live, log=log)  # type: ignore[arg-type]  # has what it uses
    return sentence, journal


async def write(journal: EventJournal[Any, None], text: str, time: float = 7.0) -> None:
    batch = JournalBatch([Word(word) for word in text.split()], None, time)
    await journal.write(batch)
    journal.confirm(batch)


@pytest.mark.parametrize("facts_per_snapshot", [1, 3, 1000])
def test_replay_leads_to_the_same_state(run: Run, monkeypatch: pytest.MonkeyPatch, facts_per_snapshot: int) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", facts_per_snapshot)

    async def main() -> None:
        store = ListStore()
        for number, text in enumerate(("one two", "three", "four five six seven", "eight"), 1):
            before, journal = make_journal(store)
            await journal.replay(Word)
            await write(journal, text, float(number))
            after, again = make_journal(store)
            await again.replay(Word)
            assert after.words == before.words
            assert (again.last_seq, again.last_time) == (journal.last_seq, float(number))
        assert len(after.words) == 8
        assert (store.snapshot is None) == (facts_per_snapshot == 1000)

    run(main())


def test_live_state_is_not_given_the_facts_again(run: Run) -> None:
    async def main() -> None:
        sentence, journal = make_journal(ListStore(), is_live=True)
        await write(journal, "one two")
        assert sentence.words == []
        assert journal.last_seq == 3

    run(main())


def test_journal_with_a_gap_is_rejected(run: Run) -> None:
    async def main() -> None:
        store = ListStore()
        store.entries = [JournalEntry("room", "table", seq, b"word", 1.0) for seq in (2, 4)]
        _, journal = make_journal(store)
        with pytest.raises(ValueError, match="found entry 4 after entry 2; allowed: a journal without gaps"):
            await journal.replay(Word)

    run(main())


def test_write_with_unknown_outcome_is_repeated_only_if_it_is_lost(run: Run) -> None:
    async def main() -> None:
        store = ListStore()
        _, journal = make_journal(store)
        batch = JournalBatch([Word("one"), Word("two")], None, 7.0)
        for _ in range(2):
            await journal.write_again(batch)
            assert [(entry.seq, entry.fact) for entry in store.entries] == [(2, b"one"), (3, b"two")]
        other = JournalBatch([Word("three")], None, 7.0)
        with pytest.raises(WriteRefused, match="found journal entries of another server"):
            await journal.write_again(other)
        assert len(store.entries) == 2

    run(main())


@pytest.mark.parametrize("is_closing", [False, True], ids=["fails", "the loop ends"])
def test_failed_snapshot_is_logged(run: Run, monkeypatch: pytest.MonkeyPatch, is_closing: bool) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", 1)
    log = RecordingLogger()

    async def main() -> None:
        store = ListStore()
        store.snapshot_error, store.is_closing = WriteRefused("string or blob too big"), is_closing
        _, journal = make_journal(store, log=log)
        journal.confirm(JournalBatch([Word("one")], None, 1.0))
        await asyncio.sleep(0)

    run(main())
    facts = {"table": "table", "seq": 2, "reason": "string or blob too big"}
    assert log.entries == ([] if is_closing else [("warning", "snapshot not saved", facts)])


def test_large_snapshots_are_less_frequent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_journal, "MIN_FACTS_PER_SNAPSHOT", 1)
    monkeypatch.setattr(event_journal, "APPROXIMATE_FACT_BYTES", 4)

    async def main() -> None:
        store = ListStore()
        _, journal = make_journal(store)
        seqs = []
        for _ in range(12):
            await write(journal, "abc")
            assert store.snapshot is not None
            seqs.append(store.snapshot.seq)
        assert sorted({*seqs}) == [2, 3, 4, 6, 10]

    run(main())
