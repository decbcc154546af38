"""Journal of a hold'em house: every input is written before any answer to it is sent.

Hold'em is crash-safe: after a kill -9 or power loss the house replays the journal and resumes at the pending decision.
"""

from typing import Any, Final

from msgspec.structs import replace

from croupier.core.logger import Logger
from croupier.core.session import HandFinished
from croupier.recording.journal import EventJournal, read_or_write_start
from croupier.recording.seeds import Seeds
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.persistence import HouseInput
from croupier.rooms.holdem.table.places import Place
from croupier.store.records import StoredHand
from croupier.store.store import Store

ROOM_NAME: Final = "holdem"
JOURNAL_TABLE: Final = "house"
"""All tables of a house share one journal, because a player can leave a table and open another one. The journals of
further houses are `house-2`, `house-3` …"""


class JournalStart(Seeds, frozen=True, omit_defaults=True, kw_only=True):
    """The first entry of a journal: all deals and all GUIDs of the house derive from it.

    The GUIDs derive from the server seed of deal 0. The decks of `--deck` are dealt in turn, so the number of the
    latest deal is the position in them. Every house of a store has a journal of its own, with the same seeds.
    """

    settings: Settings
    house: int = 1
    houses: int = 1

    @property
    def place(self) -> Place:
        """The place of the house among the houses of the store."""
        return Place(self.house, self.houses)

    def new_house(self) -> House:
        """Make the house as it is at the beginning of its journal."""
        return House(self.settings, self.dealers(ROOM), self.server_seed(ROOM_NAME, 0), place=self.place)


class HoldemJournal(EventJournal[HouseInput, Any]):
    """The journal of a house. `settings` take effect when the room opens."""

    def __init__(self, store: Store, house: House, settings: Settings, *, log: Logger | None = None) -> None:
        super().__init__(store, ROOM_NAME, journal_table(house.place.house), house, is_live=True, log=log)
        self.settings = settings


def hand_record(finished: HandFinished, now: float) -> StoredHand:
    """Return a finished hand as it is stored, with a summary of the players' results."""
    hand = finished.state
    assert isinstance(hand, FinishedHand), "the state of a finished hand is a FinishedHand"
    summary = ", ".join(f"{player} {net:+,}" for player, net in zip(hand.players, finished.nets, strict=True))
    return StoredHand(ROOM_NAME, hand.table, hand.table_hand_number, now, hand.players, hand.json.decode(), summary)


def journal_table(house: int) -> str:
    """Return the name of the journal of a house.

    >>> journal_table(1), journal_table(2)
    ('house', 'house-2')
    """
    return JOURNAL_TABLE if house == 1 else f"{JOURNAL_TABLE}-{house}"


async def open_store_of_houses(store: Store, wanted: JournalStart, houses: int | None) -> JournalStart:
    """Return the first entry of the journal of house 1, whose seeds all houses share; begin the journal if it is empty.

    `houses` is the number of houses in a new store, None for that of the store, or one. Raises ValueError if the cards,
    the stakes or the number of houses contradict the stored ones, and StoreUnavailable.
    """
    start = await read_or_write_start(store, ROOM_NAME, JOURNAL_TABLE, replace(wanted, houses=houses or 1))
    if houses not in {None, start.houses}:
        raise ValueError(f"found --houses {houses} for saved tables; allowed: {start.houses}, as saved")
    wanted.settings.check_compatible(start.settings)
    return start


async def open_journal(store: Store, wanted: JournalStart, log: Logger | None = None) -> tuple[House, HoldemJournal]:
    """Open the journal of a house in a store, or begin one; return the house in its last state, and the journal.

    `wanted` names the house, and of a further house has the seeds of the first one. The journal is replayed with the
    stored settings; `wanted.settings` take effect when the room opens. Raises ValueError if the journal is damaged, or
    if its cards or stakes contradict `wanted`, and StoreUnavailable.
    """
    start = await read_or_write_start(store, ROOM_NAME, journal_table(wanted.house), wanted)
    house = start.new_house()
    journal = HoldemJournal(store, house, wanted.settings, log=log)
    await journal.replay(HouseInput)
    wanted.settings.check_compatible(house.settings)
    return house, journal
