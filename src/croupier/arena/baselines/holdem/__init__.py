"""The baseline of heads-up hold'em: what two bots would win on average if they played by profiles learned in a pilot.

Luck is removed as in AIVAT (N. Burch et al., 2018) where chance moves: for the hole cards, the flop, the turn and the
river. Results keep their mean whatever the profiles are, because the hands of the pilot are not counted. The better a
profile describes a bot, the narrower its intervals: bots whose choices follow from what they face and from the strength
of their cards gain most.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand

PILOT_PAIRS: Final = 500
"""The pairs of hands from which profiles are learned. They are not counted."""


class PlayedHand(NamedTuple):
    """A finished hand of two players with equal stacks, and its nine cards, whether it came to them or not.

    Seat 0 has the button.
    """

    cards: Sequence[Card]
    hand: Hand


type Seatings = tuple[Sequence[PlayedHand], Sequence[PlayedHand]]
"""The hands of two bots: the first bot has seat 0 in the first sequence, and seat 1 in the second."""
