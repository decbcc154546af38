"""The pack of Old Maid: 52 cards that make 26 pairs, and the joker, whom nobody wants (docs/protocols/oldmaid.md).

A card is 4 × value + suit: values run from 0 (the two) to 12 (the ace), suits are spades, clubs, diamonds, hearts. The
joker comes last. So the two cards of a pair are 2k and 2k + 1.
"""

from typing import Final

from croupier.core.cards import Pack

type Card = int
"""A card by its number, 0 to 52."""

type WireCard = tuple[str, str]
"""A card as on the wire: its value and its suit."""

VALUES: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS: Final = ("spades", "clubs", "diamonds", "hearts")
WIRE_JOKER: Final[WireCard] = ("joker", "maid")
"""The old maid herself (O5)."""

WIRE_CARDS: Final[tuple[WireCard, ...]] = (*((value, suit) for value in VALUES for suit in SUITS), WIRE_JOKER)
"""Every card as on the wire, by its number."""

CARD_NUMBERS: Final[dict[WireCard, Card]] = {wire: number for number, wire in enumerate(WIRE_CARDS)}
"""The number of every card as on the wire."""

CARD_NAMES: Final = tuple(f"{value} {suit}" for value, suit in WIRE_CARDS)
"""The name of every card as in a deck file: `3 spades`, `joker maid` (O5)."""

PACK: Final = Pack(CARD_NAMES, {f"T {suit}": f"10 {suit}" for suit in SUITS})
"""A deck file may also write the ten as T (G5)."""

JOKER: Final[Card] = CARD_NUMBERS[WIRE_JOKER]
PAIR_COUNT: Final = JOKER // 2


def to_wire(card: Card) -> WireCard:
    """The card as on the wire: `("3", "spades")`, `("joker", "maid")`."""
    return WIRE_CARDS[card]


def is_pair(a: Card, b: Card) -> bool:
    """Whether two cards make a pair: the same value, and both black or both red. The joker pairs with nothing."""
    return a ^ b == 1
