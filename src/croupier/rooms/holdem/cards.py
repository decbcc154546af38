"""The 52 cards of hold'em: numbers for the engine, names for the wire and for deck files.

A card is 4 × rank + suit: ranks run from 0 (the two) to 12 (the ace), suits are clubs, diamonds, hearts, spades.
"""

from collections.abc import Collection, Iterable
from typing import Final

from croupier.core.cards import Pack

type Card = int
"""A card by its number, 0 to 51."""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDHS"

CARDS: Final = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""The name of every card as on the wire: `AS`, `2H`, `TC` (holdem-5.4)."""

PACK: Final = Pack(CARDS, {f"10{suit}": f"T{suit}" for suit in SUITS})

CARD_NUMBERS: Final = {name: number for number, name in enumerate(CARDS)}
ALL_CARDS: Final = frozenset(CARD_NUMBERS.values())
"""All cards by their numbers."""


def are_distinct(cards: Collection[Card]) -> bool:
    """Whether these are cards, and none comes twice."""
    return len(ALL_CARDS.intersection(cards)) == len(cards)


def card_names(cards: Iterable[Card]) -> tuple[str, ...]:
    """Cards as on the wire."""
    return tuple([CARDS[card] for card in cards])


def parse_cards(text: str) -> tuple[Card, ...]:
    """The numbers of cards written one behind the other, in letters of either case: `AhKh`. Raises ValueError."""
    found = [text[at : at + 2].upper() for at in range(0, len(text), 2)]
    for name in found:
        if name not in CARD_NUMBERS:
            raise ValueError(f"found the card {name!r} in {text!r}; allowed: {', '.join(CARDS)}")
    return tuple(CARD_NUMBERS[name] for name in found)
