"""The 52 cards of hold'em: numbers for the engine, names for the wire and for deck files.

A card's number is 4 × rank + suit. Ranks run from 0 (two) to 12 (ace); suits 0 to 3 are clubs, diamonds, hearts,
spades.
"""

from collections.abc import Collection, Iterable
from typing import Final

from croupier.core.cards import Pack

type Card = int
"""A card number, 0 to 51."""

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDHS"

CARDS: Final = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""Card names by number, as on the wire: `AS`, `2H`, `TC` (holdem-5.4)."""

PACK: Final = Pack(CARDS, {f"10{suit}": f"T{suit}" for suit in SUITS})

CARD_NUMBERS: Final = {name: number for number, name in enumerate(CARDS)}
ALL_CARDS: Final = frozenset(CARD_NUMBERS.values())
"""The numbers of all 52 cards."""

PACK_BYTES: Final = bytes(sorted(ALL_CARDS))
"""The numbers of all 52 cards, a byte for each."""


def are_distinct(cards: Collection[Card]) -> bool:
    """Return whether all of these are valid card numbers and none occurs twice."""
    try:
        others = PACK_BYTES.translate(None, bytearray(cards))  # this is faster than a set
    except (TypeError, ValueError):  # what is no integer, or does not fit into a byte, is no card
        return False
    return len(others) == len(PACK_BYTES) - len(cards)


def card_names(cards: Iterable[Card]) -> tuple[str, ...]:
    """Return the names of cards as on the wire (holdem-5.4).

    Example:
        >>> card_names([50, 46])
        ('AH', 'KH')
    """
    return tuple([CARDS[card] for card in cards])


def card_numbers(names: Iterable[str]) -> tuple[Card, ...]:
    """Return the numbers of cards by their names. Raises ValueError on an unknown name."""
    numbers = []
    for name in names:
        if name not in CARD_NUMBERS:
            raise ValueError(f"found the card {name!r}; allowed: {', '.join(CARDS)}")
        numbers.append(CARD_NUMBERS[name])
    return tuple(numbers)


def parse_cards(text: str) -> tuple[Card, ...]:
    """Parse concatenated two-letter card names, in upper or lower case. Raises ValueError on an unknown name.

    Example:
        >>> parse_cards("AhKh")
        (50, 46)
    """
    names = [text[at : at + 2].upper() for at in range(0, len(text), 2)]
    for name in names:
        if name not in CARD_NUMBERS:
            raise ValueError(f"found the card {name!r} in {text!r}; allowed: {', '.join(CARDS)}")
    return tuple(CARD_NUMBERS[name] for name in names)
