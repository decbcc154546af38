"""Ranks and strengths of hole cards on many boards at once, by tables of the ranks of cards.

Without a flush, a hand depends on the multiset of ranks on the board (6,175 of five cards) and on the pair of ranks in
the hand (91). Ranks of hands are exact. The strength of a hand, the fraction of all hands that it beats on a board, is
approximate: the player's own cards are not removed from the other hands, and flushes are compared by one card.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from croupier.rooms.holdem.engine.ranks import (
    CATEGORY_FIRST_RANKS,
    FLUSH_RANKS,
    RANK_KEYS,
    UNSUITED_RANKS,
    load_tables,
    rank_multisets,
)
from croupier.rooms.holdem.engine.streets import BOARD_SIZES

type Array = np.ndarray[Any, np.dtype[Any]]

RANKS: Final = 13
CARDS: Final = 52
NO_HAND: Final = 9999
"""A rank worse than all others: there is no such hand."""

RANK_PAIRS: Final = tuple((high, low) for high in range(RANKS) for low in range(high + 1))
"""The pairs of ranks that two cards can have."""

SUIT_COUNTS: Final = np.array([1 << 4 * (card % 4) for card in range(CARDS)])
"""What each card adds to the numbers of cards of the four suits, four bits each."""
SUIT_MASKS: Final = np.array([1 << RANKS * (card % 4) + card // 4 for card in range(CARDS)])
"""The bit of each card in a mask of 13 bits for each suit."""
SUIT_BITS: Final = (1 << RANKS) - 1
BIT_COUNTS: Final = np.array([bits.bit_count() for bits in range(1 << RANKS)])
HIGHEST_BITS: Final = np.array([bits.bit_length() - 1 for bits in range(1 << RANKS)])

MANY_SUITED: Final = 3
"""The cards of one suit on a board with which a flush is possible."""


class Tables(NamedTuple):
    """Tables of ranks of cards.

    `pairs` has the index of each pair of ranks, `added[n][i, r]` the index of the multiset i of n ranks with r added.
    `ranks` and `strengths` have, by street from the flop on, those of every pair of ranks on every multiset, without a
    flush. `flushes` has the rank of a flush by its mask, `suits` the suit that may make a flush, or -1, by its counts.
    """

    pairs: Array
    added: Sequence[Array]
    ranks: Sequence[Array]
    strengths: Sequence[Array]
    flushes: Array
    suits: Array


class BoardStreet(NamedTuple):
    """Boards at one street: their size, their multisets, and the suits and masks of those where a flush is possible."""

    size: int
    multisets: Array
    flush_rows: Array
    flush_suits: Array
    flush_masks: Array


@cache
def load_strengths() -> Tables:
    """The tables, computed once in each process."""
    load_tables()
    multisets = [[*rank_multisets(size)] for size in range(6)]
    index = [{ranks: at for at, ranks in enumerate(of_size)} for of_size in multisets]
    pairs = np.zeros((RANKS, RANKS), np.int64)
    for at, (high, low) in enumerate(RANK_PAIRS):
        pairs[high, low] = pairs[low, high] = at
    added = [
        np.array([[index[size + 1].get(tuple(sorted((*ranks, rank))), 0) for rank in range(RANKS)] for ranks in some])
        for size, some in enumerate(multisets[:5])
    ]
    tables = [_rank_table(multisets[size]) for size in BOARD_SIZES[1:]]
    flushes = np.full(1 << RANKS, NO_HAND)
    flushes[[*FLUSH_RANKS]] = [*FLUSH_RANKS.values()]
    suits = np.full(1 << 16, -1)
    for counts in range(1 << 16):
        for suit in range(4):
            if counts >> 4 * suit & 15 >= MANY_SUITED:
                suits[counts] = suit
    return Tables(pairs, added, [ranks for ranks, _ in tables], [shares for _, shares in tables], flushes, suits)


def _rank_table(boards: Sequence[tuple[int, ...]]) -> tuple[Array, Array]:
    """The ranks of all pairs of ranks on boards without a flush, and the fractions of other pairs that they beat."""
    by_key = UNSUITED_RANKS[len(boards[0]) + 2]
    keys = np.array(sorted(by_key))
    by_position = np.array([by_key[key] for key in keys.tolist()])
    key_of = RANK_KEYS[::4]
    wanted = np.add.outer(
        [sum(key_of[rank] for rank in board) for board in boards],
        [key_of[high] + key_of[low] for high, low in RANK_PAIRS],
    )
    at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    ranks = np.where(keys[at] == wanted, by_position[at], NO_HAND)
    left = 4 - np.array([[board.count(rank) for rank in range(RANKS)] for board in boards])
    ways = np.stack(
        [
            left[:, high] * left[:, low] if high != low else left[:, high] * (left[:, high] - 1) // 2
            for high, low in RANK_PAIRS
        ],
        axis=1,
    )
    return ranks, _shares_beaten(ranks, ways)


def _shares_beaten(ranks: Array, ways: Array) -> Array:
    """For each entry of a row, the weighted fraction of the row with a higher rank; equal ranks count half."""
    order = ranks.argsort(axis=1, kind="stable")
    sorted_ranks = np.take_along_axis(ranks, order, axis=1)
    totals = np.take_along_axis(ways, order, axis=1).cumsum(axis=1)
    rows, columns = ranks.shape
    begins = np.ones((rows, columns), bool)
    begins[:, 1:] = sorted_ranks[:, 1:] != sorted_ranks[:, :-1]
    before = np.zeros_like(totals)
    before[:, 1:] = totals[:, :-1]
    below = np.maximum.accumulate(np.where(begins, before, 0), axis=1)
    ends = np.ones((rows, columns), bool)
    ends[:, :-1] = begins[:, 1:]
    whole = totals[:, -1:]
    upto = np.minimum.accumulate(np.where(ends, totals, whole)[:, ::-1], axis=1)[:, ::-1]
    shares = np.empty(ranks.shape)
    np.put_along_axis(shares, order, 1 - (below + upto) / (2 * whole), axis=1)
    return shares


def board_streets(boards: Array) -> Sequence[BoardStreet]:
    """The flop, the turn and the river of boards: rows of five cards."""
    tables = load_strengths()
    ranks = boards // 4
    counts, masks = SUIT_COUNTS[boards].cumsum(axis=1), SUIT_MASKS[boards].cumsum(axis=1)
    multisets = np.zeros(len(boards), np.int64)
    streets = []
    for nth, added in enumerate(tables.added):
        multisets = added[multisets, ranks[:, nth]]
        if nth + 1 in BOARD_SIZES:
            suits = tables.suits[counts[:, nth]]
            rows = np.flatnonzero(suits >= 0)
            suits = suits[rows]
            streets.append(BoardStreet(nth + 1, multisets, rows, suits, masks[rows, nth] >> RANKS * suits & SUIT_BITS))
    return streets


def evaluate(street: BoardStreet, high: Array, low: Array) -> tuple[Array, Array]:
    """The ranks (lower is better) and the strengths (0 to 1) of hole cards, one pair for each board."""
    tables = load_strengths()
    at = street.multisets, tables.pairs[high // 4, low // 4]
    nth = BOARD_SIZES.index(street.size) - 1
    ranks, strengths = tables.ranks[nth][at], tables.strengths[nth][at]
    rows = street.flush_rows
    if len(rows):
        ranks[rows], strengths[rows] = _with_flushes(street, high[rows], low[rows], ranks[rows], strengths[rows])
    return ranks, strengths


def _with_flushes(street: BoardStreet, high: Array, low: Array, ranks: Array, strengths: Array) -> tuple[Array, Array]:
    """The ranks and strengths on boards where a flush is possible, from those without flushes."""
    suits, board = street.flush_suits, street.flush_masks
    own = np.where(high % 4 == suits, 1 << high // 4, 0) | np.where(low % 4 == suits, 1 << low // 4, 0)
    flush_ranks = load_strengths().flushes[board | own]
    on_board = BIT_COUNTS[board]
    unseen = CARDS - street.size
    suited = RANKS - on_board
    hands = unseen * (unseen - 1) / 2
    with_two = suited * (suited - 1) / 2
    flushes = (
        np.select([on_board == 3, on_board == 4], [with_two, with_two + suited * (unseen - suited)], hands) / hands
    )
    best = np.maximum(HIGHEST_BITS[own & ~board], 0)
    lower = BIT_COUNTS[~board & (1 << best) - 1]
    beaten = np.where(on_board == 3, lower * (lower - 1) / 2 / np.maximum(with_two, 1), lower / np.maximum(suited, 1))
    better_than_flush = ranks < CATEGORY_FIRST_RANKS["flush"]
    return np.minimum(ranks, flush_ranks), np.where(
        flush_ranks < NO_HAND,
        1 - flushes * (1 - beaten),
        np.where(better_than_flush, strengths, strengths * (1 - flushes)),
    )
