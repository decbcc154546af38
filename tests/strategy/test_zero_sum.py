"""Equilibria: known values, whole families, and games whose value is proved by trying everything."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.rooms.kuhn.bots import equilibrium_bot as published
from croupier.rooms.kuhn.rules import KUHN, P_1, P_2
from croupier.strategy import zero_sum
from croupier.strategy.best_response import best_response, nash_conv
from croupier.strategy.game_tree import GameTree, RealizationPlan
from croupier.strategy.linear_program import SolverError
from croupier.strategy.zero_sum import find_equilibrium, optimal_plan_corners
from tests.rooms.kuhn.action_odds import chances
from tests.strategy.games import ManyCards, Matrix, most

TREE = GameTree(KUHN)
VALUE = Fraction(-1, 18)


def book(seat: int, alpha: Fraction) -> RealizationPlan:
    """The published equilibrium as a plan."""
    return TREE.realization_plan(seat, {**chances(published(alpha))})


FAMILY = (book(P_1, Fraction(0)), book(P_1, Fraction(1, 3)))
"""The ends of the published family."""


def test_kuhn_poker_is_worth_one_eighteenth_to_the_second_seat() -> None:
    found = find_equilibrium(TREE)
    assert found.value == TREE.expected_value(found.plans) == VALUE
    assert nash_conv(TREE, found.plans) == 0


def test_the_family_of_the_first_seat_is_the_segment_that_kuhn_found() -> None:
    assert {*optimal_plan_corners(TREE, P_1, VALUE)} == {*FAMILY}


def test_the_second_seat_has_one_optimal_strategy() -> None:
    assert optimal_plan_corners(TREE, P_2, VALUE) == (book(P_2, Fraction(0)),)


@given(st.fractions(0, 1, max_denominator=60))
def test_every_average_of_the_ends_of_the_family_is_optimal(part: Fraction) -> None:
    first, last = FAMILY
    blend = tuple(one + part * (other - one) for one, other in zip(first, last, strict=True))
    assert best_response(TREE, P_2, blend).value == -VALUE


@pytest.mark.parametrize(
    ("table", "value", "first", "second"),
    [
        ([[1, -1], [-1, 1]], "0", "1/2 1/2", "1/2 1/2"),  # matching pennies
        ([[3, -1], [-2, 1]], "1/7", "3/7 4/7", "2/7 5/7"),
        ([[0, -1, 2], [1, 0, -1], [-2, 1, 0]], "0", "1/4 1/2 1/4", "1/4 1/2 1/4"),  # paper and stone, paid unequally
        ([[2, 5], [1, 9]], "2", "1 0", "1 0"),  # a saddle point
    ],
)
def test_matrix_games_have_the_value_of_the_formula(
    table: Sequence[Sequence[int]], value: str, first: str, second: str
) -> None:
    tree = GameTree(Matrix(table))
    found = find_equilibrium(tree)
    assert found.value == Fraction(value)
    for seat, parts in enumerate((first, second)):
        assert optimal_plan_corners(tree, seat, found.value) == ((1, *map(Fraction, parts.split())),)


def test_where_nothing_matters_everything_is_optimal() -> None:
    tree = GameTree(Matrix([[5, 5], [5, 5], [5, 5]]))
    corners = {(1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)}
    assert {*optimal_plan_corners(tree, 0, Fraction(5))} == corners
    assert {*optimal_plan_corners(tree, 1, Fraction(5))} == {(1, 1, 0), (1, 0, 1)}


def test_a_family_of_pure_strategies_and_one_that_is_worse() -> None:
    tree = GameTree(Matrix([[0, 0], [0, 0], [-1, 0]]))
    assert {*optimal_plan_corners(tree, 0, find_equilibrium(tree).value)} == {(1, 1, 0, 0), (1, 0, 1, 0)}


@settings(max_examples=30)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_any_matrix_game_has_an_equilibrium_and_all_its_family_secures_the_value(table: list[list[int]]) -> None:
    rules = Matrix(table)
    tree = GameTree(rules)
    found = find_equilibrium(tree)
    assert max(min(row) for row in table) <= found.value <= min(map(max, zip(*table, strict=True)))
    for seat in (0, 1):
        secured = found.value if seat == 0 else -found.value
        for plan in optimal_plan_corners(tree, seat, found.value):
            strategy = tree.behaviour_strategy(seat, plan, {})
            assert most(rules, 1 - seat, strategy) == -secured


@pytest.mark.parametrize("cards", [2, 4])
def test_kuhn_poker_with_other_numbers_of_cards_has_a_value_that_no_pure_strategy_betters(cards: int) -> None:
    rules = ManyCards(cards)
    tree = GameTree(rules)
    found = find_equilibrium(tree)
    for seat in (0, 1):
        otherwise = best_response(tree, seat, found.plans[1 - seat]).strategy
        strategy = tree.behaviour_strategy(seat, found.plans[seat], otherwise)
        assert most(rules, 1 - seat, strategy) == (-found.value if seat == 0 else found.value)


def test_with_three_cards_it_is_kuhn_poker() -> None:
    assert find_equilibrium(GameTree(ManyCards(3))).value == VALUE


def test_what_cannot_be_proved_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zero_sum, "gap", lambda tree, plans: Fraction(1, 1000))
    with pytest.raises(SolverError, match="allowed: plans that no answer can better"):
        find_equilibrium(TREE)


def test_a_family_of_another_value_is_refused() -> None:
    with pytest.raises(SolverError):
        optimal_plan_corners(TREE, P_1, Fraction(0))
