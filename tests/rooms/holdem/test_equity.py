"""Tests of equity against brute-force enumeration and published figures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.dealer import FairDealer
from croupier.rooms.holdem.cards import CARDS, parse_cards
from croupier.rooms.holdem.engine.equity import (
    ALL_HANDS,
    Estimate,
    HoleCards,
    Range,
    WinCounts,
    _can_be_dealt,
    count_outcomes,
    equity,
    estimate,
    parse_range,
)
from croupier.rooms.holdem.engine.ranks import rank
from tests.sampling import example_count, in_one_test

LUCK = FairDealer(bytes(32)).luck

COUNTS = {
    "random": 1326,
    "QQ": 6,
    "QQ+": 18,
    "22+": 78,
    "99-66": 24,
    "66-99": 24,
    "AK": 16,
    "KA": 16,
    "AKs": 4,
    "aKO": 12,
    "AhKh": 1,
    "KhAh": 1,
    "ATs+": 16,
    "A2+": 192,
    "KJo+": 24,
    "A5s-A2s": 16,
    "A2s-A5s": 16,
    "T9s-65s": 20,
    "J9o-86o": 48,
    "QQ+, AKs, A5s-A2s, KJo, AhKh": 18 + 4 + 16 + 12,
    "QQ QQ+ ,AhAs": 18,
    "\tQQ,\n": 6,
}

deck = st.permutations(range(52))


def as_ranges(holes: Sequence[HoleCards]) -> list[Range]:
    return [[hole] for hole in holes]


def pairs(deal: Sequence[int], seats: int) -> list[HoleCards]:
    return [(deal[2 * seat], deal[2 * seat + 1]) for seat in range(seats)]


def brute(spans: Sequence[Range], board: Sequence[int]) -> WinCounts:
    """Count the winners by enumerating every combination of hands and every board."""
    tally = Counter[tuple[int, ...]]()
    for holes in product(*spans):
        known = {*board, *(card for hole in holes for card in hole)}
        if len(known) < len(board) + 2 * len(holes):
            continue
        for run in combinations([card for card in range(52) if card not in known], 5 - len(board)):
            values = [rank((*hole, *board, *run)) for hole in holes]
            tally[tuple(seat for seat, value in enumerate(values) if value == min(values))] += 1
    return dict(sorted(tally.items()))


def test_ace_king_suited_against_queens_has_the_published_equity() -> None:
    assert count_outcomes(["AhKh", "QsQc"]) == {(0,): 787_966, (0, 1): 6_732, (1,): 917_606}
    ours, theirs = equity(["AhKh", "QsQc"])
    assert round(float(ours), 7) == 0.4621446
    assert ours + theirs == 1


def test_aces_against_kings_have_the_published_counts() -> None:
    assert count_outcomes(["AA", "KK"]) == {(0,): 50_371_344, (0, 1): 285_228, (1,): 10_986_372}


@pytest.mark.parametrize(
    ("ranges", "board", "share"),
    [
        (["AhKh", "QsQc"], "2h3h8s9d7d", Fraction(0)),
        (["AhKh", "QsQc"], "2h3h8s9d", Fraction(15, 44)),  # nine hearts, three aces, three kings
        (["AhKh", "2c2d"], "QhJhThAsAd", Fraction(1)),
        (["2c7d", "AsKs"], "QhJhThKhAh", Fraction(1, 2)),
    ],
)
def test_equity_matches_examples_counted_by_hand(ranges: Sequence[str], board: str, share: Fraction) -> None:
    assert equity(ranges, board)[0] == share


@settings(max_examples=example_count(40))
@given(deck, st.integers(1, 5), st.sampled_from([3, 4, 5]))
def test_equity_equals_brute_force_enumeration(deal: Sequence[int], seats: int, size: int) -> None:
    holes, board = pairs(deal, seats), deal[20 : 20 + size]
    assert count_outcomes(as_ranges(holes), board) == brute(as_ranges(holes), board)


@settings(max_examples=example_count(40))
@given(deck, st.integers(2, 4), st.integers(0, 3), st.sampled_from([3, 4, 5]))
def test_equity_with_flushes_equals_brute_force_enumeration(
    deal: Sequence[int], seats: int, suit: int, size: int
) -> None:
    suited = [card for card in deal if card % 4 == suit]  # nine of them and four others, to get flushes and ties
    mixed = [*suited[:9], *[card for card in deal if card % 4 != suit][:4]]
    mixed.sort(key=deal.index)
    holes, board = pairs(mixed, seats), mixed[8 : 8 + size]
    assert count_outcomes(as_ranges(holes), board) == brute(as_ranges(holes), board)


@settings(max_examples=example_count(10))
@given(deck, st.integers(2, 3), st.sampled_from([3, 4, 5]), st.data())
def test_equity_of_ranges_equals_brute_force_enumeration(
    deal: Sequence[int], seats: int, size: int, data: st.DataObject
) -> None:
    board = deal[:size]
    hole = st.sampled_from(ALL_HANDS).filter(lambda hole: not {*hole} & {*board})
    spans = [data.draw(st.lists(hole, min_size=1, max_size=4, unique=True)) for _ in range(seats)]
    if expected := brute(spans, board):
        assert count_outcomes(spans, board) == expected
    else:
        with pytest.raises(ValueError, match="cannot be dealt together"):
            count_outcomes(spans, board)


@pytest.mark.parametrize(
    ("ranges", "board"),
    [
        (["QQ", "AKs, 7h6h"], "2h9hTh"),  # three of the suits are interchangeable
        (["AKs", "AKs"], "2h9hTs"),
        (["99", "A9s-A8s", "KhQh"], "2h9h2s9s"),
    ],
)
def test_hands_equal_up_to_suits_are_counted_together(ranges: Sequence[str], board: str) -> None:
    assert count_outcomes(ranges, board) == brute([parse_range(as_ranges) for as_ranges in ranges], parse_cards(board))


@pytest.mark.slow
@pytest.mark.parametrize("ranges", [("AhKh", "QsQc"), ("Td9d", "9c8c"), ("2c2d", "AsKd")])
def test_preflop_equity_equals_brute_force_enumeration(ranges: Sequence[str]) -> None:
    assert count_outcomes(ranges) == brute([parse_range(as_ranges) for as_ranges in ranges], ())


@settings(max_examples=example_count(5))
@given(deck, st.integers(1, 6), st.integers(0, 5))
def test_the_shares_sum_to_one(deal: Sequence[int], seats: int, size: int) -> None:
    shares = equity(as_ranges(pairs(deal, seats)), deal[20 : 20 + size])
    assert sum(shares) == 1
    assert len(shares) == seats


@settings(max_examples=example_count(5))
@given(deck, st.permutations(range(3)), st.permutations(range(4)))
def test_equity_is_independent_of_seat_order_and_suits(
    deal: Sequence[int], order: Sequence[int], suits: Sequence[int]
) -> None:
    renamed = [card - card % 4 + suits[card % 4] for card in deal]
    holes, others = as_ranges(pairs(deal, 3)), as_ranges(pairs(renamed, 3))
    shares = equity(holes, deal[10:12])
    assert equity([others[seat] for seat in order], renamed[10:12]) == tuple(shares[seat] for seat in order)


def test_equal_ranges_have_equal_equity() -> None:
    assert equity(["KK+, AKs"] * 2) == (Fraction(1, 2), Fraction(1, 2))


def test_a_seat_alone_wins_everything() -> None:
    assert equity(["random"], "AsKsQs2d3d") == (Fraction(1),)


def test_impossible_combinations_of_hands_are_ignored() -> None:
    assert equity(["AhAs", "AhAd, KcKd"], "2c3c4d") == equity(["AhAs", "KcKd"], "2c3c4d")


@pytest.mark.parametrize(("text", "count"), COUNTS.items())
def test_a_range_has_the_expected_number_of_hands(text: str, count: int) -> None:
    found = parse_range(text)
    assert len({*found}) == len(found) == count
    assert {*found} <= {*ALL_HANDS}


def test_a_range_has_the_named_hands() -> None:
    assert {CARDS[high] + CARDS[low] for high, low in parse_range("A3s-A2s, 65s-54s, KhQd, 22")} == {
        *("AC3C", "AD3D", "AH3H", "AS3S", "AC2C", "AD2D", "AH2H", "AS2S"),
        *("6C5C", "6D5D", "6H5H", "6S5S", "5C4C", "5D4D", "5H4H", "5S4S"),
        *("KHQD", "2D2C", "2H2C", "2S2C", "2H2D", "2S2D", "2S2H"),
    }


WRONG = ["", " , ", "Q", "QQQ", "A1s", "10s", "AhAh", "AhK", "randoms"]
WRONG_KINDS = ["QQs", "QQo+", "QQ-", "AK++", "AhKh+", "AKs+-AQs", "KAs-AKs-QKs"]
WRONG_ENDS = ["AKs-QJ", "A5s-A2o", "QQ-AK", "AA-AK", "A5s-K3s"]


@pytest.mark.parametrize("text", [*WRONG, *WRONG_KINDS, *WRONG_ENDS])
def test_malformed_ranges_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"found .*; allowed: random, QQ, QQ\+"):
        parse_range(text)


@in_one_test
@pytest.mark.parametrize("count", [equity, count_outcomes, lambda *as_ranges: estimate(*as_ranges, luck=LUCK)])
@pytest.mark.parametrize(
    ("ranges", "board", "words"),
    [
        ([], "", "found 0 ranges; allowed: 1 to 23"),
        (["random"] * 24, "", "found 24 ranges; allowed: 1 to 23"),
        (["AhKh", "AhQh"], "", "cannot be dealt together"),
        (["AhKh", "QQ"], "Kh2c3d", "cannot be dealt together"),
        (["AhKh"], "2c2d2h2s3c3d", "allowed: 0 to 5 different cards"),
        (["AhKh"], "2c2c", "allowed: 0 to 5 different cards"),
        (["AhKh"], (0, 52), "allowed: 0 to 5 different cards"),
        (["AhKh"], "2x", "found the card '2X'"),
        ([[(0, 0)]], "", "allowed: pairs of different numbers from 0 to 51"),
        ([[(0, 52)]], "", "allowed: pairs of different numbers from 0 to 51"),
        ([[]], "", "cannot be dealt together"),
    ],
)
def test_invalid_equity_arguments_are_refused(
    count: Callable[..., object], ranges: Sequence[str | Range], board: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        count(ranges, board)


@pytest.mark.parametrize(
    ("ranges", "board"),
    [
        (["AhKh", "QsQc"], ""),
        (["QQ+", "AKs, QQ"], "2h3h4s"),
        (["AhKh", "random"], "QhJh2c3d"),
        (["random", "AhAs, 9h8h, 2c2d", "KdKs, AhTs, 9h9d"], "AcKcQdJh3h"),
    ],
)
def test_estimates_are_close_to_the_exact_equity(ranges: Sequence[str], board: str) -> None:
    found = estimate(ranges, board, luck=FairDealer(bytes(32)).luck, samples=4_000)
    for (share, error), exact in zip(found, equity(ranges, board), strict=True):
        assert error < 0.01
        assert abs(share - exact) <= 4 * error
    assert sum(share for share, _ in found) == pytest.approx(1)


def test_ten_random_hands_are_worth_a_tenth() -> None:
    for share, error in estimate(["random"] * 10, luck=FairDealer(bytes(32)).luck, samples=2_000):
        assert abs(share - 0.1) < 4 * error


def test_estimates_have_the_standard_error_of_the_mean() -> None:
    always = estimate(["AhKh", "QsQc"], "2h3h8s9d7d", luck=LUCK, samples=50)
    assert always == (Estimate(0.0, 0.0), Estimate(1.0, 0.0))
    (share, error), _ = estimate(["AhKh", "QsQc"], luck=LUCK, samples=2_000)
    assert error == pytest.approx((share * (1 - share) / 1_999) ** 0.5, rel=0.02)


def test_the_same_random_source_gives_the_same_estimate() -> None:
    one, other = (estimate(["QQ+", "random"], luck=FairDealer(bytes(32)).luck, samples=100) for _ in range(2))
    assert one == other


def test_an_estimate_needs_two_samples() -> None:
    with pytest.raises(ValueError, match="found 1 samples; allowed: 2 or more"):
        estimate(["AhKh", "QsQc"], luck=LUCK, samples=1)


def test_checking_whether_ranges_fit_does_not_try_all_combinations() -> None:
    rivals = [hole for hole in ALL_HANDS if not {*hole} & {50}]  # hands compatible with the first range
    tried: list[HoleCards] = []

    class Counted(list[HoleCards]):
        def __iter__(self) -> Iterator[HoleCards]:
            for hole in super().__iter__():
                tried.append(hole)
                yield hole

    spans = [Counted([(51, 50)]), *(Counted(sorted(rivals, reverse=True)) for _ in range(3))]
    assert _can_be_dealt(spans, frozenset())
    assert len(tried) < 1000
    assert not _can_be_dealt([[(51, 50)], [(51, 49), (50, 3)]], frozenset())
