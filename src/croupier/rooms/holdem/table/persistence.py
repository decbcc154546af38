"""JSON snapshots and journal inputs of a hold'em house, from which it resumes at the pending decision.

Decks are not saved: they follow from the dealers and the number of cards dealt.
"""

from typing import Final, Self

from msgspec import Raw

from croupier.core.rules import Seat
from croupier.core.stored import Stored
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.table.seats import Participant
from croupier.rooms.holdem.wire import Guid, HoldemRequest, Winner

FORMAT_VERSION: Final = 1
"""The version of the snapshot format; increase it with every incompatible change."""

RULES_UNLIMITED_GAMES: Final = 1
RULES_LIMITED_GAMES: Final = 2
"""Versions of the house rules: since version 2, users are in a limited number of games, and unused games expire.

A journal may begin under version 1; its inputs are replayed under the rules in force when they were received.
"""


class TableSnapshot(Stored, frozen=True):
    """A table; see `table.Table`.

    `sitters` are the seated players, then the queue in order. `running` is the hand being played or shown; `acted` are
    its seats that need not act in this betting round, which only earlier versions read. `alarm` is the table's
    deadline. `hands` are the last finished hands, each the JSON of a FinishedHand; `finished` is the number of the last
    one. Tables saved by an earlier version lack `number`, `expires` and `turn_ends`.
    """

    MALFORMED = "a malformed snapshot of a hold'em table"

    guid: Guid
    version: int
    alarm: float | None
    sitters: tuple[Participant, ...]
    button: int
    big_blind: Guid | None
    running: FinishedHand | None
    acted: tuple[Seat, ...]
    finished: int
    winners: tuple[Winner, ...]
    hands: tuple[Raw, ...]
    number: int = 0
    expires: float | None = None
    turn_ends: int = 0


class VersionedSnapshot(Stored, frozen=True):
    """The format version of a snapshot, decoded before the rest."""

    MALFORMED = "a malformed snapshot of a hold'em house"

    form: int = FORMAT_VERSION


class HouseSnapshot(VersionedSnapshot, frozen=True, kw_only=True):
    """A house: the number of hands dealt, the number of games made, and its tables in order.

    Each table is the JSON of a TableSnapshot.
    """

    settings: Settings
    deals: int
    made: int
    tables: tuple[Raw, ...]
    rules: int = RULES_UNLIMITED_GAMES

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Decode from JSON. Raises ValueError if it is malformed or has another format version."""
        form = VersionedSnapshot.from_json(data).form
        if form != FORMAT_VERSION:
            raise ValueError(f"found a snapshot in format {form}; allowed: format {FORMAT_VERSION}")
        return super().from_json(data)


class HouseInput(Stored, frozen=True, omit_defaults=True):
    """A journal entry: an input of a house at time `now`.

    The input is the request `said`; or the closing of the house, with `halted` true if it is final; or its opening, if
    `opened`; otherwise a deadline. On opening, `settings` are the new settings if they have changed, and `rules` is the
    version of the house rules.
    """

    MALFORMED = "a malformed input of a hold'em house"

    now: float
    said: HoldemRequest | None = None
    halted: bool | None = None
    opened: bool = False
    settings: Settings | None = None
    rules: int = RULES_UNLIMITED_GAMES
