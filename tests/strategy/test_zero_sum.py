"""Equilibria: known values, sets of optimal plans, and comparison with brute force."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from examples.leduc import RULES as LEDUC
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.rooms.kuhn.bots import equilibrium_bot as published_bot
from croupier.rooms.kuhn.rules import KUHN, P_1, P_2
from croupier.strategy.best_response import best_response, nash_conv
from croupier.strategy.game_tree import GameTree, RealizationPlan, behaviour_strategy, realization_plan
from croupier.strategy.linear_program import SolverError
from croupier.strategy.zero_sum import find_equilibrium, optimal_plan_corners
from tests.rooms.kuhn.action_odds import chances
from tests.sampling import example_count
from tests.strategy.games import (
    KuhnWithCards,
    MatrixGame,
    best_pure_value,
    plans_value,
)

TREE = GameTree(KUHN)
VALUE = Fraction(-1, 18)


def published_plan(seat: int, alpha: Fraction) -> RealizationPlan:
    """The published equilibrium as a plan."""
    return realization_plan(TREE, seat, {**chances(published_bot(alpha))})


FAMILY_ENDS = (published_plan(P_1, Fraction(0)), published_plan(P_1, Fraction(1, 3)))
"""The ends of the published family of equilibria."""


def test_value_of_kuhn_poker_is_minus_one_eighteenth() -> None:
    found = find_equilibrium(TREE)
    assert found.value.exact == plans_value(TREE, found.plans) == VALUE
    assert nash_conv(TREE, found.plans) == 0


def test_optimal_plans_of_the_first_seat_are_kuhns_segment() -> None:
    assert {*optimal_plan_corners(TREE, P_1, VALUE)} == {*FAMILY_ENDS}


def test_second_seat_has_a_unique_optimal_plan() -> None:
    assert optimal_plan_corners(TREE, P_2, VALUE) == (published_plan(P_2, Fraction(0)),)


@given(st.fractions(0, 1, max_denominator=60))
def test_every_average_of_the_segment_ends_is_optimal(part: Fraction) -> None:
    first, last = FAMILY_ENDS
    average = tuple(one + part * (other - one) for one, other in zip(first, last, strict=True))
    assert best_response(TREE, P_2, average).value == -VALUE


@pytest.mark.parametrize(
    ("table", "value", "first", "second"),
    [
        ([[1, -1], [-1, 1]], "0", "1/2 1/2", "1/2 1/2"),  # matching pennies
        ([[3, -1], [-2, 1]], "1/7", "3/7 4/7", "2/7 5/7"),
        ([[0, -1, 2], [1, 0, -1], [-2, 1, 0]], "0", "1/4 1/2 1/4", "1/4 1/2 1/4"),  # paper and stone, paid unequally
        ([[2, 5], [1, 9]], "2", "1 0", "1 0"),  # a saddle point
    ],
)
def test_matrix_games_have_their_known_values_and_strategies(
    table: Sequence[Sequence[int]], value: str, first: str, second: str
) -> None:
    tree = GameTree(MatrixGame(table))
    found = find_equilibrium(tree).value.exact
    assert found == Fraction(value)
    for seat, parts in enumerate((first, second)):
        assert optimal_plan_corners(tree, seat, found) == ((1, *map(Fraction, parts.split())),)


def test_all_plans_of_a_constant_game_are_optimal() -> None:
    tree = GameTree(MatrixGame([[5, 5], [5, 5], [5, 5]]))
    corners = {(1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)}
    assert {*optimal_plan_corners(tree, 0, Fraction(5))} == corners
    assert {*optimal_plan_corners(tree, 1, Fraction(5))} == {(1, 1, 0), (1, 0, 1)}


def test_corners_exclude_a_worse_pure_strategy() -> None:
    tree = GameTree(MatrixGame([[0, 0], [0, 0], [-1, 0]]))
    assert {*optimal_plan_corners(tree, 0, Fraction(0))} == {(1, 1, 0, 0), (1, 0, 1, 0)}


@settings(max_examples=example_count(30))
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_all_corners_of_any_matrix_game_guarantee_its_value(table: list[list[int]]) -> None:
    rules = MatrixGame(table)
    tree = GameTree(rules)
    value = find_equilibrium(tree).value.exact
    assert value is not None
    assert max(min(row) for row in table) <= value <= min(map(max, zip(*table, strict=True)))
    for seat in (0, 1):
        guaranteed = value if seat == 0 else -value
        for plan in optimal_plan_corners(tree, seat, value):
            strategy = behaviour_strategy(tree, seat, plan, {})
            assert best_pure_value(rules, 1 - seat, strategy) == -guaranteed


@pytest.mark.parametrize("cards", [2, 4])
def test_no_pure_strategy_beats_the_value_of_kuhn_poker_with_other_numbers_of_cards(cards: int) -> None:
    rules = KuhnWithCards(cards)
    tree = GameTree(rules)
    found = find_equilibrium(tree)
    assert found.value.exact is not None
    for seat in (0, 1):
        fallback = best_response(tree, seat, found.plans[1 - seat]).strategy
        strategy = behaviour_strategy(tree, seat, found.plans[seat], fallback)
        assert best_pure_value(rules, 1 - seat, strategy) == (-found.value.low if seat == 0 else found.value.high)


def test_kuhn_poker_with_three_cards_has_the_known_value() -> None:
    assert find_equilibrium(GameTree(KuhnWithCards(3))).value.exact == VALUE


def test_bounds_prove_the_published_value_of_leduc_poker() -> None:
    tree = GameTree(LEDUC)
    assert [len(info_sets) for info_sets in tree.info_sets] == [144, 144]
    found = find_equilibrium(tree)
    assert found.value.exact is None
    assert found.value.width < Fraction(1, 10**12)
    assert found.value.low <= plans_value(tree, found.plans) <= found.value.high
    assert f"{float(found.value.middle):.13f}" == "-0.0856064240780"
    for seat, plan in enumerate(found.plans):
        assert realization_plan(tree, seat, behaviour_strategy(tree, seat, plan)) == plan


def test_corners_for_a_wrong_value_raise_solver_error() -> None:
    with pytest.raises(SolverError):
        optimal_plan_corners(TREE, P_1, Fraction(0))
