"""Exact linear programming."""

from fractions import Fraction

import pytest

from croupier.strategy.linear_program import Constraint, FloatSolution, LinearProgram, SolverError

ONE = Fraction(1)


def test_maximum_is_exact() -> None:
    program = LinearProgram(
        2, 2, [Constraint({0: 3, 1: 1}, ONE, is_equality=False), Constraint({0: 1, 1: 3}, ONE, is_equality=False)]
    )
    assert program.maximize({0: 1, 1: 1}) == (Fraction(1, 2), [Fraction(1, 4), Fraction(1, 4)])


def test_free_variable_may_be_negative() -> None:
    program = LinearProgram(
        2, 1, [Constraint({0: 1, 1: 1}, Fraction(-1, 3), is_equality=True), Constraint({0: -1}, ONE, is_equality=False)]
    )
    assert program.maximize({1: 1}) == (Fraction(-1, 3), [0, Fraction(-1, 3)])


def test_additional_constraint_lowers_the_maximum() -> None:
    program = LinearProgram(1, 1, [Constraint({0: 1}, Fraction(2, 3), is_equality=False)])
    assert program.maximize({0: 1})[0] == Fraction(2, 3)
    assert program.with_constraints(Constraint({0: 1}, Fraction(1, 7), is_equality=True)).maximize({0: 1})[
        0
    ] == Fraction(1, 7)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([], "allowed: one with a solution"),
        ([Constraint({0: 1}, -ONE, is_equality=False)], "allowed: one with a solution"),
        ([Constraint({0: 123_456_789}, ONE, is_equality=True)], "found a solution that is not exact"),
    ],
    ids=["unbounded", "infeasible", "denominator too large"],
)
def test_program_without_an_exact_solution_raises_solver_error(constraints: list[Constraint], message: str) -> None:
    with pytest.raises(SolverError, match=message):
        LinearProgram(1, 1, constraints).maximize({0: 1})


@pytest.mark.parametrize(
    ("values", "prices"),
    [
        ([0.25, 0.0], [0.25, 0.25]),  # feasible, but not optimal
        ([0.5, 0.5], [0.25, 0.25]),  # infeasible
        ([0.25, 0.25], [0.5, 0.0]),  # prices that do not cover the second variable
        ([0.25, 0.25], [0.75, -0.25]),  # a price below 0
        ([-0.25, 0.75], [0.25, 0.25]),  # a variable below 0
    ],
)
def test_wrong_floating_point_solution_is_rejected(
    monkeypatch: pytest.MonkeyPatch, values: list[float], prices: list[float]
) -> None:
    monkeypatch.setattr(LinearProgram, "solve_in_floats", lambda self, objective: FloatSolution(values, prices))
    program = LinearProgram(
        2, 2, [Constraint({0: 3, 1: 1}, ONE, is_equality=False), Constraint({0: 1, 1: 3}, ONE, is_equality=False)]
    )
    with pytest.raises(SolverError, match="not exact"):
        program.maximize({0: 1, 1: 1})
