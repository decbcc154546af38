"""CFR+ against the linear program, and against the published bound of its convergence."""

from fractions import Fraction
from math import sqrt

import pytest
from examples.leduc import RULES as LEDUC

from croupier.rooms.kuhn.rules import KUHN
from croupier.strategy.best_response import Checkpoint, best_response
from croupier.strategy.cfr_plus import solve_with_cfr_plus
from croupier.strategy.game_tree import GameTree, behaviour_strategy, realization_plan
from croupier.strategy.zero_sum import find_equilibrium, interior_point_checkpoints
from tests.strategy.games import KuhnWithCards, MatrixGame, plans_value

LEDUC_VALUE = Fraction("-0.0856064240780")


def theoretical_nash_conv(tree: GameTree, spread: int, rounds: int) -> float:
    """The bound 2·(|I₁| + |I₂|)·Δ·√(k/T) of Tammelin and others, 2015."""
    info_sets = [info_set for each in tree.info_sets for info_set in each.values()]
    most_moves = max(len(info_set.moves) for info_set in info_sets)
    return 2 * len(info_sets) * spread * sqrt(most_moves / rounds)


def test_cfr_plus_finds_the_value_of_kuhn_poker() -> None:
    tree = GameTree(KUHN)
    found = solve_with_cfr_plus(tree, 1_500)
    assert found.value.low <= Fraction(-1, 18) <= found.value.high
    assert abs(plans_value(tree, found.plans) + Fraction(1, 18)) < Fraction(1, 10_000)
    assert found.value.width < Fraction(1, 5_000)


@pytest.mark.parametrize(
    ("rounds", "width", "error"),
    [
        (800, Fraction(1, 1_000), Fraction(1, 20_000)),
        pytest.param(15_000, Fraction(1, 100_000), Fraction(1, 10_000_000), marks=pytest.mark.extended),
    ],
)
def test_cfr_plus_finds_the_value_of_leduc_poker(rounds: int, width: Fraction, error: Fraction) -> None:
    tree = GameTree(LEDUC)
    found = solve_with_cfr_plus(tree, rounds)
    exact = find_equilibrium(tree).value
    assert max(abs(bound - LEDUC_VALUE) for bound in exact) < Fraction(1, 10**13)
    assert found.value.low < exact.low <= exact.high < found.value.high
    assert found.value.width < width
    assert abs(plans_value(tree, found.plans) - LEDUC_VALUE) < error
    for seat, plan in enumerate(found.plans):
        assert realization_plan(tree, seat, behaviour_strategy(tree, seat, plan)) == plan


@pytest.mark.parametrize(("rules", "spread", "rounds"), [(KUHN, 4, 300), (LEDUC, 26, 100)])
def test_nash_conv_of_every_checkpoint_is_below_the_published_bound(rules: object, spread: int, rounds: int) -> None:
    tree = GameTree(rules)
    found: list[Checkpoint] = []
    solve_with_cfr_plus(tree, rounds, found.append)
    assert [found[0].iterations, found[-1].iterations] == [1, rounds]
    for point in found:
        assert 0 < point.high - point.low < theoretical_nash_conv(tree, spread, point.iterations)
    early = next(point for point in found if point.iterations >= 10)
    rate = (found[-1].high - found[-1].low) / (early.high - early.low)
    assert rate < sqrt(early.iterations / rounds) / 2, "it converges faster than the bound"


def test_checkpoints_have_the_values_of_exact_best_responses() -> None:
    tree = GameTree(KUHN)
    found: list[Checkpoint] = []
    equilibrium = solve_with_cfr_plus(tree, 20, found.append)
    assert [found[-1].low, found[-1].high] == pytest.approx([*map(float, equilibrium.value)], abs=1e-12)
    assert found[-1].high == pytest.approx(float(best_response(tree, 0, equilibrium.plans[1]).value), abs=1e-12)


def test_the_first_round_is_what_a_calculation_by_hand_gives() -> None:
    """Seat 0 compares its rows with a uniform column, then seat 1 answers the row that seat 0 now plays."""
    tree = GameTree(MatrixGame([[3, -1], [-2, 1]]))
    found = solve_with_cfr_plus(tree, 1)
    assert found.plans == ((1, 1, 0), (1, 0, 1))
    assert found.value == (-1, 1)


@pytest.mark.parametrize(
    "table", [[[1, -1], [-1, 1]], [[3, -1], [-2, 1]], [[0, -1, 2], [1, 0, -1], [-2, 1, 0]], [[2, 5], [1, 9]], [[7]]]
)
def test_cfr_plus_and_the_linear_program_agree_on_matrix_games(table: list[list[int]]) -> None:
    tree = GameTree(MatrixGame(table))
    value = find_equilibrium(tree).value.exact
    assert value is not None
    found = solve_with_cfr_plus(tree, 2_000).value
    assert found.low <= value <= found.high
    assert found.width < Fraction(1, 100)


def test_cfr_plus_and_the_linear_program_agree_on_kuhn_poker_with_five_cards() -> None:
    tree = GameTree(KuhnWithCards(5))
    exact, found = find_equilibrium(tree).value, solve_with_cfr_plus(tree, 500).value
    assert found.low <= exact.low <= exact.high <= found.high
    assert found.width < Fraction(1, 500)


def test_a_run_without_rounds_raises_value_error() -> None:
    with pytest.raises(ValueError, match="found 0 rounds; allowed: 1 or more"):
        solve_with_cfr_plus(GameTree(KUHN), 0)


@pytest.mark.parametrize("rules", [KUHN, pytest.param(LEDUC, marks=pytest.mark.extended)])
def test_the_interior_point_method_approaches_the_value(rules: object) -> None:
    tree = GameTree(rules)
    found = [*interior_point_checkpoints(tree)]
    value = find_equilibrium(tree).value
    assert [point.iterations for point in found] == [*range(1, len(found) + 1)]
    assert all(point.low <= value.low <= value.high <= point.high for point in found)
    assert found[-1].high - found[-1].low < 1e-8 < found[0].high - found[0].low
