"""What the baseline reads in a finished heads-up hand: the streets it came to, and the decisions."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand

type Situation = Literal[0, 1, 2, 3]
"""What a player faces: nothing to call, the first bet of the street, a raise, or all-in. The blind is a first bet."""

UNBET: Final = 0
BET: Final = 1
RAISED: Final = 2
ALL_IN: Final = 3
SITUATIONS: Final = 4

type Choice = Literal[0, 1, 2, 3]

FOLDS: Final = 0
CALLS: Final = 1
RAISES: Final = 2
GOES_ALL_IN: Final = 3
CHOICES: Final = 4

ALL_IN_POTS: Final = 2.5
"""Raises by more than this multiple of the pot count as all-in."""


class Decision(NamedTuple):
    """A decision of a seat; `size` is a raise as a fraction of the pot after the call, 0 if there is none."""

    street: int
    seat: Seat
    situation: Situation
    choice: Choice
    size: float


class History(NamedTuple):
    """The chips that each seat has put in before each street that was dealt, and the decisions, in order."""

    paid: Sequence[int]
    decisions: Sequence[Decision]


def history_of(hand: Hand) -> History:
    """Read the log of a finished hand of two players with equal stacks and without antes."""
    bets = [min(chips, hand.start_stacks[seat]) for seat, chips in sorted(hand.blinds)]
    before, street, raises, is_all_in = 0, 0, 1, False
    paid, decisions = [0], []
    for entry in hand.log:
        if entry[0] == "deal":
            if entry[1] is None:
                before += min(bets)
                bets, raises, is_all_in = [0, 0], 0, False
                street += 1
                paid.append(before)
            continue
        seat, chips = entry[1], entry[2] if entry[0] == "bet" else 0
        to_call = max(bets) - bets[seat]
        situation: Situation = UNBET if not to_call else ALL_IN if is_all_in else BET if raises == 1 else RAISED
        choice: Choice = CALLS if entry[0] == "bet" else FOLDS
        size = 0.0
        if chips > to_call:
            size = (chips - to_call) / (2 * before + sum(bets) + to_call)
            raises += 1
            is_all_in = size > ALL_IN_POTS
            choice = GOES_ALL_IN if is_all_in else RAISES
        bets[seat] += chips
        decisions.append(Decision(street, seat, situation, choice, size))
    return History(paid, decisions)
