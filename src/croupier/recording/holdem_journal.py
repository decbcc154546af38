"""Journal of a hold'em house: every input is written before any answer to it is sent.

Hold'em is crash-safe: after a kill -9 or power loss the house replays the journal and resumes at the pending decision.
"""

from collections.abc import Callable
from typing import Any, Final

from croupier.core.logger import Logger
from croupier.core.session import HandFinished
from croupier.recording.journal import EventJournal, read_or_write_start
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.store.records import StoredHand
from croupier.store.store import Store

ROOM_NAME: Final = "holdem"
JOURNAL_TABLE: Final = "house"
"""All tables of a house share one journal, because a player can leave a table and open another one."""


class JournalStart(Seeds, frozen=True, omit_defaults=True, kw_only=True):
    """The first entry of a journal: all deals and all GUIDs of the house derive from it.

    The GUIDs derive from the server seed of deal 0. The decks of `--deck` are dealt in turn, so the number of the
    latest deal is the position in them.
    """

    settings: Settings


class HoldemJournal(EventJournal[HouseInput, Any]):
    """The journal of a house. `settings` take effect when the room opens."""

    def __init__(self, store: Store, house: House, settings: Settings, *, log: Logger | None = None) -> None:
        super().__init__(store, ROOM_NAME, JOURNAL_TABLE, house, is_live=True, log=log)
        self.settings = settings


def hand_record(finished: HandFinished, now: float) -> StoredHand:
    """Return a finished hand as it is stored, with a summary of the players' results."""
    hand = finished.state
    assert isinstance(hand, FinishedHand), "the state of a finished hand is a FinishedHand"
    summary = ", ".join(f"{player} {net:+,}" for player, net in zip(hand.players, finished.nets, strict=True))
    return StoredHand(ROOM_NAME, hand.table, hand.table_hand_number, now, hand.players, hand.json.decode(), summary)


async def open_journal(
    store: Store, wanted: JournalStart, build: Callable[[JournalStart], House], log: Logger | None = None
) -> tuple[House, HoldemJournal]:
    """Open the journal in a store, or begin one; return the house in its last state, and the journal.

    The journal is replayed with the stored settings; `wanted.settings` take effect when the room opens. Raises
    ValueError if the journal is damaged, or if its cards or stakes contradict `wanted`, and StoreUnavailable.
    """
    house = build(await read_or_write_start(store, ROOM_NAME, JOURNAL_TABLE, wanted))
    journal = HoldemJournal(store, house, wanted.settings, log=log)
    await journal.replay(HouseInput)
    wanted.settings.check_compatible(house.settings)
    return house, journal
