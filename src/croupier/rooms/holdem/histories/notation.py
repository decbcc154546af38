"""Conventions shared by the hand history formats: card names such as `Ah`, the order of players, unknown cards.

The formats number the players clockwise from the left of the button. The small blind is therefore the first player, but
heads-up, where the button posts it, the second.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import CARDS, Card, parse_cards
from croupier.rooms.holdem.engine.ranks import rank

UNKNOWN_CARD: Final = "??"
"""A card that is not known."""

HIDDEN_HOLE: Final = 2 * UNKNOWN_CARD
"""Two hole cards that are not known."""

CARD_TEXTS: Final = tuple(name[0] + name[1].lower() for name in CARDS)


def seat_order(seats: int, button: Seat) -> list[Seat]:
    """Return the seats in the order in which the formats number the players: clockwise from the left of the button."""
    return [(button + 1 + at) % seats for at in range(seats)]


def format_cards(known: Iterable[Card]) -> str:
    """Return card names concatenated: `AhKh`."""
    return "".join(CARD_TEXTS[card] for card in known)


def parse_partial_cards(text: str) -> list[Card | None]:
    """Parse concatenated card names; `??` becomes None. Raises ValueError on an unknown name."""
    names = [text[at : at + 2] for at in range(0, len(text), 2)]
    return [None if name == UNKNOWN_CARD else parse_cards(name)[0] for name in names]


def fill_unknown_cards(
    holes: Sequence[Sequence[Card | None]], board: Sequence[Card | None], losers: Collection[int] = ()
) -> tuple[list[list[Card]], list[Card]]:
    """Return two hole cards for every player, and the board, with unknown cards replaced by unused ones.

    Players in `losers` have not shown their cards: they get the worst hands that the unused cards allow.
    """
    known = {card for cards in (*holes, board) for card in cards if card is not None}
    unused = [card for card in range(len(CARDS)) if card not in known]
    full_board = [unused.pop(0) if card is None else card for card in board]
    full_holes = [[card for card in hole if card is not None][:2] for hole in holes]
    for player in sorted(range(len(holes)), key=lambda player: player not in losers):
        missing = 2 - len(full_holes[player])
        fill: tuple[Card, ...] = tuple(unused[:missing])
        if missing and player in losers and len(full_board) == 5:
            own = (*full_holes[player], *full_board)
            fill = max(combinations(unused, missing), key=lambda cards: rank((*own, *cards)))
        for card in fill:
            unused.remove(card)
        full_holes[player] += fill
    return full_holes, full_board
