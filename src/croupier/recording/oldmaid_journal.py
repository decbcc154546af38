"""The journal of a table of Old Maid: what happens in its games is written down before anybody is told of it.

So every game that was begun is in the books, as it was played to its end or as far as it came.
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
"""All games of a table have one journal, and are numbered in the order in which they have started."""

MIN_FACTS_PER_SNAPSHOT: Final = 1000
"""After so many facts the games that are running are kept as they are."""


class OldMaidJournal:
    """Writes notes of games into a store. `clock` tells the seconds since 1970; `tale` is what was noted so far.

    `last` is the number of the last fact, and `unkept` how many have come since the games were kept.
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

    def write(self, notes: Sequence[GameLogEntry], finished: Sequence[TableGame]) -> Future[None]:
        """Write down what has happened, and the games that are over by it; the future is done when it is durable.

        It fails with StoreDown: then write again; and with Refused where another server writes into the same journal.
        """
        now = self._clock()
        entry = JournalEntry(ROOM_NAME, JOURNAL_TABLE, self._last_seq + 1, JournalPage(notes).to_json(), now)
        return self.store.append([entry], [hand_record(game, now) for game in finished])

    async def was_written(self, notes: Sequence[GameLogEntry]) -> bool:
        """Whether this was written after all, though nobody was told so.

        Raises StoreDown, and Refused where somebody else has written something else.
        """
        found = [entry.fact async for entry in self.store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=self._last_seq)]
        if found and found != [JournalPage(notes).to_json()]:
            raise WriteRefused("found facts of another server")
        return bool(found)

    def confirm_written(self, notes: Sequence[GameLogEntry]) -> None:
        """This is durable: keep the games that are running, if that is due."""
        self._last_seq += 1
        self._facts_since_snapshot += 1
        self._log_replay.apply(notes)
        if self._facts_since_snapshot >= MIN_FACTS_PER_SNAPSHOT:
            self._facts_since_snapshot = 0
            kept = self._log_replay.snapshot().to_json()
            save_snapshot(
                self.store, Snapshot(ROOM_NAME, JOURNAL_TABLE, self._last_seq, kept, self._clock()), self._log
            )


def hand_record(game: TableGame, now: float) -> StoredHand:
    """A game that is over as it is kept in a store."""
    told = make_record(game)
    summary = "void" if told.void else ", ".join([*told.ranking[:-1], f"and {told.ranking[-1]} has lost"])
    return StoredHand(ROOM_NAME, JOURNAL_TABLE, game.number, now, game.nicks, told.to_json().decode(), summary)


async def open_journal(
    store: Store, wanted: Seeds, clock: Callable[[], float], log: Logger | None = None
) -> tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]]:
    """What the journal in a store has begun with; the journal; how many games the table has started; and those that
    were running when it was interrupted, which are void, and are written down as such. A new journal if there is none.

    Raises ValueError where what is there cannot go on so, and StoreDown.
    """
    seeds = await _read_or_write_start(store, wanted)
    tale, last, since = LogReplay(), 1, 1
    if (kept := await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)) is not None:
        tale, last, since = LogReplay(OldMaidTableSnapshot.from_json(kept.state)), kept.seq, kept.seq
    async for entry in store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=last):
        if entry.seq != last + 1:
            raise ValueError(f"found the fact {entry.seq} behind the fact {last}; allowed: a journal without gaps")
        tale.apply(JournalPage.from_json(entry.fact).notes)
        last = entry.seq
    journal = OldMaidJournal(store, clock, tale, last, last - since, log=log)
    void = [rebuild_void_game(game) for game in tale.running_games.values()]
    if void:
        notes = [GameEnded(game.number, is_void=True) for game in void]
        await journal.write(notes, void)
        journal.confirm_written(notes)
    return seeds, journal, tale.started_count, void


async def _read_or_write_start(store: Store, wanted: Seeds) -> Seeds:
    """How the journal began; begin it if there is none. Raises ValueError where other cards are wanted."""
    if (first := await anext(store.read_journal(ROOM_NAME, JOURNAL_TABLE), None)) is not None:
        return decode_start(first.fact, wanted)
    seeds = wanted.with_secret()
    await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, 1, encode(seeds), 0.0)])
    return seeds
