"""Journal of an Old Maid table: what happens in its games is written before any client is notified of it.

Every game that was started is therefore in the store, up to its end or up to the point where it was interrupted.
"""

from collections.abc import Sequence
from typing import Final

from croupier.core.logger import Logger
from croupier.core.session import Effect
from croupier.recording.journal import EventJournal, JournalBatch, read_or_write_start
from croupier.recording.seeds import Seeds
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.table.persistence import GameEnded, JournalPage, LogReplay, make_record, rebuild_void_game
from croupier.rooms.oldmaid.wire import Answer
from croupier.store.records import StoredHand
from croupier.store.store import Store

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
    store: Store, wanted: Seeds, now: float, log: Logger | None = None
) -> tuple[Seeds, OldMaidJournal, int, Sequence[TableGame]]:
    """Open the journal in a store, or begin one.

    Returns the seeds, the journal, the number of games started so far, and the games that were running when the server
    was interrupted. These games are void and are written as void, at the time `now`, before this function returns.
    Raises ValueError if the journal is damaged or contradicts `wanted`, and StoreUnavailable.
    """
    seeds = await read_or_write_start(store, ROOM_NAME, JOURNAL_TABLE, wanted)
    replay = LogReplay()
    journal: OldMaidJournal = EventJournal(store, ROOM_NAME, JOURNAL_TABLE, replay, is_live=False, log=log)
    await journal.replay(JournalPage)
    void_games = [rebuild_void_game(game) for game in replay.running_games.values()]
    if void_games:
        page = JournalPage([GameEnded(game.number, is_void=True) for game in void_games])
        batch: OldMaidBatch = JournalBatch([page], (), now, [hand_record(game, now) for game in void_games])
        await journal.write(batch)
        journal.confirm(batch)
    return seeds, journal, replay.started_count, void_games
