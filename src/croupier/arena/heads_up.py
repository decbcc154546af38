"""What heads-up hold'em in the arena consists of: its seats, and the hands that are played."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from croupier.arena.players import Player
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.table.views import View

SEATS: Final = 2
NAMES: Final = ("1", "2")
"""What the bots of a pairing are called in views."""

DEAL_CARDS: Final = 2 * SEATS + BOARD_CARDS
"""The cards that a hand can need."""

DEFAULT_MOVES: Final[Sequence[Move]] = (0, FOLD)
"""What stands for the move of a bot that makes a fault: a check, else a fold."""

type HoldemPlayer = Player[View, Move]


class PlayedHand(NamedTuple):
    """A finished hand of two players with equal stacks, and its nine cards, whether it came to them or not.

    Seat 0 has the button.
    """

    cards: Sequence[Card]
    hand: Hand


type Seatings = tuple[Sequence[PlayedHand], Sequence[PlayedHand]]
"""The hands of two bots: the first bot has seat 0 in the first sequence, and seat 1 in the second."""
