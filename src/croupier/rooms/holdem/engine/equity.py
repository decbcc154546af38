"""Equity: the expected share of the pot of each hand or range, computed exactly or estimated from random deals.

The exact computation covers every board without dealing each of them. Without a flush only the ranks of a board matter:
there are at most 6,175 rank multisets, each weighted by its number of boards. For boards that give a player a flush,
the computation distinguishes the ranks in the flush suit and corrects the result counted without the flush.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, sqrt
from typing import Final, NamedTuple

from croupier.core.dealer import Luck
from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import CARDS, RANKS, SUITS, Card, parse_cards
from croupier.rooms.holdem.engine.ranks import FLUSH_RANKS, RANK_KEYS, UNSUITED_RANKS, load_tables, rank, rank_mask

type HoleCards = tuple[Card, Card]
"""Two hole cards, the higher card number first."""

type Range = Sequence[HoleCards]
"""The hole cards that a player may have, each equally likely."""

type WinCounts = Mapping[tuple[Seat, ...], int]
"""The number of deals by the seats that win and share the pot."""

ALL_HANDS: Final[Range] = tuple(combinations(range(51, -1, -1), 2))
"""All 1,326 combinations of two hole cards."""

MAX_RANGES: Final = 23
"""The most players for whom 52 cards suffice: 23 × 2 hole cards and 5 on the board."""

RANGE_NOTATION: Final = "random, QQ, QQ+, QQ-88, AK, AKs, AKo, A9s+, A5s-A2s, T9s-65s, AhKh, with commas between them"

SUIT_PERMUTATIONS: Final = tuple(
    tuple(card - card % 4 + suits[card % 4] for card in range(52)) for suits in permutations(range(4))
)
"""The 24 card mappings that permute the suits. They do not change which hand wins."""

_HAND_PATTERN: Final = re.compile(f"[{RANKS}][{SUITS}][{RANKS}][{SUITS}]")
_SPAN_PATTERN: Final = re.compile(rf"([{RANKS}]{{2}})([SO]?)(\+|-([{RANKS}]{{2}})\2)?")
_ALL_HANDS_SET: Final = frozenset(ALL_HANDS)


class Estimate(NamedTuple):
    """An estimated share of the pot (0 to 1) and its standard error.

    Example:
        >>> share = Estimate(0.82, 0.01)
        >>> f"{share.equity} ± {1.96 * share.standard_error:.3f}"
        '0.82 ± 0.020'
    """

    equity: float
    standard_error: float


def parse_range(text: str) -> Range:
    """Parse a range in the usual notation, such as `QQ+, AKs, A5s-A2s, KJo, AhKh`. Each hand occurs once.

    A plus includes all better hands of the kind: `QQ+` is QQ to AA, `A9s+` is A9s to AKs. A dash joins two pairs, two
    hands with the same higher card, or two hands with the same gap between the cards. Raises ValueError on anything
    else.

    Example:
        >>> len(parse_range("QQ+, AKs"))
        22
    """
    return tuple(
        dict.fromkeys(hole for item in re.split(r"[,\s]+", text.strip(", \t\n")) for hole in _parse_item(item))
    )


def equity(ranges: Sequence[str | Range], board: str | Sequence[Card] = ()) -> tuple[Fraction, ...]:
    """Return the exact expected share of the pot of each seat, as fractions that sum to 1. Ties split the pot.

    `ranges` has 1 to 23 entries, one per seat: text for `parse_range`, or hole cards as pairs of card numbers. The
    board has 0 to 5 cards: text such as `2c3d4h`, or card numbers. Every possible combination of hole cards has the
    same weight. The time is proportional to the number of combinations that differ by more than a permutation of
    suits: about 20 ms each before the flop, 1 ms after it; for wide ranges use `estimate`. Raises ValueError on
    malformed arguments, and if the ranges and the board cannot be dealt together.

    Example:
        >>> equity(["AsAh", "QdJd"], "Td9d2c")
        (Fraction(433, 990), Fraction(557, 990))
        >>> [f"{float(share):.1%}" for share in equity(["AhAs", "KhKs"])]
        ['82.6%', '17.4%']
    """
    tally = count_outcomes(ranges, board)
    shares = [
        sum((Fraction(deals, len(winners)) for winners, deals in tally.items() if seat in winners), Fraction())
        for seat in range(len(ranges))
    ]
    return tuple(share / sum(tally.values()) for share in shares)


def count_outcomes(ranges: Sequence[str | Range], board: str | Sequence[Card] = ()) -> WinCounts:
    """Count the possible deals by the seats that win them. Takes the arguments of `equity`. Raises ValueError.

    Example:
        The flush draw wins on 262 of 990 boards, the set of queens on 728.

        >>> count_outcomes(["AhKh", "QdQc"], "Qs2h3h")
        {(0,): 262, (1,): 728}
    """
    spans, table = _check_ranges(ranges, board)
    alike = [suits for suits in SUIT_PERMUTATIONS if {suits[card] for card in table} == {*table}]
    situations: Counter[tuple[HoleCards, ...]] = Counter()
    for holes in product(*spans):
        if _are_disjoint(holes):
            situations[min(_permute_suits(holes, suits) for suits in alike) if len(alike) > 1 else holes] += 1
    if not situations:
        raise ValueError(_CANNOT_BE_DEALT)
    total: defaultdict[tuple[Seat, ...], int] = defaultdict(int)
    for holes, times in situations.items():
        for winners, deals in _count_boards(holes, table).items():
            total[winners] += times * deals
    return {winners: deals for winners, deals in sorted(total.items()) if deals}


def estimate(
    ranges: Sequence[str | Range], board: str | Sequence[Card] = (), *, luck: Luck, samples: int = 1000
) -> tuple[Estimate, ...]:
    """Estimate the share of the pot of each seat from `samples` random deals (at least 2).

    Takes the ranges and board of `equity`; `luck` is the source of randomness. Impossible deals are drawn again, so
    ranges that share most of their cards take longer. Raises ValueError.

    Example:
        >>> from croupier import make_luck
        >>> aces, kings = estimate(["AA", "KK"], luck=make_luck(1), samples=1000)
        >>> abs(aces.equity - 0.82) < 4 * aces.standard_error
        True
    """
    if samples < 2:
        raise ValueError(f"found {samples} samples; allowed: 2 or more")
    spans, table = _check_ranges(ranges, board)
    deals = _random_deals(spans, table, luck)
    sums, squares = [0.0] * len(spans), [0.0] * len(spans)
    for _ in range(samples):
        *holes, run = next(deals)
        values = [rank((*hole, *run)) for hole in holes]
        low = min(values)
        share = 1 / values.count(low)
        for seat, value in enumerate(values):
            if value == low:
                sums[seat] += share
                squares[seat] += share * share
    return tuple(
        Estimate(won / samples, sqrt(max(square - won * won / samples, 0) / (samples - 1) / samples))
        for won, square in zip(sums, squares, strict=True)
    )


_CANNOT_BE_DEALT: Final = (
    "found ranges that cannot be dealt together; allowed: no card twice in the hands and on the board"
)


def _check_ranges(
    ranges: Sequence[str | Range], board: str | Sequence[Card]
) -> tuple[list[tuple[HoleCards, ...]], tuple[Card, ...]]:
    """Return the hands of each range that the board allows, and the board as card numbers."""
    table = parse_cards(board) if isinstance(board, str) else tuple(board)
    if len(table) > 5 or len({*table}) < len(table) or not all(0 <= card < len(CARDS) for card in table):
        raise ValueError(f"found the board {board!r}; allowed: 0 to 5 different cards")
    if not 1 <= len(ranges) <= MAX_RANGES:
        raise ValueError(f"found {len(ranges)} ranges; allowed: 1 to {MAX_RANGES}")
    spans = []
    for given in ranges:
        span = parse_range(given) if isinstance(given, str) else [(max(hole), min(hole)) for hole in given]
        if not _ALL_HANDS_SET.issuperset(span):
            raise ValueError(f"found the hands {given!r}; allowed: pairs of different numbers from 0 to 51")
        spans.append(tuple(hole for hole in span if not {*hole} & {*table}))
        if not spans[-1]:
            raise ValueError(_CANNOT_BE_DEALT)
    return spans, table


def _parse_item(item: str) -> Iterator[HoleCards]:
    """Yield the hands of one item of a range."""
    upper = item.upper()
    if upper == "RANDOM":
        yield from ALL_HANDS
    elif _HAND_PATTERN.fullmatch(upper) and upper[:2] != upper[2:]:
        one, other = parse_cards(upper)
        yield max(one, other), min(one, other)
    elif match := _SPAN_PATTERN.fullmatch(upper):
        kind = match[2]
        for high, low in _rank_pairs(match, item):
            if kind and high == low:
                raise ValueError(f"found a pair marked suited or offsuit in {item!r}; allowed: {RANGE_NOTATION}")
            for one, other in product(range(4), repeat=2):
                if one > other if high == low else not kind or (one == other) == (kind == "S"):
                    yield 4 * high + one, 4 * low + other
    else:
        raise ValueError(f"found {item!r} in a range; allowed: {RANGE_NOTATION}")


def _rank_pairs(match: re.Match[str], item: str) -> Iterable[tuple[int, int]]:
    """Return the rank pairs, higher rank first, that an item covers: one hand, a plus, or a span of two hands."""
    high, low = _parse_ranks(match[1])
    if match[3] is None:
        return [(high, low)]
    if match[3] == "+":
        return [(up, up) for up in range(high, 13)] if high == low else [(high, up) for up in range(low, high)]
    (low_high, low_low), (high, low) = sorted([(high, low), _parse_ranks(match[4])])
    if high - low == low_high - low_low:
        return [(low_high + up, low_low + up) for up in range(high - low_high + 1)]
    if high == low_high and low != high:
        return [(high, up) for up in range(low_low, low + 1)]
    raise ValueError(f"found the ends of {item!r} in a range; allowed: {RANGE_NOTATION}")


def _parse_ranks(pair: str) -> tuple[int, int]:
    one, other = map(RANKS.index, pair)
    return max(one, other), min(one, other)


def _are_disjoint(holes: Sequence[HoleCards]) -> bool:
    return len({card for hole in holes for card in hole}) == 2 * len(holes)


def _can_be_dealt(spans: Sequence[Range], taken: frozenset[Card]) -> bool:
    """Return whether each range has a hand such that no card is used twice."""
    return not spans or any(_can_be_dealt(spans[1:], taken.union(hole)) for hole in spans[0] if taken.isdisjoint(hole))


def _permute_suits(holes: Sequence[HoleCards], suits: Sequence[Card]) -> tuple[HoleCards, ...]:
    moved = ((suits[high], suits[low]) for high, low in holes)
    return tuple((high, low) if high > low else (low, high) for high, low in moved)


def _count_boards(holes: Sequence[HoleCards], board: Sequence[Card]) -> WinCounts:
    """Count the boards by the seats that win on them, for given hole cards."""
    load_tables()
    unsuited = UNSUITED_RANKS[7]
    tally: defaultdict[int, int] = defaultdict(int)
    known = {*board, *(card for hole in holes for card in hole)}
    live = [card for card in range(52) if card not in known]
    missing = 5 - len(board)
    bases = [sum(RANK_KEYS[card] for card in (*hole, *board)) for hole in holes]
    keys, ways = _rank_multisets(live, missing)
    plain = dict(zip(keys, _winner_sets([[unsuited[base + key] for key in keys] for base in bases]), strict=True))
    for winners, times in zip(plain.values(), ways, strict=True):
        tally[winners] += times
    for suit in range(4):
        suited = [card for card in live if card % 4 == suit]
        others = [card for card in live if card % 4 != suit]
        held = [rank_mask((*hole, *board), suit) for hole in holes]
        most = max(ranks.bit_count() for ranks in held)
        for many in range(max(5 - most, 0), missing + 1):  # cards of the suit still to come that make a flush
            runs = [*combinations(suited, many)]
            run_keys = [sum([RANK_KEYS[card] for card in run]) for run in runs]
            run_masks = [rank_mask(run, suit) for run in runs]
            flushes = [
                [FLUSH_RANKS[ranks | run] for run in run_masks] if ranks.bit_count() + many >= 5 else None
                for ranks in held
            ]
            for key, times in zip(*_rank_multisets(others, missing - many), strict=True):
                for winners, boards in Counter([plain[key + run] for run in run_keys]).items():
                    tally[winners] -= times * boards
                made = [
                    [unsuited[base + key + run] for run in run_keys] if flush is None else flush
                    for base, flush in zip(bases, flushes, strict=True)
                ]  # a flush excludes four of a kind and a full house on the same board
                for winners, boards in Counter(_winner_sets(made)).items():
                    tally[winners] += times * boards
    return {
        tuple(seat for seat in range(len(holes)) if winners >> seat & 1): boards for winners, boards in tally.items()
    }


def _winner_sets(ranks: Sequence[Sequence[int]]) -> list[int]:
    """Return the winners of each deal as a bit mask of seats; `ranks` has the ranks in all deals, by seat."""
    if len(ranks) == 2:
        return [1 if one < other else 2 if other < one else 3 for one, other in zip(*ranks, strict=True)]
    lows = [min(values) for values in zip(*ranks, strict=True)]
    winners = [0] * len(lows)
    for seat, values in enumerate(ranks):
        bit = 1 << seat
        winners = [
            others | bit if value == low else others for others, value, low in zip(winners, values, lows, strict=True)
        ]
    return winners


def _rank_multisets(live: Sequence[Card], size: int) -> tuple[list[float], list[int]]:
    """Return the rank multisets of `size` of the live cards: their sums of keys, and in how many ways each occurs."""
    by_size: list[list[tuple[float, int]]] = [[(0.0, 1)], *([] for _ in range(size))]
    for rank_, count in Counter(card // 4 for card in live).items():
        for held in range(size, 0, -1):
            for more in range(1, min(count, held) + 1):
                key, ways = more * RANK_KEYS[4 * rank_], comb(count, more)
                by_size[held] += [(partial + key, times * ways) for partial, times in by_size[held - more]]
    return [key for key, _ in by_size[size]], [ways for _, ways in by_size[size]]


def _random_deals(spans: Sequence[Range], board: Sequence[Card], luck: Luck) -> Iterator[tuple[Sequence[Card], ...]]:
    """Yield random deals without end: the hole cards of each seat, then the five cards of the board.

    Seats with a restricted range are dealt first; seats with all hands get random remaining cards. Thus every possible
    deal is equally likely.
    """
    live = len(CARDS) - len(board)
    restricted = [seat for seat, span in enumerate(spans) if len({*span}) < comb(live, 2)]
    if not _can_be_dealt([spans[seat] for seat in restricted], frozenset()):
        raise ValueError(_CANNOT_BE_DEALT)
    holes: list[Sequence[Card]] = [()] * len(spans)
    while True:
        seen = {*board}
        for seat in restricted:
            holes[seat] = spans[seat][luck.below(len(spans[seat]))]
            seen.update(holes[seat])
        if len(seen) < len(board) + 2 * len(restricted):
            continue
        drawn = []
        for _ in range(2 * (len(spans) - len(restricted)) + 5 - len(board)):
            while (card := luck.below(52)) in seen:
                pass
            seen.add(card)
            drawn.append(card)
        for seat in range(len(spans)):
            if seat not in restricted:
                holes[seat] = (drawn.pop(), drawn.pop())
        yield *holes, (*board, *drawn)
