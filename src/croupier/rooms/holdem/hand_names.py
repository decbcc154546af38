"""Names of poker hands as texts for people: `full house, queens over twos`."""

from collections.abc import Sequence
from typing import Final

from croupier.core.presentation import Text, text
from croupier.rooms.holdem.cards import CARD_NUMBERS, RANKS, Card
from croupier.rooms.holdem.engine.ranks import CATEGORY_FIRST_RANKS, best_five, category, rank

_PLURAL_RANKS: Final = (
    *(text("twos"), text("threes"), text("fours"), text("fives"), text("sixes"), text("sevens"), text("eights")),
    *(text("nines"), text("tens"), text("jacks"), text("queens"), text("kings"), text("aces")),
)
_RANKS: Final = (
    *(text("two"), text("three"), text("four"), text("five"), text("six"), text("seven"), text("eight")),
    *(text("nine"), text("ten"), text("jack"), text("queen"), text("king"), text("ace")),
)
"""The ranks of cards, from two to ace."""

_HAND_NAMES: Final = {
    "straight flush": text("straight flush, {high} high"),
    "four of a kind": text("four of a kind, {many}"),
    "full house": text("full house, {many} over {fewer}"),
    "flush": text("flush, {high} high"),
    "straight": text("straight, {high} high"),
    "three of a kind": text("three of a kind, {many}"),
    "two pair": text("two pair, {many} and {second}"),
    "pair": text("pair of {many}"),
    "high card": text("{high} high"),
}
assert _HAND_NAMES.keys() == CATEGORY_FIRST_RANKS.keys()
assert len(_PLURAL_RANKS) == len(_RANKS) == len(RANKS)


def hand_name(names: Sequence[str]) -> Text | None:
    """Return the name of the best hand in cards, given by their names; None unless there are 5 to 7 different cards.

    >>> print(hand_name(["QS", "QH", "QD", "2C", "2S"]))
    full house, queens over twos
    """
    cards = {CARD_NUMBERS[name] for name in names}
    return _best_hand_name([*cards]) if 5 <= len(cards) == len(names) <= 7 else None


def _best_hand_name(cards: Sequence[Card]) -> Text:
    if rank(cards) == CATEGORY_FIRST_RANKS["straight flush"]:
        return text("royal flush")
    ranks = [card // 4 for card in best_five(cards)]
    return _HAND_NAMES[category(rank(cards))].fill(
        high=_RANKS[ranks[0]],
        many=_PLURAL_RANKS[ranks[0]],
        second=_PLURAL_RANKS[ranks[2]],
        fewer=_PLURAL_RANKS[ranks[3]],
    )
