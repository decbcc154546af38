"""Journal of an Old Maid table: what happens in its games is written before any client is notified of it.

Every game that was started is therefore in the store, up to its end or up to the point where it was interrupted.
"""

from asyncio import Future
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.json import encode

from croupier.logs import Logger, silent_logger
from croupier.recording.seeds import Seeds, decode_start
from croupier.recording.snapshots import save_snapshot
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import (
    GameEnded,
    GameLogEntry,
    JournalPage,
    LogReplay,
    OldMaidTableSnapshot,
    make_record,
    rebuild_void_game,
)
from croupier.store.records import JournalEntry, Snapshot, StoredHand, WriteRefused
from croupier.store.store import Store

ROOM_NAME: Final = "oldmaid"
JOURNAL_TABLE: Final = "table"
"""All games of a table share one journal; they are numbered in the order in which they started."""

MIN_FACTS_PER_SNAPSHOT: Final = 1000
"""Number of journal entries between two snapshots of the running games."""


class OldMaidJournal:
    """Writes the log entries of games to a store, and a snapshot of the running games from time to time.

    `clock` returns the time in seconds since 1970. `log_replay` holds the state after all written entries. One write is
    in progress at a time: call `confirm_written` before the next `write`.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        log_replay: LogReplay,
        last_seq: int,
        facts_since_snapshot: int,
        *,
        log: Logger | None = None,
    ) -> None:
        self.store = store
        self._log = log or silent_logger()
        self._clock = clock
        self._log_replay = log_replay
        self._last_seq = last_seq
        self._facts_since_snapshot = facts_since_snapshot

    def write(self, entries: Sequence[GameLogEntry], finished: Sequence[TableGame]) -> Future[None]:
        """Write log entries and the games that they have ended; the future is done when they are durable.

        It fails with StoreUnavailable, after which the write can be repeated, or with WriteRefused if another server
        writes to the same journal.
        """
        now = self._clock()
        entry = JournalEntry(ROOM_NAME, JOURNAL_TABLE, self._last_seq + 1, JournalPage(entries).to_json(), now)
        return self.store.append([entry], [hand_record(game, now) for game in finished])

    async def was_written(self, entries: Sequence[GameLogEntry]) -> bool:
        """Whether a write that failed is in the journal nevertheless.

        Raises StoreUnavailable, and WriteRefused if another server has written something else.
        """
        stored = [entry.fact async for entry in self.store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=self._last_seq)]
        if stored and stored != [JournalPage(entries).to_json()]:
            raise WriteRefused("found journal entries of another server")
        return bool(stored)

    def confirm_written(self, entries: Sequence[GameLogEntry]) -> None:
        """Note that entries are durable; save a snapshot of the running games if one is due."""
        self._last_seq += 1
        self._facts_since_snapshot += 1
        self._log_replay.apply(entries)
        if self._facts_since_snapshot >= MIN_FACTS_PER_SNAPSHOT:
            self._facts_since_snapshot = 0
            state = self._log_replay.snapshot().to_json()
            save_snapshot(
                self.store, Snapshot(ROOM_NAME, JOURNAL_TABLE, self._last_seq, state, self._clock()), self._log
            )


def hand_record(game: TableGame, now: float) -> StoredHand:
    """Return a finished game as it is stored."""
    record = make_record(game)
    summary = "void" if record.void else ", ".join([*record.ranking[:-1], f"and {record.ranking[-1]} has lost"])
    return StoredHand(ROOM_NAME, JOURNAL_TABLE, game.number, now, game.nicks, record.to_json().decode(), summary)


async def open_journal(
    store: Store, wanted: Seeds, clock: Callable[[], float], log: Logger | None = None
) -> tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]]:
    """Open the journal in a store, or begin one.

    Returns the seeds, the journal, the number of games started so far, and the games that were running when the server
    was interrupted. These games are void and are written as void before this function returns. Raises ValueError if the
    journal is damaged or contradicts `wanted`, and StoreUnavailable.
    """
    seeds = await _read_or_write_start(store, wanted)
    replay, last_seq, snapshot_seq = LogReplay(), 1, 1
    if (snapshot := await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)) is not None:
        replay, last_seq, snapshot_seq = (
            LogReplay(OldMaidTableSnapshot.from_json(snapshot.state)),
            snapshot.seq,
            snapshot.seq,
        )
    async for entry in store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=last_seq):
        if entry.seq != last_seq + 1:
            raise ValueError(f"found entry {entry.seq} after entry {last_seq}; allowed: a journal without gaps")
        replay.apply(JournalPage.from_json(entry.fact).notes)
        last_seq = entry.seq
    journal = OldMaidJournal(store, clock, replay, last_seq, last_seq - snapshot_seq, log=log)
    void_games = [rebuild_void_game(game) for game in replay.running_games.values()]
    if void_games:
        entries = [GameEnded(game.number, is_void=True) for game in void_games]
        await journal.write(entries, void_games)
        journal.confirm_written(entries)
    return seeds, journal, replay.started_count, void_games


async def _read_or_write_start(store: Store, wanted: Seeds) -> Seeds:
    """Return the first entry of the journal; write it if there is none. Raises ValueError if other cards are wanted."""
    if (first_entry := await anext(store.read_journal(ROOM_NAME, JOURNAL_TABLE), None)) is not None:
        return decode_start(first_entry.fact, wanted)
    seeds = wanted.with_secret()
    await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, 1, encode(seeds), 0.0)])
    return seeds
