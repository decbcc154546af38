"""Exact loss probabilities, compared with brute force, computation by hand, and played games."""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial, prod, sqrt
from random import Random

import pytest

from croupier.rooms.oldmaid.odds.exact import (
    POSITIONS_PER_PORTION,
    CoupleLevel,
    PositionSpace,
    compositions,
    loss_probabilities,
    two_player_loss_probability,
)
from croupier.rooms.oldmaid.odds.sampled import count_losses, random_generator
from tests.rooms.oldmaid.brute_force import Chain
from tests.rooms.oldmaid.ring_game import RingGame
from tests.sampling import extended

ERRORS = 3
"""The largest accepted distance of a share from its probability, in standard errors."""

SMALL = [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (5, 1), (5, 2), (6, 2), (8, 1)]


def agree(lost: Sequence[int], expected: Sequence[float]) -> None:
    """Check that the shares of lost games are within the tolerance of their probabilities."""
    games = sum(lost)
    for count, chance in zip(lost, expected, strict=True):
        away = (count / games - chance) / sqrt(chance * (1 - chance) / games)
        assert abs(away) < ERRORS, f"{count} of {games} lost, where {chance} was expected: {away} errors away"


def played(players: int, games: int, seed: int, pairs_in: int = 26) -> list[int]:
    """The number of games that each seat loses when they are played by the rules, with Python's random module."""
    random, lost = Random(seed), [0] * players
    cards = RingGame(players, pairs_in).deck
    for _ in range(games):
        ring = RingGame(players, pairs_in)
        for card in random.sample(cards, len(cards)):
            ring.deal(card)
        ring.discard_all()
        while isinstance(ring.turn, int):
            ring.pick(int(random.random() * len(ring.hands[ring.offerer])))
            ring.discard_all()
        assert ring.loser is not None
        lost[ring.loser] += 1
    return lost


@pytest.mark.parametrize(("players", "pairs_in"), extended(SMALL, 3))
def test_small_packs_match_brute_force(players: int, pairs_in: int) -> None:
    assert loss_probabilities(players, pairs_in) == pytest.approx(Chain(players, pairs_in).loses(), abs=1e-13)


@pytest.mark.parametrize("pairs_in", [1, 2, 3])
def test_two_player_fraction_matches_brute_force(pairs_in: int) -> None:
    assert float(two_player_loss_probability(pairs_in)) == pytest.approx(Chain(2, pairs_in).loses()[0], abs=1e-15)


def test_pack_of_three_cards_by_hand() -> None:
    """With probability 2/3 player1 has the joker and half of the couple. Then the offerer gives the joker away half of
    the time and loses otherwise: p = 1/2 + 1/2 · (1 − p), so p = 2/3.
    """
    assert two_player_loss_probability(1) == Fraction(2, 3) * Fraction(2, 3)


@pytest.mark.parametrize("pairs_in", [4, 5, 11, 26])
def test_fraction_equals_the_equations(pairs_in: int) -> None:
    first = float(two_player_loss_probability(pairs_in))
    assert loss_probabilities(2, pairs_in) == pytest.approx((first, 1 - first), abs=1e-13)


def test_two_players_with_the_full_pack_are_nearly_equal() -> None:
    assert two_player_loss_probability() == Fraction(1723353095189, 3455521292986)


def test_three_players_with_the_full_pack() -> None:
    """The values of docs/solutions.md, which brute force with small packs and played games confirm."""
    assert loss_probabilities(3) == pytest.approx((0.2170247886, 0.3867654630, 0.3962097484), abs=5e-11)


@pytest.mark.parametrize(("players", "pairs_in"), [(2, 26), (3, 26), (4, 9), (5, 5), (6, 3)])
def test_probabilities_sum_to_almost_one(players: int, pairs_in: int) -> None:
    """A game ends with probability 1 and has one loser."""
    missing = 1 - sum(loss_probabilities(players, pairs_in))
    assert -1e-13 < missing < 1e-12


@pytest.mark.parametrize(("players", "pairs_in"), [(2, 26), (3, 26), (4, 9), (5, 5), (8, 2)])
def test_every_deal_begins_in_one_position(players: int, pairs_in: int) -> None:
    """If all values are 1, the weighted sum over the starting positions is 1."""
    table, found = PositionSpace(players, pairs_in), 0.0
    for couples in range(pairs_in + 1):
        level = CoupleLevel(table, couples)
        level.values[:] = 1
        found += level.weighted_losses()[0]
    assert found == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("players", "pairs_in"), [(2, 26), (3, 26), (4, 26), (5, 7), (8, 26)])
def test_hand_sizes_start_at_the_first_offerer(players: int, pairs_in: int) -> None:
    table, ring = PositionSpace(players, pairs_in), RingGame(players, pairs_in)
    assert table.first_offerer == ring.offerer
    for card in ring.deck:
        ring.deal(card)
    first = ring.drawn_count % players - 1
    sizes = [0] * players
    for number in range(2 * pairs_in + 1):
        sizes[number % players] += 1
    assert table.first_offerer == first % players
    assert [*table.hand_sizes] == [*sizes[table.first_offerer :], *sizes[: table.first_offerer]]


@pytest.mark.parametrize(("number", "parts"), [(0, 1), (0, 3), (5, 1), (4, 3), (6, 6), (3, 10)])
def test_a_number_is_spread_in_every_way_and_in_lexical_order(number: int, parts: int) -> None:
    rows = [tuple(row) for row in compositions(number, parts).tolist()]
    assert len(rows) == comb(number + parts - 1, number)
    assert rows == sorted({*rows})
    assert {sum(row) for row in rows} == {number}


def test_five_players_have_too_many_positions() -> None:
    """As stated in docs/solutions.md."""
    four, five = (
        sum(PositionSpace(players, 26).position_count(couples) for couples in range(27)) for players in (4, 5)
    )
    assert four == 3_624_768
    assert five == 1_270_934_280 == 5 * comb(36, 10)


@pytest.mark.parametrize(("players", "pairs_in", "last"), extended([(5, 6, 3), (4, 9, 1)], 2))
def test_progress_is_called_with_portions_of_work(players: int, pairs_in: int, last: int) -> None:
    handed: list[int] = []

    def watch(portions: Sequence[int]) -> Sequence[int]:
        handed.extend(portions)
        return portions

    assert loss_probabilities(players, pairs_in, watch) == loss_probabilities(players, pairs_in)
    assert [*dict.fromkeys(handed)] == [*range(pairs_in + 1)]
    assert (
        handed.count(pairs_in)
        == 1 + PositionSpace(players, pairs_in).position_count(pairs_in) // POSITIONS_PER_PORTION
        == last
    )


@pytest.mark.parametrize(("players", "pairs_in"), extended([(5, 4), (2, 26), (3, 26), (4, 10)], 4))
def test_played_games_match_the_probabilities(players: int, pairs_in: int) -> None:
    agree(played(players, 3_000, 1, pairs_in), loss_probabilities(players, pairs_in))


@pytest.mark.parametrize(("players", "pairs_in"), extended([(5, 4), (2, 26), (3, 26), (4, 10)], 4))
def test_batched_games_match_the_probabilities(players: int, pairs_in: int) -> None:
    agree(count_losses(players, 30_000, random_generator(1), pairs_in), loss_probabilities(players, pairs_in))


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_million_full_games_match_the_probabilities(players: int) -> None:
    expected = loss_probabilities(players)
    assert sum(expected) == pytest.approx(1, abs=1e-12)
    agree(count_losses(players, 1_000_000, random_generator(2)), expected)
    agree(played(players, 200_000, 2), expected)


def test_deal_weights_match_an_enumeration() -> None:
    """Two players and two pairs: the joker's holder and the number of couples, over all 5!/(3!·2!) deals."""
    table = PositionSpace(2, 2)
    hands = table.hand_sizes
    assert [*hands] == [3, 2]
    whole = factorial(5) // prod(map(factorial, hands))
    found = {}
    for couples in range(3):
        level = CoupleLevel(table, couples)
        for joker in range(2):
            level.values[:] = 0
            level.values[:, joker, 0] = 1
            found[couples, joker] = round(level.weighted_losses()[0] * whole)
    assert found == {(0, 0): 2, (1, 0): 0, (2, 0): 4, (0, 1): 0, (1, 1): 4, (2, 1): 0}
