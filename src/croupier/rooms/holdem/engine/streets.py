"""The streets of a hand: betting rounds, each with the board cards that are dealt before it."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

STREET_NAMES: Final = ("preflop", "flop", "turn", "river")
STREET_CARDS: Final = (0, 3, 1, 1)
"""The number of board cards dealt before each betting round."""
BOARD_SIZES: Final = tuple(accumulate(STREET_CARDS))
"""The number of board cards during each betting round: 0, 3, 4, 5."""
BOARD_CARDS: Final = BOARD_SIZES[-1]
"""The number of cards of the whole board."""
FLOP_CARDS: Final = STREET_CARDS[1]
RIVER: Final = len(STREET_CARDS) - 1
"""The last betting round."""


def split_board[Card](board: Sequence[Card]) -> list[Sequence[Card]]:
    """Return the cards of the flop, the turn and the river; streets not dealt yet are empty.

    Example:
        >>> split_board(["AS", "KS", "QS", "2D"])
        [['AS', 'KS', 'QS'], ['2D'], []]
    """
    return [board[start:end] for start, end in pairwise(BOARD_SIZES)]
