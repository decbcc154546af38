"""Finds a deal in the dealer's record, with what proves it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from croupier.core.deal_record import DealPromise, DealRecordEntry, DealSeed, DealtHand
from croupier.rooms import ROOMS

MAX_SCANNED_BYTES: Final = 1 << 26
"""Only this much of the end of a record is searched."""

_decode: Final = Decoder[DealRecordEntry](DealRecordEntry).decode


class DealPlace(Struct, frozen=True):
    """Where a deal is in the record: its room, the number of its table there, and of its hand.

    The tables of a server are counted from 1 at each start, so `cards`, if they are known, tell the deals of two runs
    apart.
    """

    room: str
    table: int
    hand: int
    cards: tuple[str, ...] = ()


class Deal(NamedTuple):
    """A deal with its promise. The seeds are empty until they are revealed, and `cards` if none were shown."""

    room: str
    algorithm: str
    commitment: str
    server_seed: str
    client_seed: str
    hand: int
    decks: int
    cards: tuple[str, ...]

    @property
    def pack(self) -> Sequence[str]:
        """The names of all cards of the shoe in their canonical order."""
        return ROOMS[self.room].pack.names * self.decks


def find_deal(file: Path, place: DealPlace) -> Deal | None:
    """Return the latest deal of a record at a place, None if there is none. Raises OSError."""
    with file.open("rb") as record:
        size = record.seek(0, 2)
        record.seek(max(0, size - MAX_SCANNED_BYTES))
        if record.tell():
            record.readline()  # the rest of a line
        return search_deal(record, place)


def search_deal(lines: Iterable[bytes], place: DealPlace) -> Deal | None:
    """Return the latest deal at a place in the lines of a record."""
    found: Deal | None = None
    promise: DealPromise | None = None
    dealt: DealtHand | None = None
    mark = f'"table":{place.table},'.encode()
    for line in lines:
        if mark not in line:
            continue
        try:
            entry = _decode(line)
        except (MsgspecError, UnicodeDecodeError):
            continue  # `croupier verify` reports it
        if entry.room != place.room or getattr(entry, "table", None) != place.table:
            continue
        match entry:
            case DealPromise():
                promise, dealt = entry, None
            case DealtHand(hand=place.hand) if not place.cards or not entry.cards or is_start(entry.cards, place.cards):
                dealt = entry
                found = None if promise is None else _make_deal(promise, dealt, None)
            case DealSeed() if promise is not None and dealt is not None:
                found = _make_deal(promise, dealt, entry)
            case _:
                pass
    return found


def is_start(recorded: list[str], cards: tuple[str, ...]) -> bool:
    """Whether two lists of cards are of one deal: one list is the beginning of the other.

    >>> is_start(["Q"], ("Q", "K")), is_start(["Q"], ("K",))
    (True, False)
    """
    shared = min(len(recorded), len(cards))
    return tuple(recorded[:shared]) == cards[:shared]


def _make_deal(promise: DealPromise, dealt: DealtHand, seed: DealSeed | None) -> Deal:
    return Deal(
        room=promise.room,
        algorithm=promise.algorithm,
        commitment=promise.commitment,
        server_seed="" if seed is None else seed.server_seed,
        client_seed="" if seed is None else seed.client_seed,
        hand=dealt.hand,
        decks=promise.decks,
        cards=tuple(dealt.cards),
    )
