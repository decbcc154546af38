"""A house of hold'em on paper: all that it has to know to go on at the very decision at which it was interrupted.

What is kept is JSON. Decks are not: they follow from the dealers, and from how many cards were dealt.
"""

from typing import Final, Self

from msgspec import DecodeError, Raw, Struct
from msgspec.json import decode, encode

from croupier.core.rules import Seat
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import Guid, HoldemRequest, Winner

FORMAT_VERSION: Final = 1
"""The form of what is kept; whoever changes it gives it a new number."""

RULES_UNLIMITED_GAMES: Final = 1
RULES_LIMITED_GAMES: Final = 2
"""The rules of a house: with the second ones users are in a bounded number of games, and unused games expire.

A journal may begin with the first ones: what was heard then means what it meant then.
"""


class ParticipantSnapshot(Struct, frozen=True):
    """Somebody at a table; see `seats.Sitter`. Who waits has no chair, and stands in the order of the queue."""

    user: str
    guid: Guid
    chair: int | None
    chips: int
    place: Seat | None


class HandSnapshot(Struct, frozen=True):
    """A hand with those who play it, by seat: the `number`-th of a table, and the `deal`-th of its house.

    `hand` is its own JSON.
    """

    table: Guid
    number: int
    deal: int
    players: tuple[str, ...]
    guids: tuple[Guid, ...]
    hand: Raw
    faults: tuple[tuple[Seat, str], ...]

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what is no kept hand of hold'em: {error}") from None


class TableSnapshot(Struct, frozen=True):
    """A table; see `table.Table`. `running` is the hand that is played or shown, with who has `acted` in its round.

    `hands` are the last that are over, each its own JSON, a KeptHand; the last of them is the hand `finished`.
    Tables that were kept by a former version have no `number`, no time at which they expire, and no end of a turn.
    """

    guid: Guid
    version: int
    alarm: float | None
    sitters: tuple[ParticipantSnapshot, ...]
    button: int
    big_blind: Guid | None
    running: HandSnapshot | None
    acted: tuple[Seat, ...]
    finished: int
    winners: tuple[Winner, ...]
    hands: tuple[Raw, ...]
    number: int = 0
    expires: float | None = None
    turn_ends: int = 0

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what is no kept table of hold'em: {error}") from None


class VersionedSnapshot(Struct, frozen=True):
    """What is read first."""

    form: int = FORMAT_VERSION


class HouseSnapshot(VersionedSnapshot, frozen=True, kw_only=True):
    """A house: how many hands it has dealt and games it has made, and its tables in their order.

    Each table is its own JSON, a KeptTable.
    """

    settings: Settings
    deals: int
    made: int
    tables: tuple[Raw, ...]
    rules: int = RULES_UNLIMITED_GAMES

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            form = decode(data, type=VersionedSnapshot).form
            if form != FORMAT_VERSION:
                raise ValueError(f"found a house kept in form {form}; allowed: form {FORMAT_VERSION}")
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found what is no kept house of hold'em: {error}") from None


class HouseInput(Struct, frozen=True, omit_defaults=True):
    """Something that a house has heard, and when: a request, the end of its opening hours, its opening, or a ring.

    `settings` are those that it has from its opening on, if they are not as they were; `rules` those of the version
    that opens it.
    """

    now: float
    said: HoldemRequest | None = None
    halted: bool | None = None
    opened: bool = False
    settings: Settings | None = None
    rules: int = RULES_UNLIMITED_GAMES

    def to_json(self) -> bytes:
        """These words as JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        try:
            return decode(data, type=cls)
        except DecodeError as error:
            raise ValueError(f"found a fact that no house of hold'em has heard: {error}") from None
