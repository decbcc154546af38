"""The pack of Old Maid: 52 cards that form 26 pairs, and the joker (docs/protocols/oldmaid.md).

The number of a card is 4 × value + suit. Values run from 0 (the two) to 12 (the ace); suits are spades, clubs, diamonds
and hearts. The joker has the last number, 52. The two cards of a pair are therefore 2k and 2k + 1.
"""

from typing import Final

from croupier.core.cards import Pack

type Card = int
"""A card by its number, 0 to 52."""

type WireCard = tuple[str, str]
"""A card on the wire: value and suit."""

VALUES: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS: Final = ("spades", "clubs", "diamonds", "hearts")
WIRE_JOKER: Final[WireCard] = ("joker", "maid")
"""The joker, the old maid (O5)."""

WIRE_CARDS: Final[tuple[WireCard, ...]] = (*((value, suit) for value in VALUES for suit in SUITS), WIRE_JOKER)
"""The wire form of each card, by its number."""

CARD_NUMBERS: Final[dict[WireCard, Card]] = {wire: number for number, wire in enumerate(WIRE_CARDS)}
"""The number of each card, by its wire form."""

CARD_NAMES: Final = tuple(f"{value} {suit}" for value, suit in WIRE_CARDS)
"""The name of each card, as in deck files: `3 spades`, `joker maid` (O5)."""

PACK: Final = Pack(CARD_NAMES, {f"T {suit}": f"10 {suit}" for suit in SUITS})
"""A deck file may also write the ten as T (G5)."""

JOKER: Final[Card] = CARD_NUMBERS[WIRE_JOKER]
CARD_COUNT: Final = len(WIRE_CARDS)
PAIR_COUNT: Final = JOKER // 2


def to_wire(card: Card) -> WireCard:
    """The wire form of a card.

    >>> to_wire(JOKER)
    ('joker', 'maid')
    """
    return WIRE_CARDS[card]


def pair_of(card: Card) -> tuple[Card, Card] | None:
    """The pair that a card belongs to, as it is discarded: spades or diamonds first; None for the joker.

    >>> pair_of(CARD_NUMBERS["3", "clubs"]) == (CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"])
    True
    """
    return None if card == JOKER else (card & ~1, card | 1)


def is_pair(a: Card, b: Card) -> bool:
    """Whether two cards form a pair: the same value, both black or both red. The joker is in no pair.

    >>> is_pair(CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"])
    True
    """
    return a ^ b == 1
