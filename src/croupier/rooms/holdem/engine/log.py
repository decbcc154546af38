"""What has happened in a hand, in order: as entries to read and replay, and as JSON to keep."""

from collections.abc import Iterable, Sequence
from typing import Literal, Self

import msgspec
from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import CARD_NUMBERS, CARDS, Card, card_names
from croupier.rooms.holdem.engine.legal import FOLD

type DealEntry = tuple[Literal["deal"], Seat | None, tuple[Card, ...]]
type BetEntry = tuple[Literal["bet"], Seat, int]
type ExitEntry = tuple[Literal["fold", "leave"], Seat]

type HandLogEntry = DealEntry | BetEntry | ExitEntry
"""A card dealt to a seat, or cards to the board (None); chips that a seat has added; a fold; a player who has left."""

type CompactLogEntry = BetEntry | ExitEntry | int
"""An entry as a hand keeps it while it is played: of a deal, only how many cards it was."""


class SavedLeave(Struct, frozen=True, forbid_unknown_fields=True):
    """In a saved hand, the player of a seat has left: `{"leave": 3}`."""

    leave: Seat


type SavedStep = int | Literal["fold"] | list[str] | SavedLeave
"""What has happened as a saved hand has it, where the rules tell whose it is: chips, FOLD, card names, or Leave."""


def expand_log(
    log: Iterable[CompactLogEntry], cards: tuple[Card, ...], small_blind: Seat, seats: int
) -> list[HandLogEntry]:
    """A log in its normal form, in whatever portions the cards came: hole cards one by one with their seats, the board
    by streets.
    """
    found: list[HandLogEntry] = []
    at = 0
    for past in log:
        if not isinstance(past, int):
            found.append(past)
            continue
        dealt = cards[at : at + past]
        board = at - 2 * seats
        if board < 0:
            found += [("deal", (small_blind + nth) % seats, (card,)) for nth, card in enumerate(dealt, at)]
        elif 0 < board < 3 and found[-1][0] == "deal":
            found[-1] = ("deal", None, found[-1][2] + dealt)
        else:
            found.append(("deal", None, dealt))
        at += past
    return found


class SavedHand(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A hand as JSON: how it began, what has happened since the blinds were posted, and the cards to come if known."""

    stacks: tuple[int, ...]
    button: int
    blinds: tuple[int, int]
    ante: int
    straddle: int
    log: list[SavedStep]
    deck: tuple[str, ...] | None = None

    def to_json(self) -> bytes:
        """These words as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The words of such JSON. Raises ValueError."""
        return msgspec.json.decode(data, type=cls)


def to_saved_steps(log: Iterable[HandLogEntry]) -> list[SavedStep]:
    """A log as it is saved; hole cards that follow one another are one step."""
    found: list[SavedStep] = []
    for entry in log:
        match entry:
            case ("deal", seat, cards):
                last = found[-1] if found else None
                if seat is None or not isinstance(last, list):
                    found.append(last := [])
                last += card_names(cards)
            case ("bet", _, chips):
                found.append(chips)
            case ("leave", seat):
                found.append(SavedLeave(seat))
            case _:
                found.append(FOLD)
    return found


def card_numbers(texts: Sequence[str]) -> list[Card]:
    """The cards of such names. Raises ValueError."""
    if unknown := [name for name in texts if name not in CARD_NUMBERS]:
        raise ValueError(f"found the card {unknown[0]!r}; allowed: {', '.join(CARDS)}")
    return [CARD_NUMBERS[name] for name in texts]
