"""Journal of an Old Maid table: what happens in its games is written before any client is notified of it.

Every game that was started is therefore in the store, up to its end or up to the point where it was interrupted.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from croupier.core.logger import Logger
from croupier.core.session import Effect
from croupier.recording.journal import EventJournal, JournalBatch, read_or_write_start
from croupier.recording.seeds import Seeds
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import (
    GameEnded,
    JournaledGames,
    JournalPage,
    make_record,
)
from croupier.rooms.oldmaid.wire import Answer
from croupier.store.records import StoredHand, StoreUnavailable
from croupier.store.store import Store

FOLLOW_SECONDS: Final = 0.5
"""The time between two looks at the journal of a table that another node runs."""

ROOM_NAME: Final = "oldmaid"
JOURNAL_TABLE: Final = "table"
"""All games of a table share one journal; they are numbered in the order in which they started."""

type OldMaidBatch = JournalBatch[JournalPage, Sequence[Effect[Answer]]]
type OldMaidJournal = EventJournal[JournalPage, Sequence[Effect[Answer]]]


def hand_record(game: TableGame, now: float) -> StoredHand:
    """Return a finished game as it is stored."""
    record = make_record(game)
    summary = "void" if record.void else ", ".join([*record.ranking[:-1], f"and {record.ranking[-1]} has lost"])
    return StoredHand(ROOM_NAME, JOURNAL_TABLE, game.number, now, game.nicks, record.to_json().decode(), summary)


async def open_journal(
    store: Store, wanted: Seeds, now: float, log: Logger | None = None, *, is_shared: bool = False
) -> tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]]:
    """Open the journal in a store, or begin one.

    Returns the seeds, the journal, the number of games started so far, and the games that were running when the server
    was interrupted. These games are void and are written as void, at the time `now`, before this function returns.
    With `is_shared`, a former owner may still run: an entry without events ends it, whose sequence number it would need
    next. WriteRefused is raised if it was faster; then the journal is to be opened again.

    Raises ValueError if the journal is damaged or contradicts `wanted`, and StoreUnavailable.
    """
    seeds = await read_or_write_start(store, ROOM_NAME, JOURNAL_TABLE, wanted)
    journaled = JournaledGames()
    journal: OldMaidJournal = EventJournal(store, ROOM_NAME, JOURNAL_TABLE, journaled, is_live=False, log=log)
    await journal.replay(JournalPage)
    void_games = [*journaled.games.values()]
    for game in void_games:
        game.stop()  # (oldmaid-9.14)
    if void_games or is_shared:
        page = JournalPage([GameEnded(game.number, is_void=True) for game in void_games])
        batch: OldMaidBatch = JournalBatch([page], (), now, [hand_record(game, now) for game in void_games])
        await journal.write(batch)
        journal.confirm(batch)
    return seeds, journal, journaled.started_count, void_games


class JournalFollower:
    """Follows the journal of a table that another server runs. `games` are those that run, as far as they are durable.

    `on_change` is called after every change.
    """

    def __init__(self, store: Store, log: Logger, on_change: Callable[[], None]) -> None:
        self._store = store
        self._log = log
        self._on_change = on_change
        self._journaled = JournaledGames()
        self._journal: OldMaidJournal | None = None  # None until it has been read up to its end

    @property
    def games(self) -> Sequence[TableGame]:
        """The running games, the oldest first."""
        return [*self._journaled.games.values()]

    async def run(self) -> None:
        """Follow the journal until this is cancelled."""
        while True:
            try:
                with suppress(StoreUnavailable):
                    await self._read_on()
            except ValueError as error:
                self._log.warning("journal not followed", reason=str(error))
                self._journal = None
            await asyncio.sleep(FOLLOW_SECONDS)

    async def _read_on(self) -> None:
        """Read what is new. Raises ValueError and StoreUnavailable."""
        if self._journal is not None:
            last_seq = self._journal.last_seq
            await self._journal.read_on(JournalPage)
            if self._journal.last_seq == last_seq:
                return
        else:
            self._journaled = JournaledGames()
            journal: OldMaidJournal = EventJournal(
                self._store, ROOM_NAME, JOURNAL_TABLE, self._journaled, is_live=False
            )
            await journal.replay(JournalPage)
            self._journal = journal
        self._on_change()
