"""The order of a player's hand, as far as the cards show it that are picked from it (oldmaid-7.8)."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, NamedTuple

from croupier.core.referee import Party
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, WireCard
from croupier.rooms.oldmaid.wire import Discard, Message, Pick, Reply

MAX_P_VALUE: Final = 1e-6
"""Cards that come in one of the orders by at most this chance are not at random places."""

SORT_KEYS: Final[Sequence[Callable[[WireCard], Any]]] = (
    lambda card: CARD_NUMBERS[card],
    lambda card: (card[1], CARD_NUMBERS[card]),
    lambda card: card,
    lambda card: card[::-1],
)
"""The orders in which programs sort hands: by value or by suit, as in the pack or as text."""


class PickedCard(NamedTuple):
    """A card picked from a hand of `num_cards` cards at a position.

    `places` are its positions in the order of receipt, and in the orders of `SORT_KEYS`.
    """

    position: int
    places: Sequence[int]
    num_cards: int


class HandOrder:
    """The cards of one player, in the order in which it has received them.

    `first_picked` is the first card that was picked from a hand of several. Later ones depend on it, because the others
    stay where they are.
    """

    def __init__(self) -> None:
        self.first_picked: PickedCard | None = None
        self._cards: list[WireCard] = []
        self._position = 0

    def on_message(self, nick: Party, sender: Party, receiver: Party, message: Message) -> None:
        """Follow a message from or to the player with this nick."""
        match message:
            case Reply(card=tuple(card)) if receiver == nick:
                self._cards.append(card)
            case Pick(position) if receiver == nick:
                self._position = position
            case Discard(cards) if sender == nick:
                self._cards = [card for card in self._cards if card not in cards]
            case Reply(card=tuple(card)) if sender == nick and card in self._cards:
                if self.first_picked is None and len(self._cards) > 1:
                    orders = [self._cards, *(sorted(self._cards, key=key) for key in SORT_KEYS)]
                    places = [order.index(card) for order in orders]
                    self.first_picked = PickedCard(self._position, places, len(self._cards))
                self._cards.remove(card)


def is_in_order(picked: Sequence[PickedCard]) -> bool:
    """Whether all these cards, of one game each, have come in the same one of the orders, or in its reverse."""
    return any(
        all(one.places[order] == (one.num_cards - 1 - one.position if is_reversed else one.position) for one in picked)
        for order in range(1 + len(SORT_KEYS))
        for is_reversed in (False, True)
    )


def chance_of_order(picked: Sequence[PickedCard]) -> float:
    """The probability that cards at random places come in one of the orders, or in its reverse; at most 1."""
    orders = 2 * (1 + len(SORT_KEYS))
    return min(1.0, orders / prod(one.num_cards for one in picked))
