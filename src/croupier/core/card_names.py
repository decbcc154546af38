"""Cards as people see them: the faces and the names of French and Spanish cards, in the order of their packs.

The Spanish cards have the names of the protocol's document.
"""

from collections.abc import Mapping
from typing import Final

from croupier.core.presentation import CardView, Text, text

_FRENCH_RANKS: Final = {
    "A": text("the ace of {suit}"),
    **{number: text("the {number} of {suit}", number=number) for number in "23456789"},
    "T": text("the {number} of {suit}", number="10"),
    "J": text("the jack of {suit}"),
    "Q": text("the queen of {suit}"),
    "K": text("the king of {suit}"),
}
_FRENCH_SUITS: Final = {"H": text("hearts"), "D": text("diamonds"), "S": text("spades"), "C": text("clubs")}
_SPANISH_RANKS: Final = {
    **{number: text("the {number} of {suit}", number=number) for number in "1234567"},
    "s": text("the sota of {suit}"),
    "c": text("the cavall of {suit}"),
    "r": text("the rei of {suit}"),
}
_SPANISH_SUITS: Final = {"o": text("oros"), "c": text("copes"), "e": text("espases"), "b": text("bastos")}


def _name_cards(ranks: Mapping[str, Text], suits: Mapping[str, Text]) -> Mapping[str, CardView]:
    return {
        rank + suit: CardView(rank + suit, name.fill(suit=suit_name))
        for suit, suit_name in suits.items()
        for rank, name in ranks.items()
    }


FRENCH_CARDS: Final = _name_cards(_FRENCH_RANKS, _FRENCH_SUITS)
"""All French cards by their faces, such as `TH`: the rank and then the suit, both in upper case."""

SPANISH_CARDS: Final = _name_cards(_SPANISH_RANKS, _SPANISH_SUITS)
"""All Spanish cards by their faces, such as `7o`, as seven and a half writes them."""

JOKER: Final = CardView("JOKER", text("the old maid"))
"""The joker, which only Old Maid has."""
