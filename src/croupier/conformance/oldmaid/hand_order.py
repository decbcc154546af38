"""The order of a player's hand, as far as the cards show it that are picked from it (oldmaid-7.8)."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Final, NamedTuple

from croupier.core.referee import Party
from croupier.rooms.oldmaid.cards import WireCard
from croupier.rooms.oldmaid.wire import Discard, Message, Pick, Reply

MAX_P_VALUE: Final = 1e-6
"""Cards that come in the order of their receipt by at most this chance are not at random places."""


class PickedCard(NamedTuple):
    """A card picked from a hand of `num_cards` cards at a position; it was received as number `received_as`."""

    position: int
    received_as: int
    num_cards: int


class HandOrder:
    """The cards of one player in the order in which it has received them.

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
                    self.first_picked = PickedCard(self._position, self._cards.index(card), len(self._cards))
                self._cards.remove(card)


def is_in_order(picked: Sequence[PickedCard]) -> bool:
    """Whether all these cards, of one game each, have come in the order of receipt, or all in its reverse."""
    return all(one.position == one.received_as for one in picked) or all(
        one.position == one.num_cards - 1 - one.received_as for one in picked
    )


def chance_of_order(picked: Iterable[PickedCard]) -> float:
    """The probability that cards at random places come in one order."""
    return 1 / prod(one.num_cards for one in picked)
