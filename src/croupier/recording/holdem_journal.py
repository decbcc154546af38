"""The journal of a house of hold'em: what it has heard is written down before anybody is told what came of it.

So a house that was interrupted, however rudely, hears everything again and goes on at the decision that was open.
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
"""All tables of a house have one journal: somebody who leaves one may open another."""

MIN_FACTS_PER_SNAPSHOT: Final = 1000
"""Not more often than after so many facts the whole state is kept."""

APPROXIMATE_FACT_BYTES: Final = 200
"""About so many bytes has a fact: to keep the state is to take no more than the facts do."""


class JournalStart(Struct, frozen=True, omit_defaults=True):
    """The first fact of a journal: what all deals and all GUIDs of the house follow from.

    `seed` is the number of `--seed`; without it the house has a secret of its own, in hexadecimal. `decks` are those of
    `--deck`: hands are dealt from them in turn, so the number of the last deal is the place in them.
    """

    settings: Settings
    seed: int | None = None
    secret: str = ""
    client_seed: str = ""
    decks: tuple[Order, ...] = ()

    def server_seed(self, hand_number: int) -> bytes:
        """The server seed of a deal; that of the deal 0 is what the GUIDs follow from."""
        return server_seed(ROOM_NAME, self.seed, self.secret, hand_number)


class HoldemJournal:
    """Writes what a house has heard into a store, and its state now and then.

    `last` is the number of the last fact, and `unkept` how many have come since the state was kept.
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
        """Write down what was heard, and the hands that it has ended; the future is done when it is durable.

        It fails with StoreDown: then write again; and with Refused where another server writes into the same journal.
        """
        entries = [
            JournalEntry(ROOM_NAME, JOURNAL_TABLE, self._last_seq + number, each.to_json(), each.now)
            for number, each in enumerate(facts, start=1)
        ]
        return self.store.append(entries, [hand_record(over, facts[-1].now) for over in finished])

    async def was_written(self, facts: Sequence[HouseInput]) -> bool:
        """Whether this was written after all, though nobody was told so.

        Raises StoreDown, and Refused where somebody else has written something else.
        """
        found = [entry.fact async for entry in self.store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=self._last_seq)]
        if found and found != [each.to_json() for each in facts]:
            raise WriteRefused("found facts of another server")
        return bool(found)

    def confirm_written(self, facts: Sequence[HouseInput]) -> None:
        """This is durable, and the house has heard nothing since: keep its state, if that is due."""
        self._last_seq += len(facts)
        self._facts_since_snapshot += len(facts)
        if self._facts_since_snapshot < max(MIN_FACTS_PER_SNAPSHOT, self._snapshot_bytes // APPROXIMATE_FACT_BYTES):
            return
        state = self._house.snapshot()
        self._facts_since_snapshot, self._snapshot_bytes = 0, len(state)
        save_snapshot(self.store, Snapshot(ROOM_NAME, JOURNAL_TABLE, self._last_seq, state, facts[-1].now), self._log)


def hand_record(finished: HandFinished, now: float) -> StoredHand:
    """A hand as it is kept in a store, with what everybody has won."""
    played = finished.state
    assert isinstance(played, FinishedHand), "a house of hold'em plays hands"
    summary = ", ".join(f"{player} {net:+,}" for player, net in zip(played.players, finished.nets, strict=True))
    return StoredHand(
        ROOM_NAME, played.table, played.table_hand_number, now, played.players, played.json.decode(), summary
    )


async def open_journal(
    store: Store, wanted: JournalStart, build: Callable[[JournalStart], House], log: Logger | None = None
) -> tuple[House, HoldemJournal, float]:
    """The house whose journal is in a store, as it was; a new one if there is none. And when it heard something last.

    It has the settings that it had; those that are `wanted` it has from its opening on. Raises ValueError where what is
    there cannot go on so, and StoreDown.
    """
    begun = await _read_or_write_start(store, wanted)
    house = build(begun)
    last, now, since = 1, 0.0, 1
    if (kept := await store.load_snapshot(ROOM_NAME, JOURNAL_TABLE)) is not None:
        house.restore(kept.state)
        last, now, since = kept.seq, kept.time, kept.seq
    async for entry in store.read_journal(ROOM_NAME, JOURNAL_TABLE, after=last):
        if entry.seq != last + 1:
            raise ValueError(f"found the fact {entry.seq} behind the fact {last}; allowed: a journal without gaps")
        house.apply(HouseInput.from_json(entry.fact))
        last, now = entry.seq, entry.time
        if last % MIN_FACTS_PER_SNAPSHOT == 0:
            await asyncio.sleep(0)
    wanted.settings.check_compatible(house.settings)
    return house, HoldemJournal(store, house, wanted.settings, last, last - since, log=log), now


async def _read_or_write_start(store: Store, wanted: JournalStart) -> JournalStart:
    """How the journal began; begin it if there is none. Raises ValueError where other cards are wanted."""
    if (first := await anext(store.read_journal(ROOM_NAME, JOURNAL_TABLE), None)) is not None:
        return decode_start(first.fact, wanted)
    if wanted.seed is None:
        wanted = replace(wanted, secret=secrets.token_hex(32))
    await store.append([JournalEntry(ROOM_NAME, JOURNAL_TABLE, 1, encode(wanted), 0.0)])
    return wanted
