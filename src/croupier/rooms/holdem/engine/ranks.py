"""Hand evaluation: the rank of the best five of 5, 6 or 7 cards, from 1 (royal flush) to 7462 (H7).

The evaluator looks up two sums, each with one table access per card. The first sum counts the suits in base 8; a small
table of these sums gives the flush suit, if any. Without a flush only the card ranks matter: the second sum counts them
in base 5, because a rank occurs at most four times. Seven-card hands without a flush have 49,205 different sums.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from operator import eq
from typing import TYPE_CHECKING, Any, Final, overload

from croupier.rooms.holdem.cards import Card

if TYPE_CHECKING:
    import numpy as np

RANK_KEYS: Final = [float(5 ** (card // 4)) for card in range(52)]
"""What each card adds to the sum of ranks. Floats, because CPython adds them a third faster than ints; all exact."""

SUIT_KEYS: Final = [(0, 1, 8, 64)[card % 4] for card in range(52)]
"""What each card adds to the sum of suits. Clubs add nothing: their number follows from the number of cards."""

CATEGORY_FIRST_RANKS: Final[Mapping[str, int]] = {
    "straight flush": 1,
    "four of a kind": 11,
    "full house": 167,
    "flush": 323,
    "straight": 1600,
    "three of a kind": 1610,
    "two pair": 2468,
    "pair": 3326,
    "high card": 6186,
}
"""The first (best) rank of each category, best category first. A royal flush is a straight flush."""

WORST_RANK: Final = 7462
"""The rank of the worst five-card hand: 7-5-4-3-2 of mixed suits."""

SHAPE_CATEGORIES: Final[Mapping[tuple[int, ...], str]] = {
    (4, 1): "four of a kind",
    (3, 2): "full house",
    (3, 1, 1): "three of a kind",
    (2, 2, 1): "two pair",
    (2, 1, 1, 1): "pair",
    (1, 1, 1, 1, 1): "high card",
}
"""The category by the multiplicities of the five card ranks, for hands without a flush or straight."""

STRAIGHTS: Final = (*((high, high - 1, high - 2, high - 3, high - 4) for high in range(12, 3, -1)), (3, 2, 1, 0, 12))
"""The card ranks of the straights, best first. In the last one (the wheel) the ace counts as one."""

UNSUITED_RANKS: Final[dict[int, dict[float, int]]] = {5: {}, 6: {}, 7: {}}
"""By number of cards: the rank of a hand without a flush by the sum of its `RANK_KEYS`. Filled by `load_tables`."""

FLUSH_RANKS: Final[dict[int, int]] = {}
"""The rank of a flush by the bit mask of its 5 to 7 card ranks (bit r for rank r). Filled by `load_tables`."""

_CARD_RANKS: Final[list[tuple[int, ...]]] = []
"""The card ranks of each hand, from hand rank 1: most frequent first, then highest first."""

_FLUSH_SUITS: Final[dict[int, list[int | None]]] = {5: [], 6: [], 7: []}
"""By number of cards: the suit with five or more cards, or None, by the sum of the `SUIT_KEYS`."""

# One assignment for each: only constants that are Final are not looked up by name in a compiled build.
_FIVE_CARD_RANKS: Final = UNSUITED_RANKS[5]
_SIX_CARD_RANKS: Final = UNSUITED_RANKS[6]
_SEVEN_CARD_RANKS: Final = UNSUITED_RANKS[7]
_FIVE_CARD_FLUSH_SUITS: Final = _FLUSH_SUITS[5]
_SIX_CARD_FLUSH_SUITS: Final = _FLUSH_SUITS[6]
_SEVEN_CARD_FLUSH_SUITS: Final = _FLUSH_SUITS[7]
_KEY_BY_RANK: Final = RANK_KEYS[::4]


def rank(cards: Sequence[Card]) -> int:
    """Return the rank of the best five of 5, 6 or 7 different cards: 1 (royal flush) to 7462; lower is better.

    Hands that tie have the same rank. The first call also builds the tables (`load_tables`). Raises ValueError on any
    other number of cards and on card numbers above 51; negative and duplicate cards are not detected.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> rank(parse_cards("AsKsQsJsTs"))
        1
        >>> rank(parse_cards("QsQhQd2c2s7d9h")), category(202)
        (202, 'full house')
    """
    try:  # unrolled for each number of cards: a loop takes twice the time
        if len(cards) == 7:
            a, b, c, d, e, f, g = cards
            suits = (
                SUIT_KEYS[a] + SUIT_KEYS[b] + SUIT_KEYS[c] + SUIT_KEYS[d] + SUIT_KEYS[e] + SUIT_KEYS[f] + SUIT_KEYS[g]
            )
            suit = _SEVEN_CARD_FLUSH_SUITS[suits]
            if suit is None:
                return _SEVEN_CARD_RANKS[
                    RANK_KEYS[a]
                    + RANK_KEYS[b]
                    + RANK_KEYS[c]
                    + RANK_KEYS[d]
                    + RANK_KEYS[e]
                    + RANK_KEYS[f]
                    + RANK_KEYS[g]
                ]
        elif len(cards) == 6:
            a, b, c, d, e, f = cards
            suit = _SIX_CARD_FLUSH_SUITS[
                SUIT_KEYS[a] + SUIT_KEYS[b] + SUIT_KEYS[c] + SUIT_KEYS[d] + SUIT_KEYS[e] + SUIT_KEYS[f]
            ]
            if suit is None:
                return _SIX_CARD_RANKS[
                    RANK_KEYS[a] + RANK_KEYS[b] + RANK_KEYS[c] + RANK_KEYS[d] + RANK_KEYS[e] + RANK_KEYS[f]
                ]
        else:
            a, b, c, d, e = cards
            suit = _FIVE_CARD_FLUSH_SUITS[SUIT_KEYS[a] + SUIT_KEYS[b] + SUIT_KEYS[c] + SUIT_KEYS[d] + SUIT_KEYS[e]]
            if suit is None:
                return _FIVE_CARD_RANKS[RANK_KEYS[a] + RANK_KEYS[b] + RANK_KEYS[c] + RANK_KEYS[d] + RANK_KEYS[e]]
        return FLUSH_RANKS[rank_mask(cards, suit)]
    except (LookupError, TypeError, ValueError):
        if not _SEVEN_CARD_FLUSH_SUITS:
            load_tables()
            return rank(cards)
        raise ValueError(f"found the cards {cards!r}; allowed: 5, 6 or 7 different numbers from 0 to 51") from None


def ranks_on(board: Sequence[Card], holes: list[tuple[Card, Card]]) -> list[int]:
    """Return the ranks of several pairs of hole cards on the same five-card board, in a third of the time of `rank`.

    All cards must be different numbers from 0 to 51; this is not checked.
    """
    if not _SEVEN_CARD_FLUSH_SUITS:
        load_tables()
    a, b, c, d, e = board
    key = RANK_KEYS[a] + RANK_KEYS[b] + RANK_KEYS[c] + RANK_KEYS[d] + RANK_KEYS[e]
    suits = SUIT_KEYS[a] + SUIT_KEYS[b] + SUIT_KEYS[c] + SUIT_KEYS[d] + SUIT_KEYS[e]
    return [
        _SEVEN_CARD_RANKS[key + RANK_KEYS[f] + RANK_KEYS[g]]
        if (suit := _SEVEN_CARD_FLUSH_SUITS[suits + SUIT_KEYS[f] + SUIT_KEYS[g]]) is None
        else FLUSH_RANKS[rank_mask((*board, f, g), suit)]
        for f, g in holes
    ]


@overload
def rank_many(hands: Sequence[Sequence[Card]]) -> list[int]: ...
@overload
def rank_many(hands: "np.ndarray[Any, Any]") -> "np.ndarray[Any, np.dtype[np.uint16]]": ...
def rank_many(hands: Any) -> Any:
    """Return the ranks of many hands as a list, or as a NumPy array if `hands` is one with a hand in each row.

    Raises ValueError if a hand is invalid; as with `rank`, duplicate cards are not always detected.

    Example:
        >>> from croupier.rooms.holdem.cards import parse_cards
        >>> rank_many([parse_cards("AsAhAdAcKs"), parse_cards("7s5h4d3c2s")])
        [11, 7462]
    """
    return _rank_rows(hands) if hasattr(hands, "__array__") else [rank(hand) for hand in hands]


def category(rank: int) -> str:
    """Return the category of a rank, a key of `CATEGORY_FIRST_RANKS`. Raises ValueError if there is no such rank.

    Example:
        >>> category(202)
        'full house'
    """
    if not 1 <= rank <= WORST_RANK:
        raise ValueError(f"found the rank {rank}; allowed: 1 to {WORST_RANK}")
    return next(name for name, first in reversed([*CATEGORY_FIRST_RANKS.items()]) if first <= rank)


def best_five(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the five cards that make the hand, in display order: groups of equal rank first, then highest card first.

    Among equally good choices, the one whose cards come first in `cards` is returned.

    Example:
        >>> from croupier.rooms.holdem.cards import card_names, parse_cards
        >>> card_names(best_five(parse_cards("2cQsQh7d2sQd9h")))
        ('QS', 'QH', 'QD', '2C', '2S')
    """
    five = min(combinations(cards, 5), key=rank)
    order = _CARD_RANKS[rank(five) - 1]
    return tuple(sorted(five, key=lambda card: order.index(card // 4)))


def rank_mask(cards: Sequence[Card], suit: int) -> int:
    """Return the ranks of the cards of one suit as a bit mask: bit r is set for rank r."""
    mask = 0
    for card in cards:
        if card % 4 == suit:
            mask |= 1 << card // 4
    return mask


def load_tables() -> None:
    """Build the look-up tables once per process (about 0.2 s). The evaluation functions call this when needed.

    Concurrent calls from two threads are safe: they only do the work twice.
    """
    if _SEVEN_CARD_FLUSH_SUITS:
        return
    _load_fives()
    for size in (6, 7):  # the best hand of n cards is the best hand of any n - 1 of them
        fewer = UNSUITED_RANKS[size - 1]
        for ranks in rank_multisets(size):
            key = sum(map(_KEY_BY_RANK.__getitem__, ranks))
            UNSUITED_RANKS[size][key] = min([fewer[key - _KEY_BY_RANK[rank]] for rank in set(ranks)])
        for ranks in combinations(range(13), size):
            held = _rank_bits(ranks)
            FLUSH_RANKS[held] = min(FLUSH_RANKS[held - (1 << rank)] for rank in ranks)
    for size, flushes in _FLUSH_SUITS.items():  # seven cards last: a filled list marks the tables as complete
        suit_by_sum: list[int | None] = [None] * (size * 64 + 1)
        for others in product(range(size + 1), repeat=3):
            counts = (size - sum(others), *others)
            if counts[0] >= 0 and max(counts) >= 5:
                suit_by_sum[counts[1] + 8 * counts[2] + 64 * counts[3]] = counts.index(max(counts))
        flushes[:] = suit_by_sum


def _load_fives() -> None:
    """Number the five-card hands, category by category and best first within each."""
    made: dict[int, tuple[int, ...]] = {}
    first = dict(CATEGORY_FIRST_RANKS)
    five: dict[float, int] = {}

    def number(name: str, ranks: tuple[int, ...]) -> int:
        made[first[name]] = ranks
        first[name] += 1
        return first[name] - 1

    for straight in STRAIGHTS:
        five[sum(_KEY_BY_RANK[rank] for rank in straight)] = number("straight", straight)
        FLUSH_RANKS[_rank_bits(straight)] = number("straight flush", straight)
    orders = sorted((_shape_and_ranks(ranks) for ranks in rank_multisets(5)), reverse=True)
    for shape, ranks in orders:
        key = sum(_KEY_BY_RANK[rank] for rank in ranks)
        if key not in five:
            five[key] = number(SHAPE_CATEGORIES[shape], ranks)
            if len(shape) == 5:
                FLUSH_RANKS[_rank_bits(ranks)] = number("flush", ranks)
    UNSUITED_RANKS[5].update(five)
    _CARD_RANKS[:] = [made[rank] for rank in range(1, WORST_RANK + 1)]


def _rank_bits(ranks: Sequence[int]) -> int:
    return sum(1 << rank for rank in ranks)


def rank_multisets(size: int) -> Iterator[tuple[int, ...]]:
    """Yield every multiset of `size` card ranks, in ascending order; no rank occurs more than four times."""
    for ranks in combinations_with_replacement(range(13), size):
        if not any(map(eq, ranks, ranks[4:])):
            yield ranks


def _shape_and_ranks(ranks: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the rank multiplicities of five cards, and their ranks in comparison order."""
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    return tuple(count for count, _ in groups), tuple(rank for count, rank in groups for _ in range(count))


def _rank_rows(hands: "np.ndarray[Any, Any]") -> "np.ndarray[Any, np.dtype[np.uint16]]":
    import numpy as np

    if hands.ndim != 2 or hands.shape[1] not in UNSUITED_RANKS or not np.issubdtype(hands.dtype, np.integer):
        raise ValueError(f"found an array of {hands.dtype} {hands.shape}; allowed: integers, n rows of 5, 6 or 7")
    if hands.size and not 0 <= hands.min() <= hands.max() <= 51:
        raise ValueError(f"found a card {hands.min()} or {hands.max()}; allowed: 0 to 51")
    load_tables()
    result: np.ndarray[Any, np.dtype[np.uint16]]
    keys, suit_keys, sums, ranks, flushes = _numpy_tables(hands.shape[1])
    wanted = keys[hands].sum(axis=1)
    at = np.minimum(sums.searchsorted(wanted), len(sums) - 1)
    result = ranks[at]
    flush = flushes[suit_keys[hands].sum(axis=1)]
    if (invalid := (sums[at] != wanted) & ~flush).any():
        raise ValueError(f"found the cards {hands[invalid.argmax()].tolist()}; allowed: different cards")
    for row in np.flatnonzero(flush).tolist():  # one seven-card hand in 33 has a flush
        result[row] = rank(hands[row].tolist())
    return result


@cache
def _numpy_tables(size: int) -> "tuple[np.ndarray[Any, Any], ...]":
    """Return the tables for `size` cards as arrays: rank keys, suit keys, sums of rank keys, their ranks, is-flush."""
    import numpy as np

    sums = np.array(sorted(UNSUITED_RANKS[size]))
    return (
        np.array(RANK_KEYS),
        np.array(SUIT_KEYS),
        sums,
        np.array([UNSUITED_RANKS[size][key] for key in sums.tolist()], np.uint16),
        np.array([suit is not None for suit in _FLUSH_SUITS[size]]),
    )
