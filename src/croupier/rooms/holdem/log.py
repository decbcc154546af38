"""What has happened in a hand, in order: as entries to read and replay, and as JSON to keep."""

from collections.abc import Iterable, Sequence
from typing import Literal, Self

import msgspec
from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import CARDS, NUMBERS, Card
from croupier.rooms.holdem.legal import FOLD

type Deal = tuple[Literal["deal"], Seat | None, tuple[Card, ...]]
type Bet = tuple[Literal["bet"], Seat, int]
type Out = tuple[Literal["fold", "leave"], Seat]

type Entry = Deal | Bet | Out
"""A card dealt to a seat, or cards to the board (None); chips that a seat has added; a fold; a player who has left."""


class Leave(Struct, frozen=True, forbid_unknown_fields=True):
    """In a saved hand, the player of a seat has left: `{"leave": 3}`."""

    leave: Seat


type Step = int | Literal["fold"] | list[str] | Leave
"""What has happened as a saved hand has it, where the rules tell whose it is: chips, FOLD, card names, or Leave."""


def entries(log: Iterable[Entry], small_blind: Seat, seats: int) -> list[Entry]:
    """A log in its normal form, in whatever portions the cards came: hole cards one by one with their seats, the board
    by streets.
    """
    found: list[Entry] = []
    holes = board = 0
    for entry in log:
        if entry[0] != "deal":
            found.append(entry)
        elif holes < 2 * seats:
            for card in entry[2]:
                found.append(("deal", (small_blind + holes) % seats, (card,)))
                holes += 1
        else:
            last = found[-1]
            if 0 < board < 3 and last[0] == "deal":
                found[-1] = ("deal", None, last[2] + entry[2])
            else:
                found.append(entry)
            board += len(entry[2])
    return found


class Saved(Struct, frozen=True, forbid_unknown_fields=True):
    """A hand as JSON: how it began, and what has happened since the blinds were posted."""

    stacks: tuple[int, ...]
    button: int
    blinds: tuple[int, int]
    ante: int
    straddle: int
    log: list[Step]

    def to_json(self) -> bytes:
        """These words as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        return msgspec.json.decode(data, type=cls)


def steps(log: Iterable[Entry]) -> list[Step]:
    """A log as it is saved; hole cards that follow one another are one step."""
    found: list[Step] = []
    for entry in log:
        match entry:
            case ("deal", seat, cards):
                last = found[-1] if found else None
                if seat is None or not isinstance(last, list):
                    found.append(last := [])
                last += [CARDS[card] for card in cards]
            case ("bet", _, chips):
                found.append(chips)
            case ("leave", seat):
                found.append(Leave(seat))
            case _:
                found.append(FOLD)
    return found


def numbers(names: Sequence[str]) -> list[Card]:
    """The cards of such names. Raises ValueError."""
    if unknown := [name for name in names if name not in NUMBERS]:
        raise ValueError(f"found the card {unknown[0]!r}; allowed: {', '.join(CARDS)}")
    return [NUMBERS[name] for name in names]
