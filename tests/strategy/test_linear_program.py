"""Linear programs: exact answers, or none."""

from fractions import Fraction

import pytest

from croupier.strategy import linear_program
from croupier.strategy.linear_program import Bound, Program, Unsolved

ONE = Fraction(1)


def test_the_highest_value_is_exact() -> None:
    program = Program(2, 2, [Bound({0: 3, 1: 1}, ONE, exact=False), Bound({0: 1, 1: 3}, ONE, exact=False)])
    assert program.highest({0: 1, 1: 1}) == (Fraction(1, 2), [Fraction(1, 4), Fraction(1, 4)])


def test_a_free_variable_may_be_negative() -> None:
    program = Program(2, 1, [Bound({0: 1, 1: 1}, Fraction(-1, 3), exact=True), Bound({0: -1}, ONE, exact=False)])
    assert program.highest({1: 1}) == (Fraction(-1, 3), [0, Fraction(-1, 3)])


def test_more_bounds_make_it_no_higher() -> None:
    program = Program(1, 1, [Bound({0: 1}, Fraction(2, 3), exact=False)])
    assert program.highest({0: 1})[0] == Fraction(2, 3)
    assert program.with_bounds(Bound({0: 1}, Fraction(1, 7), exact=True)).highest({0: 1})[0] == Fraction(1, 7)


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ([], "allowed: one with a solution"),
        ([Bound({0: 1}, -ONE, exact=False)], "allowed: one with a solution"),
        ([Bound({0: 123_456_789}, ONE, exact=True)], "found a solution that is not exact"),
    ],
    ids=["no limit", "no solution", "too fine"],
)
def test_what_has_no_exact_solution_is_refused(bounds: list[Bound], told: str) -> None:
    with pytest.raises(Unsolved, match=told):
        Program(1, 1, bounds).highest({0: 1})


@pytest.mark.parametrize(
    ("values", "prices"),
    [
        ([0.25, 0.0], [0.25, 0.25]),  # allowed, but not the highest
        ([0.5, 0.5], [0.25, 0.25]),  # not allowed
        ([0.25, 0.25], [0.5, 0.0]),  # prices that do not cover the second variable
        ([0.25, 0.25], [0.75, -0.25]),  # a price below 0
        ([-0.25, 0.75], [0.25, 0.25]),  # a variable below 0
    ],
)
def test_a_wrong_guess_is_never_believed(
    monkeypatch: pytest.MonkeyPatch, values: list[float], prices: list[float]
) -> None:
    monkeypatch.setattr(linear_program.Program, "_guess", lambda self, aim: (values, prices))
    program = Program(2, 2, [Bound({0: 3, 1: 1}, ONE, exact=False), Bound({0: 1, 1: 3}, ONE, exact=False)])
    with pytest.raises(Unsolved, match="not exact"):
        program.highest({0: 1, 1: 1})
