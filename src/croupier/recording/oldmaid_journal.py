"""The journal of a table of Old Maid: what happens in its games is written down before anybody is told of it.

So every game that was begun is in the books, as it was played to its end or as far as it came.
"""

from asyncio import Future
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.json import encode

from croupier.logs import Log, silence
from croupier.recording.seeds import Seeds, kept_as
from croupier.recording.snapshots import save
from croupier.rooms.oldmaid.table.game import Game
from croupier.rooms.oldmaid.table.persistence import Ended, KeptTable, Note, Sheet, Tale, record, stopped
from croupier.store.records import Entry, Hand, Refused, Snapshot
from croupier.store.store import Store

ROOM: Final = "oldmaid"
TABLE: Final = "table"
"""All games of a table have one journal, and are numbered in the order in which they have started."""

SELDOM: Final = 1000
"""After so many facts the games that are running are kept as they are."""


class Courses:
    """Writes notes of games into a store. `clock` tells the seconds since 1970; `tale` is what was noted so far.

    `last` is the number of the last fact, and `unkept` how many have come since the games were kept.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float], tale: Tale, last: int, unkept: int, *, log: Log | None = None
    ) -> None:
        self.store = store
        self._log = log or silence()
        self._clock = clock
        self._tale = tale
        self._last = last
        self._unkept = unkept

    def write(self, notes: Sequence[Note], over: Sequence[Game]) -> Future[None]:
        """Write down what has happened, and the games that are over by it; the future is done when it is durable.

        It fails with StoreDown: then write again; and with Refused where another server writes into the same journal.
        """
        now = self._clock()
        entry = Entry(ROOM, TABLE, self._last + 1, Sheet(notes).to_json(), now)
        return self.store.append([entry], [hand(game, now) for game in over])

    async def written(self, notes: Sequence[Note]) -> bool:
        """Whether this was written after all, though nobody was told so.

        Raises StoreDown, and Refused where somebody else has written something else.
        """
        found = [entry.fact async for entry in self.store.journal(ROOM, TABLE, after=self._last)]
        if found and found != [Sheet(notes).to_json()]:
            raise Refused("found facts of another server")
        return bool(found)

    def settled(self, notes: Sequence[Note]) -> None:
        """This is durable: keep the games that are running, if that is due."""
        self._last += 1
        self._unkept += 1
        self._tale.hear(notes)
        if self._unkept >= SELDOM:
            self._unkept = 0
            kept = self._tale.kept().to_json()
            save(self.store, Snapshot(ROOM, TABLE, self._last, kept, self._clock()), self._log)


def hand(game: Game, now: float) -> Hand:
    """A game that is over as it is kept in a store."""
    told = record(game)
    summary = "void" if told.void else ", ".join([*told.ranking[:-1], f"and {told.ranking[-1]} has lost"])
    return Hand(ROOM, TABLE, game.number, now, game.nicks, told.to_json().decode(), summary)


async def reopen(
    store: Store, wanted: Seeds, clock: Callable[[], float], log: Log | None = None
) -> tuple[Seeds, Courses, int, Sequence[Game]]:
    """What the journal in a store has begun with; the journal; how many games the table has started; and those that
    were running when it was interrupted, which are void, and are written down as such. A new journal if there is none.

    Raises ValueError where what is there cannot go on so, and StoreDown.
    """
    seeds = await _begun(store, wanted)
    tale, last, since = Tale(), 1, 1
    if (kept := await store.snapshot(ROOM, TABLE)) is not None:
        tale, last, since = Tale(KeptTable.from_json(kept.state)), kept.seq, kept.seq
    async for entry in store.journal(ROOM, TABLE, after=last):
        if entry.seq != last + 1:
            raise ValueError(f"found the fact {entry.seq} behind the fact {last}; allowed: a journal without gaps")
        tale.hear(Sheet.from_json(entry.fact).notes)
        last = entry.seq
    journal = Courses(store, clock, tale, last, last - since, log=log)
    void = [stopped(game) for game in tale.running.values()]
    if void:
        notes = [Ended(game.number, void=True) for game in void]
        await journal.write(notes, void)
        journal.settled(notes)
    return seeds, journal, tale.started, void


async def _begun(store: Store, wanted: Seeds) -> Seeds:
    """How the journal began; begin it if there is none. Raises ValueError where other cards are wanted."""
    if (first := await anext(store.journal(ROOM, TABLE), None)) is not None:
        return kept_as(first.fact, wanted)
    seeds = wanted.sown()
    await store.append([Entry(ROOM, TABLE, 1, encode(seeds), 0.0)])
    return seeds
