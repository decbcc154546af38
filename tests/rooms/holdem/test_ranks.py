"""Tests of hand ranks against the independent evaluator phevaluator and published counts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import comb, prod
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phevaluator import evaluate_cards

from croupier.rooms.holdem.cards import CARDS, card_names, parse_cards
from croupier.rooms.holdem.engine.ranks import (
    CATEGORY_FIRST_RANKS,
    FLUSH_RANKS,
    RANK_KEYS,
    UNSUITED_RANKS,
    WORST_RANK,
    best_five,
    category,
    load_tables,
    rank,
    rank_many,
    rank_mask,
    ranks_on,
)
from croupier.rooms.holdem.hand_names import hand_name

COUNTS = (40, 624, 3_744, 5_108, 10_200, 54_912, 123_552, 1_098_240, 1_302_540)
"""The number of five-card hands (of 2,598,960) in each category, best category first."""

SEVEN_COUNTS = (41_584, 224_848, 3_473_184, 4_047_644, 6_180_020, 6_461_620, 31_433_400, 58_627_800, 23_294_460)
"""The number of seven-card hands (of 133,784,560) in each category, best category first."""

EXAMPLES = {
    "AhKhQhJhTh": (1, "straight flush", "royal flush"),
    "KdQdJdTd9d": (2, "straight flush", "straight flush, king high"),
    "5cAc3c2c4c": (10, "straight flush", "straight flush, five high"),
    "AsAhAdAcKs": (11, "four of a kind", "four of a kind, aces"),
    "2s2h2d2c3s": (166, "four of a kind", "four of a kind, twos"),
    "QsQhQd2c2s": (202, "full house", "full house, queens over twos"),
    "6s6h6d9c9s": (268, "full house", "full house, sixes over nines"),
    "AhKhQhJh9h": (323, "flush", "flush, ace high"),
    "7h5h4h3h2h": (1599, "flush", "flush, seven high"),
    "AsKhQhJhTh": (1600, "straight", "straight, ace high"),
    "As2h3h4h5h": (1609, "straight", "straight, five high"),
    "TsThTd3h2h": (1939, "three of a kind", "three of a kind, tens"),
    "6s6hKdKh2h": (2676, "two pair", "two pair, kings and sixes"),
    "2s2hKdQhJh": (6021, "pair", "pair of twos"),
    "AsKhQhJh9h": (6186, "high card", "ace high"),
    "7s5h4h3h2h": (7462, "high card", "seven high"),
}

hand = st.integers(5, 7).flatmap(lambda size: st.permutations(range(52)).map(lambda deck: tuple(deck[:size])))


def per_category(counts: Counter[int]) -> tuple[int, ...]:
    """Return the number of hands in each category from the number of hands of each rank."""
    categories = Counter[str]()
    for value, times in counts.items():
        categories[category(value)] += times
    return tuple(categories[name] for name in CATEGORY_FIRST_RANKS)


@given(st.permutations(range(52)), st.integers(0, 10))
def test_ranks_on_a_board_equal_the_ranks_of_seven_cards(deck: list[int], players: int) -> None:
    board, holes = deck[:5], [(deck[at], deck[at + 1]) for at in range(5, 5 + 2 * players, 2)]
    assert ranks_on(board, holes) == [rank([*hole, *board]) for hole in holes]


@pytest.mark.parametrize("suit", range(4))
def test_ranks_on_a_board_include_flushes(suit: int) -> None:
    board = [suit + 4 * each for each in (0, 3, 5)] + [(suit + 1) % 4, (suit + 2) % 4]
    holes = [(suit + 44, suit + 28), (suit + 48, suit + 4), ((suit + 3) % 4, suit + 8)]
    found = ranks_on(board, holes)
    assert found == [rank([*board, *hole]) for hole in holes]
    assert [category(each) for each in found] == ["flush", "flush", "four of a kind"]


def dealt(size: int, hands: int) -> Iterator[tuple[int, ...]]:
    luck, deck = Random(size), range(52)
    for _ in range(hands):
        yield tuple(luck.sample(deck, size))


def counted(size: int) -> Counter[int]:
    """Count the hands of `size` cards by rank: flushes by their suits, other hands by their card ranks."""
    counts = Counter[int]()
    flushes = Counter[float]()  # the number of hands with a flush, by sum of ranks
    for many in range(5, size + 1):
        for suited in combinations(range(13), many):
            value = rank([4 * one for one in suited] + fill(suited, size))
            for others in combinations([card for card in range(52) if card % 4], size - many):
                flushes[sum(RANK_KEYS[4 * one] for one in suited) + sum(RANK_KEYS[card] for card in others)] += 4
            counts[value] += 4 * comb(39, size - many)
    for key, value in UNSUITED_RANKS[size].items():
        ways = prod(comb(4, int(key) // 5**one % 5) for one in range(13))
        counts[value] += ways - flushes[key]
    return counts


def fill(suited: Sequence[int], size: int) -> list[int]:
    """Return cards of other suits that complete a flush to `size` cards."""
    return [4 * suited[0] + 1, 4 * suited[1] + 2][: size - len(suited)]


@pytest.mark.parametrize("text", EXAMPLES)
def test_each_category_has_its_ranks_and_names(text: str) -> None:
    value, name, words = EXAMPLES[text]
    assert rank(parse_cards(text)) == value
    assert category(value) == name
    assert str(hand_name(card_names(parse_cards(text)))) == words


def test_five_card_hands_have_the_published_category_counts() -> None:
    counts = counted(5)
    assert per_category(counts) == COUNTS
    assert [*sorted(counts)] == [*range(1, WORST_RANK + 1)]
    assert counts.total() == comb(52, 5)


def test_all_six_card_hands_are_counted() -> None:
    assert counted(6).total() == comb(52, 6)


@pytest.mark.extended
def test_seven_card_hands_have_the_published_category_counts() -> None:
    assert per_category(counted(7)) == SEVEN_COUNTS


def test_rank_sums_are_unique() -> None:
    load_tables()
    assert [len(sums) for sums in UNSUITED_RANKS.values()] == [6_175, 18_395, 49_205]
    assert len(FLUSH_RANKS) == comb(13, 5) + comb(13, 6) + comb(13, 7)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_random_hands_rank_as_in_phevaluator(size: int) -> None:
    assert [hand for hand in dealt(size, 20_000) if rank(hand) != evaluate_cards(*hand)] == []


@pytest.mark.slow
def test_all_five_card_hands_rank_as_in_phevaluator() -> None:
    counts = Counter[int]()
    for hand in combinations(range(52), 5):
        counts[value := rank(hand)] += 1
        assert value == evaluate_cards(*hand)
    assert per_category(counts) == COUNTS


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
def test_a_million_hands_rank_as_in_phevaluator(size: int) -> None:
    assert [hand for hand in dealt(size, 1_000_000) if rank(hand) != evaluate_cards(*hand)] == []


@given(hand)
def test_the_rank_is_that_of_the_best_five_cards(hand: tuple[int, ...]) -> None:
    assert rank(hand) == min(rank(five) for five in combinations(hand, 5))


@given(hand, st.permutations(range(4)), st.randoms(use_true_random=False))
def test_ranks_are_independent_of_card_order_and_suits(
    hand: tuple[int, ...], suits: Sequence[int], luck: Random
) -> None:
    other = [card - card % 4 + suits[card % 4] for card in hand]
    luck.shuffle(other)
    assert rank(other) == rank(hand)


@given(hand)
def test_best_five_has_the_rank_of_the_hand(hand: tuple[int, ...]) -> None:
    five = best_five(hand)
    assert len({*five}) == 5
    assert {*five} <= {*hand}
    assert rank(five) == rank(hand)


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        ("2cQs2hKdQhQd3c", "QSQHQD2C2H"),
        ("AhKs2d3c4c5s9h", "5S4C3C2DAH"),
        ("TsAhKhQhJhThTd", "AHKHQHJHTH"),
        ("6s6hKdKh2h2sAc", "KDKH6S6HAC"),
        ("AsKsQs9s8s7s6s", "ASKSQS9S8S"),
    ],
)
def test_best_five_is_in_display_order(held: str, shown: str) -> None:
    assert "".join(CARDS[card] for card in best_five(parse_cards(held))) == shown


def test_a_flush_counts_only_cards_of_its_suit() -> None:
    assert rank(parse_cards("2h4h6h8hThAsKs")) == rank(parse_cards("2h4h6h8hTh"))
    assert rank_mask(parse_cards("2h4hAs"), 2) == 0b101


def test_category_first_ranks_are_the_boundaries_of_the_categories() -> None:
    for name, first in islice(CATEGORY_FIRST_RANKS.items(), 1, None):
        assert category(first) == name
        assert category(first - 1) != name


@pytest.mark.parametrize("size", [5, 6, 7])
def test_rank_many_equals_rank(size: int) -> None:
    hands = [*dealt(size, 20_000)]
    ranks = [rank(hand) for hand in hands]
    assert rank_many(hands) == ranks
    assert rank_many(np.array(hands)).tolist() == ranks
    assert rank_many(np.array(hands, np.uint8)).tolist() == ranks


def test_rank_many_of_nothing_is_empty() -> None:
    assert rank_many([]) == []
    assert rank_many(np.zeros((0, 7), int)).tolist() == []


@pytest.mark.parametrize(
    "held", [(), (0, 1, 2, 3), tuple(range(8)), (0, 1, 2, 3, 52), (0, 1, 2, 3, 4, 5, 99), (0, 1, 2, 3, 3), ("As",) * 7]
)
def test_invalid_hands_are_refused(held: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="allowed: 5, 6 or 7 different numbers from 0 to 51"):
        rank(held)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros((3, 4), int), "n rows of 5, 6 or 7"),
        (np.zeros(7, int), "n rows of 5, 6 or 7"),
        (np.zeros((3, 7)), "integers"),
        (np.array([[0, 1, 2, 3, 4, 5, 52]]), "found a card 0 or 52; allowed: 0 to 51"),
        (np.array([[0, 1, 2, 3, 3]]), r"found the cards \[0, 1, 2, 3, 3\]; allowed: different cards"),
    ],
)
def test_invalid_batches_are_refused(rows: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]", words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rank_many(rows)


@pytest.mark.parametrize("value", [0, 7463])
def test_invalid_ranks_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match=f"found the rank {value}; allowed: 1 to 7462"):
        category(value)
