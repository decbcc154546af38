"""Journal of a hold'em house: every input is written before any answer to it is sent.

Hold'em is crash-safe: after a kill -9 or power loss the house replays the journal and resumes at the pending decision.
"""

import asyncio
import secrets
from asyncio import Future
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from croupier.core.cards import Order
from croupier.core.session import HandFinished
from croupier.logs import Logger, silent_logger
from croupier.recording.seeds import decode_start, server_seed
from croupier.recording.snapshots import save_snapshot
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.store.records import JournalEntry, Snapshot, StoredHand, WriteRefused
from croupier.store.store import Store

ROOM_NAME: Final = "holdem"
JOURNAL_TABLE: Final = "house"
"""All tables of a house share one journal, because a player can leave a table and open another one."""

MIN_FACTS_PER_SNAPSHOT: Final = 1000
"""Number of journal entries between two snapshots of the state, at least."""

APPROXIMATE_FACT_BYTES: Final = 200
"""Typical size of a journal entry. Large snapshots are less frequent, so that they take no more space than the entries.
"""


class JournalStart(Struct, frozen=True, omit_defaults=True):
    """The first entry of a journal: all deals and all GUIDs of the house derive from it.

    `seed` is the number given with `--seed`; without it, `secret` is 32 random bytes in hexadecimal. `decks` are those
    of `--deck`; they are dealt in turn, so the number of the latest deal is the position in them.
    """

    settings: Settings
    seed: int | None = None
    secret: str = ""
    client_seed: str = ""
    decks: tuple[Order, ...] = ()

    def server_seed(self, hand_number: int) -> bytes:
        """Return the server seed of a deal. The GUIDs derive from the server seed of deal 0."""
        return server_seed(ROOM_NAME, self.seed, self.secret, hand_number)


class HoldemJournal:
    """Writes the inputs of a house to a store, and a snapshot of its state from time to time.

    One write is in progress at a time: call `confirm_written` before the next `write`.
    """

    def __init__(
        self,
        store: Store,
        house: House,
        settings: Settings,
        last_seq: int,
        facts_since_snapshot: int,
        *,
        log: Logger | None = None,
    ) -> None:
        self.store = store
        self._log = log or silent_logger()
        self.settings = settings
        self._house = house
        self._last_seq = last_seq
        self._facts_since_snapshot = facts_since_snapshot
        self._snapshot_bytes = 0

    def write(self, facts: Sequence[HouseInput], finished: Iterable[HandFinished]) -> Future[None]:
        """Write inputs and the hands that they have finished; the future is done when they are durable.

        It fails with StoreUnavailable, after which the write can be repeated, or with WriteRefused if another server
        writes to the same journal.
        """
        entries = [
            JournalEntry(ROOM_NAME, JOURNAL_TABLE, self._last_seq + number, fact.to_json(), fact.now)
            for number, fact in enumerate(facts, start=1)
        ]
        return self.store.append(entries, [hand_record(hand, facts[-1].now) for hand in finished])

    async def was_written(self, facts: Sequence[HouseInput]) -> bool:
        """Whether a write that failed is in the journal nevertheless.

        Raises StoreUnavailable, and WriteRefused if another server has written something else.
        """
        stored = [entry.fact async for entry in self.store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=self._last_seq)]
        if stored and stored != [fact.to_json() for fact in facts]:
            raise WriteRefused("found journal entries of another server")
        return bool(stored)

    def confirm_written(self, facts: Sequence[HouseInput]) -> None:
        """Note that inputs are durable and the house has handled no others since; save a snapshot if one is due."""
        self._last_seq += len(facts)
        self._facts_since_snapshot += len(facts)
        if self._facts_since_snapshot < max(MIN_FACTS_PER_SNAPSHOT, self._snapshot_bytes // APPROXIMATE_FACT_BYTES):
            return
        state = self._house.snapshot()
        self._facts_since_snapshot, self._snapshot_bytes = 0, len(state)
        save_snapshot(self.store, Snapshot(ROOM_NAME, JOURNAL_TABLE, self._last_seq, state, facts[-1].now), self._log)


def hand_record(finished: HandFinished, now: float) -> StoredHand:
    """Return a finished hand as it is stored, with a summary of the players' results."""
    hand = finished.state
    assert isinstance(hand, FinishedHand), "the state of a finished hand is a FinishedHand"
    summary = ", ".join(f"{player} {net:+,}" for player, net in zip(hand.players, finished.nets, strict=True))
    return StoredHand(ROOM_NAME, hand.table, hand.table_hand_number, now, hand.players, hand.json.decode(), summary)


async def open_journal(
    store: Store, wanted: JournalStart, build: Callable[[JournalStart], House], log: Logger | None = None
) -> tuple[House, HoldemJournal, float]:
    """Open the journal in a store, or begin one; return the house in its last state, the journal, and the last entry's
    time.

    The journal is replayed with the stored settings; `wanted.settings` take effect when the room opens. Raises
    ValueError if the journal is damaged, or if its cards or stakes contradict `wanted`, and StoreUnavailable.
    """
    start = await _read_or_write_start(store, wanted)
    house = build(start)
    last_seq, last_time, snapshot_seq = 1, 0.0, 1
    if (snapshot := await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)) is not None:
        house.restore(snapshot.state)
        last_seq, last_time, snapshot_seq = snapshot.seq, snapshot.time, snapshot.seq
    async for entry in store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=last_seq):
        if entry.seq != last_seq + 1:
            raise ValueError(f"found entry {entry.seq} after entry {last_seq}; allowed: a journal without gaps")
        house.apply(HouseInput.from_json(entry.fact))
        last_seq, last_time = entry.seq, entry.time
        if last_seq % MIN_FACTS_PER_SNAPSHOT == 0:
            await asyncio.sleep(0)
    wanted.settings.check_compatible(house.settings)
    return house, HoldemJournal(store, house, wanted.settings, last_seq, last_seq - snapshot_seq, log=log), last_time


async def _read_or_write_start(store: Store, wanted: JournalStart) -> JournalStart:
    """Return the first entry of the journal; write it if there is none. Raises ValueError if other cards are wanted."""
    if (first_entry := await anext(store.read_journal(ROOM_NAME, JOURNAL_TABLE), None)) is not None:
        return decode_start(first_entry.fact, wanted)
    if wanted.seed is None:
        wanted = replace(wanted, secret=secrets.token_hex(32))
    await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, 1, encode(wanted), 0.0)])
    return wanted
