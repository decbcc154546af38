"""Linear programs with exact answers: HiGHS finds one in floating point, and arithmetic proves or refuses it.

A solution is proved by its dual: where both are feasible and promise the same, neither can be better. Both are rounded
to fractions first, and then nothing is approximate any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

MAX_DENOMINATORS = (1_000, 1_000_000)
"""How fine a solution is rounded: coarse at first, for fractions that games have are simple."""

type Coefficients = Mapping[int, Fraction | int]
"""The variables that have a part in a sum, and with which factor."""


class Constraint(NamedTuple):
    """A sum of variables that is at most this, or exactly this."""

    coefficients: Coefficients
    upper: Fraction
    is_equality: bool


class SolverError(ArithmeticError):
    """A linear program without a solution, or whose solution could not be proved."""


@dataclass(frozen=True)
class LinearProgram:
    """Variables, those from `free` on of any sign and the others at least 0, and what their sums have to keep to."""

    variable_count: int
    first_free_variable: int
    constraints: Sequence[Constraint]

    def with_constraints(self, *more: Constraint) -> "LinearProgram":
        """The same with more to keep to."""
        return LinearProgram(self.variable_count, self.first_free_variable, [*self.constraints, *more])

    def maximize(self, objective: Coefficients) -> tuple[Fraction, Sequence[Fraction]]:
        """The highest value of a sum, and variables that give it, exactly.

        Raises Unsolved, and ModuleNotFoundError where HiGHS is not installed.
        """
        floats, duals = self._solve_in_floats(objective)
        for finest in MAX_DENOMINATORS:
            found = [Fraction(value).limit_denominator(finest) for value in floats]
            prices = [Fraction(price).limit_denominator(finest) for price in duals]
            value = weighted_sum(objective, found)
            if self._is_feasible(found) and self._is_proved(objective, prices, value):
                return value, found
        raise SolverError("found a solution that is not exact; allowed: fractions with denominators up to a million")

    def _solve_in_floats(self, objective: Coefficients) -> tuple[Sequence[float], Sequence[float]]:
        """A solution in floating point, and what each bound is worth to it."""
        from highspy import Highs, HighsModelStatus, ObjSense, kHighsInf

        solver = Highs()  # type: ignore[no-untyped-call]  # its constructor alone has no types
        solver.silent()
        for variable in range(self.variable_count):
            solver.addVar(0 if variable < self.first_free_variable else -kHighsInf, kHighsInf)
        for variable, factor in objective.items():
            solver.changeColCost(variable, float(factor))
        for row, most, exact in self.constraints:
            least = float(most) if exact else -kHighsInf
            solver.addRow(least, float(most), len(row), [*row], [float(factor) for factor in row.values()])
        solver.changeObjectiveSense(ObjSense.kMaximize)
        solver.run()
        status = solver.getModelStatus()
        if status != HighsModelStatus.kOptimal:
            raise SolverError(
                f"found a program that is {solver.modelStatusToString(status)}; allowed: one with a solution"
            )
        solution = solver.getSolution()
        return solution.col_value, solution.row_dual

    def _is_feasible(self, found: Sequence[Fraction]) -> bool:
        sums = [(weighted_sum(row, found), most, exact) for row, most, exact in self.constraints]
        kept = all(value == most if exact else value <= most for value, most, exact in sums)
        return kept and min(found[: self.first_free_variable], default=0) >= 0

    def _is_proved(self, objective: Coefficients, prices: Sequence[Fraction], value: Fraction) -> bool:
        """Whether these prices of the bounds prove that no solution is worth more."""
        costs = [Fraction(0)] * self.variable_count
        paid = Fraction(0)
        for (row, most, exact), price in zip(self.constraints, prices, strict=True):
            if price < 0 and not exact:
                return False
            paid += price * most
            for variable, factor in row.items():
                costs[variable] += price * factor
        short = [cost - objective.get(variable, 0) for variable, cost in enumerate(costs)]
        return (
            paid == value
            and min(short[: self.first_free_variable], default=0) >= 0
            and not any(short[self.first_free_variable :])
        )


def weighted_sum(coefficients: Coefficients, found: Sequence[Fraction]) -> Fraction:
    """The value of a sum."""
    return sum((factor * found[variable] for variable, factor in coefficients.items()), Fraction(0))
