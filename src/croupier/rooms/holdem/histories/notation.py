"""What the notations of poker hands have in common: cards as `Ah`, players from the left of the button, hidden cards.

They count the players from the one left of the button: the small blind is the first, but heads-up the second, because
the button posts it.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import CARDS, Card, parse_cards
from croupier.rooms.holdem.engine.ranks import rank

UNKNOWN_CARD: Final = "??"
"""A card that is not told."""

HIDDEN_HOLE: Final = 2 * UNKNOWN_CARD
"""Hole cards that are not told."""

CARD_TEXTS: Final = tuple(name[0] + name[1].lower() for name in CARDS)


def seat_order(seats: int, button: Seat) -> list[Seat]:
    """The seats as the notations count the players: clockwise, from the left of the button."""
    return [(button + 1 + at) % seats for at in range(seats)]


def format_cards(known: Iterable[Card]) -> str:
    """Cards one behind the other: `AhKh`."""
    return "".join(CARD_TEXTS[card] for card in known)


def parse_partial_cards(text: str) -> list[Card | None]:
    """Cards one behind the other, None where one is not told. Raises ValueError."""
    names = [text[at : at + 2] for at in range(0, len(text), 2)]
    return [None if name == UNKNOWN_CARD else parse_cards(name)[0] for name in names]


def fill_unknown_cards(
    holes: Sequence[Sequence[Card | None]], board: Sequence[Card | None], losers: Collection[int] = ()
) -> tuple[list[list[Card]], list[Card]]:
    """Two hole cards for every player, and the board; cards that are not told are taken from those that are left.

    The players among `losers` get the worst hands that are left, for they have not shown what they had.
    """
    told = {card for cards in (*holes, board) for card in cards if card is not None}
    left = [card for card in range(len(CARDS)) if card not in told]
    table = [left.pop(0) if card is None else card for card in board]
    found = [[card for card in hole if card is not None][:2] for hole in holes]
    for player in sorted(range(len(holes)), key=lambda player: player not in losers):
        wanted = 2 - len(found[player])
        fill: tuple[Card, ...] = tuple(left[:wanted])
        if wanted and player in losers and len(table) == 5:
            known = (*found[player], *table)
            fill = max(combinations(left, wanted), key=lambda cards: rank((*known, *cards)))
        for card in fill:
            left.remove(card)
        found[player] += fill
    return found, table
