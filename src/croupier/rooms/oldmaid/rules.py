"""Rules that every part of Old Maid needs: the number of players, the order of the ring, and the view of a player.

No part knows the whole game: the table sees draws and discards (`table.game`), a player its own hand (`player`), and a
referee what others say (`referee`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import PAIR_COUNT, Card

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 8
"""The numbers of players in a game (the document's first paragraph)."""


class View(NamedTuple):
    """What a seat knows: its own cards and discards, the seats that are out, and the size of an offer to it.

    `offer_size` is None unless the seat is to pick.
    """

    hand: tuple[Card, ...]
    discarded_pairs: tuple[tuple[Card, Card], ...]
    out_seats: tuple[Seat, ...]
    offer_size: int | None


def others_in_ring[T](ring: Sequence[T], seat: Seat) -> tuple[T, ...]:
    """The others of a ring, from the left neighbour of a seat to its right neighbour.

    >>> others_in_ring(("ann", "bob", "cyd"), 1)
    ('cyd', 'ann')
    """
    return (*ring[seat + 1 :], *ring[:seat])


def last_drawer(players: int, pairs_in: int = PAIR_COUNT) -> Seat:
    """The seat that draws the last card and offers first (O9). The pack has `pairs_in` pairs and the joker."""
    return 2 * pairs_in % players


def drawn_count(seat: Seat, players: int, pairs_in: int = PAIR_COUNT) -> int:
    """The number of cards that a seat draws: all seats draw in turn until the deck is empty (O6)."""
    return (2 * pairs_in - seat) // players + 1
