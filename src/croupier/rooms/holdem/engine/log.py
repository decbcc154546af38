"""The log of a hand: entries to read and replay, and the JSON form in which a hand is saved."""

from collections.abc import Iterable
from typing import Literal, Self

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.core.stored import Stored
from croupier.rooms.holdem.cards import Card, card_names
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.engine.streets import FLOP_CARDS

type DealEntry = tuple[Literal["deal"], Seat | None, tuple[Card, ...]]
type BetEntry = tuple[Literal["bet"], Seat, int]
type ExitEntry = tuple[Literal["fold", "leave"], Seat]

type HandLogEntry = DealEntry | BetEntry | ExitEntry
"""A card dealt to a seat, or cards dealt to the board (seat None); chips that a seat added; a fold; a departure."""

type CompactLogEntry = BetEntry | ExitEntry | int
"""An entry as a running hand stores it: a deal is only the number of cards dealt."""


class SavedLeave(Struct, frozen=True, forbid_unknown_fields=True):
    """The departure of a player in a saved hand: `{"leave": 3}`."""

    leave: Seat


type SavedStep = int | Literal["fold"] | list[str] | SavedLeave
"""A step of a saved hand: chips bet, FOLD, card names, or SavedLeave. The rules determine the seat of each step."""


def expand_log(
    log: Iterable[CompactLogEntry], cards: tuple[Card, ...], small_blind: Seat, seats: int
) -> list[HandLogEntry]:
    """Expand a compact log: one entry for each hole card with its seat, one for each street of the board.

    The result does not depend on how the cards were grouped when they were dealt.
    """
    expanded: list[HandLogEntry] = []
    at = 0
    for entry in log:
        if not isinstance(entry, int):
            expanded.append(entry)
            continue
        dealt = cards[at : at + entry]
        board = at - 2 * seats
        if board < 0:
            expanded += [("deal", (small_blind + nth) % seats, (card,)) for nth, card in enumerate(dealt, at)]
        elif 0 < board < FLOP_CARDS and expanded[-1][0] == "deal":
            expanded[-1] = ("deal", None, expanded[-1][2] + dealt)
        else:
            expanded.append(("deal", None, dealt))
        at += entry
    return expanded


class SavedHand(Stored, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A hand in its JSON form: the initial state, the steps since the blinds, and the cards to come if known."""

    MALFORMED = "a malformed hand"

    stacks: tuple[int, ...]
    button: int
    blinds: tuple[int, int]
    ante: int
    straddle: int
    log: list[SavedStep]
    deck: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, stacks: tuple[int, ...], button: Seat, stakes: Stakes, log: list[SavedStep], deck: tuple[str, ...] | None
    ) -> Self:
        """Return the JSON form of a hand."""
        blinds = (stakes.small_blind, stakes.big_blind)
        return cls(stacks, button, blinds, stakes.ante, stakes.straddle, log, deck)

    @property
    def stakes(self) -> Stakes:
        """The forced bets of the hand."""
        return Stakes(*self.blinds, self.ante, self.straddle)


def to_saved_steps(log: Iterable[HandLogEntry]) -> list[SavedStep]:
    """Convert a log to saved steps; consecutive hole cards become one step."""
    steps: list[SavedStep] = []
    for entry in log:
        match entry:
            case ("deal", seat, cards):
                last = steps[-1] if steps else None
                if seat is None or not isinstance(last, list):
                    steps.append(last := [])
                last += card_names(cards)
            case ("bet", _, chips):
                steps.append(chips)
            case ("leave", seat):
                steps.append(SavedLeave(seat))
            case _:
                steps.append(FOLD)
    return steps
