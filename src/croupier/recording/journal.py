"""The journal of a room with shared tables: its facts in order, and snapshots, from which its state is rebuilt."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from msgspec import Struct
from msgspec.json import encode

from croupier.core.logger import Logger, SilentLogger
from croupier.core.stored import Stored
from croupier.recording.seeds import Seeds, decode_start
from croupier.store.records import JournalEntry, Snapshot, StoredHand, WriteRefused
from croupier.store.store import Store

MIN_FACTS_PER_SNAPSHOT: Final = 1000
"""Number of facts between two snapshots of the state, at least."""

APPROXIMATE_FACT_BYTES: Final = 200
"""Typical size of a fact. Large snapshots are less frequent, so that they take no more space than the facts."""


class JournalState[Fact](Protocol):
    """The state to which the facts lead."""

    def apply(self, fact: Fact, /) -> object:
        """Apply the next fact. Raises ValueError if it contradicts the state."""
        ...

    def snapshot(self) -> bytes:
        """Encode the state as JSON."""
        ...

    def restore(self, data: bytes) -> None:
        """Restore a state from `snapshot`. Raises ValueError."""
        ...


class JournalBatch[Fact, E](Struct):
    """What is written in one transaction: facts and the hands that they end.

    `effects` wait for it. `time` is in seconds since 1970. The batch is written when `promised` is done, if it is
    given: the dealer's promises to the players must be durable before.
    """

    facts: Sequence[Fact]
    effects: E
    time: float
    hands: Sequence[StoredHand] = ()
    promised: Future[None] | None = None


class EventJournal[Fact: Stored, E]:
    """Writes facts to the journal of a room, and a snapshot of the state from time to time; see `BatchWriter`.

    All tables of a room share one journal, named `table`. With `is_live`, the state is the room itself, which has
    handled the facts before they are written; otherwise they are applied to it when they are durable.
    """

    def __init__(
        self,
        store: Store,
        room: str,
        table: str,
        state: JournalState[Fact],
        *,
        is_live: bool,
        log: Logger | None = None,
    ) -> None:
        self.store = store
        self.last_seq = 1
        self.last_time = 0.0
        self._room = room
        self._table = table
        self._state = state
        self._is_live = is_live
        self._log = log or SilentLogger()
        self._snapshot_seq = 1
        self._snapshot_bytes = 0

    async def replay(self, fact_type: type[Fact]) -> None:
        """Bring the state up to the last fact, from the last snapshot.

        Raises ValueError if the journal is damaged, and StoreUnavailable.
        """
        if (snapshot := await self.store.load_snapshot(self._room, self._table)) is not None:
            self._state.restore(snapshot.state)
            self.last_seq, self.last_time, self._snapshot_seq = snapshot.seq, snapshot.time, snapshot.seq
        await self.read_on(fact_type)

    async def read_on(self, fact_type: type[Fact]) -> None:
        """Apply the facts that another server has written since. Raises as `replay` does."""
        async for entry in self.store.read_journal(self._room, self._table, after=self.last_seq):
            if entry.seq != self.last_seq + 1:
                raise ValueError(
                    f"found entry {entry.seq} after entry {self.last_seq}; allowed: a journal without gaps"
                )
            self._state.apply(fact_type.from_json(entry.fact))
            self.last_seq, self.last_time = entry.seq, entry.time
            if self.last_seq % MIN_FACTS_PER_SNAPSHOT == 0:
                await asyncio.sleep(0)

    def write(self, batch: JournalBatch[Fact, E]) -> Future[None]:
        """Write a batch; the future is done when it is durable, see `BatchWriter.write`."""
        if batch.promised is not None and not batch.promised.done():
            return asyncio.get_running_loop().create_task(self._write_when_promised(batch, batch.promised))
        entries = [
            JournalEntry(self._room, self._table, seq, fact.to_json(), batch.time)
            for seq, fact in enumerate(batch.facts, start=self.last_seq + 1)
        ]
        return self.store.append(entries, batch.hands)

    async def _write_when_promised(self, batch: JournalBatch[Fact, E], promised: Future[None]) -> None:
        await promised
        await self.write(batch)

    async def write_again(self, batch: JournalBatch[Fact, E]) -> None:
        """Write a batch whose first write has failed, unless it is in the journal nevertheless.

        Raises StoreUnavailable, and WriteRefused if another server has written something else.
        """
        stored = [entry.fact async for entry in self.store.read_journal(self._room, self._table, after=self.last_seq)]
        if not stored:
            await self.write(batch)
        elif stored != [fact.to_json() for fact in batch.facts]:
            raise WriteRefused("found journal entries of another server")

    def confirm(self, batch: JournalBatch[Fact, E]) -> None:
        """Note that a batch is durable, and that nothing has happened since; save a snapshot if one is due."""
        self.last_seq += len(batch.facts)
        self.last_time = batch.time
        if not self._is_live:
            for fact in batch.facts:
                self._state.apply(fact)
        facts_since_snapshot = self.last_seq - self._snapshot_seq
        if facts_since_snapshot >= max(MIN_FACTS_PER_SNAPSHOT, self._snapshot_bytes // APPROXIMATE_FACT_BYTES):
            self._save_snapshot()

    def _save_snapshot(self) -> None:
        """Save a snapshot in the background. A lost one is logged; it only makes the next start slower."""
        state = self._state.snapshot()
        self._snapshot_seq, self._snapshot_bytes = self.last_seq, len(state)
        snapshot = Snapshot(self._room, self._table, self.last_seq, state, self.last_time)

        def done(saved: Future[None]) -> None:
            if not saved.cancelled() and (error := saved.exception()) is not None:
                self._log.warning("snapshot not saved", table=snapshot.table, seq=snapshot.seq, reason=str(error))

        self.store.save_snapshot(snapshot).add_done_callback(done)


async def read_or_write_start[S: Seeds](store: Store, room: str, table: str, wanted: S) -> S:
    """Return the first entry of a journal; write it if there is none.

    Of two servers that write it at the same time, one is refused, and reads that of the other. Raises ValueError if
    other cards are wanted, and StoreUnavailable.
    """
    while (first_entry := await anext(store.read_journal(room, table), None)) is None:
        start = wanted.with_secret()
        with suppress(WriteRefused):
            await store.append([JournalEntry(room, table, 1, encode(start), 0.0)])
            return start
    return decode_start(first_entry.fact, wanted)
