"""The cards of observed hands, as the deals that are counted over a run."""

from collections.abc import Iterator
from typing import Final

from croupier.conformance.fair_deal import Deal, Draw
from croupier.conformance.servers.deals import FairDealRule
from croupier.rooms.holdem.cards import CARDS
from croupier.rooms.holdem.observed.hand import ObservedHand

ENOUGH_HANDS: Final = 120
"""In this many hands, with at least four hole cards each and some boards, a card that never comes is found."""


def deal_of(observed: ObservedHand) -> Deal:
    """Return the cards of a hand that were seen, in the order in which they were dealt (6.5).

    Players read their cards when the hand begins, and what is seen of the board does not depend on the cards.
    """
    return sorted(_draws(observed))


def _draws(observed: ObservedHand) -> Iterator[Draw]:
    seats = len(observed.players)
    for place in range(seats):
        player = observed.players[(observed.hand.small_blind + place) % seats]
        for number, card in enumerate(observed.holes.get(player, ())):
            yield Draw(place + number * seats, CARDS[card])
    for number, card in enumerate(observed.board):
        yield Draw(2 * seats + number, CARDS[card])


FAIR_DEAL: Final = FairDealRule("holdem-6.1", CARDS, deal_of, ENOUGH_HANDS)
