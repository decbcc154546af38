"""Exact linear programming: HiGHS solves in floating point, and exact arithmetic proves the rounded solution.

The primal and the dual solution are rounded to fractions. If both are feasible and have the same value, both are
optimal (duality), and the result is exact. Solutions whose denominators are too large for that stay in floating point.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from highspy import Highs

MAX_DENOMINATORS = (1_000, 1_000_000)
"""The denominator limits tried for rounding: coarse first, because solutions of games have simple fractions."""

INTERIOR_POINT_OPTIONS: Mapping[str, str] = {"solver": "ipm", "presolve": "off", "run_crossover": "off"}
"""The options of HiGHS for the interior-point method alone, on the program as it is."""

type Coefficients = Mapping[int, Fraction | int]
"""The coefficients of a sum by variable; variables that are absent have the coefficient 0."""


class Constraint(NamedTuple):
    """A bound: the sum is at most `upper`, or equal to it."""

    coefficients: Coefficients
    upper: Fraction
    is_equality: bool


class FloatSolution(NamedTuple):
    """The values of the variables, and the dual price of each constraint, in floating point."""

    values: Sequence[float]
    prices: Sequence[float]


class SolverError(ArithmeticError):
    """A linear program has no solution, or its solution could not be proved."""


@dataclass(frozen=True)
class LinearProgram:
    """A linear program: variables 0 … `variable_count` − 1, and constraints.

    Variables from `first_free_variable` on may have any sign; the others are at least 0.
    """

    variable_count: int
    first_free_variable: int
    constraints: Sequence[Constraint]

    def with_constraints(self, *more: Constraint) -> "LinearProgram":
        """The same program with additional constraints."""
        return LinearProgram(self.variable_count, self.first_free_variable, [*self.constraints, *more])

    def maximize(self, objective: Coefficients) -> tuple[Fraction, Sequence[Fraction]]:
        """The maximum of a sum, and values of the variables that attain it, exactly.

        Raises SolverError, and ModuleNotFoundError if HiGHS is not installed (the extra `solve`).
        """
        values = self.exact_values(objective, self.solve_in_floats(objective))
        if values is None:
            raise SolverError(
                "found a solution that is not exact; allowed: fractions with denominators up to a million"
            )
        return weighted_sum(objective, values), values

    def exact_values(self, objective: Coefficients, solution: FloatSolution) -> Sequence[Fraction] | None:
        """The values of the variables, rounded to fractions that are proved to maximize a sum; None without a proof."""
        for max_denominator in MAX_DENOMINATORS:
            values = [Fraction(value).limit_denominator(max_denominator) for value in solution.values]
            prices = [Fraction(price).limit_denominator(max_denominator) for price in solution.prices]
            if self._is_feasible(values) and self._is_proved(objective, prices, weighted_sum(objective, values)):
                return values
        return None

    def solve_in_floats(self, objective: Coefficients) -> FloatSolution:
        """The primal and the dual solution in floating point.

        Raises SolverError if there is none, and ModuleNotFoundError if HiGHS is not installed (the extra `solve`).
        """
        solver = self._highs(objective)
        solver.run()
        if solver.getModelStatus().name != "kOptimal":
            raise SolverError(
                f"found a program that is {solver.modelStatusToString(solver.getModelStatus())}; "
                "allowed: one with a solution"
            )
        solution = solver.getSolution()
        return FloatSolution(solution.col_value, solution.row_dual)

    def interior_points(self, objective: Coefficients) -> Iterator[Sequence[float]]:
        """The values of the variables after 1, 2, 3, … iterations of the interior-point method, until the last one.

        They approach a solution, and need not satisfy the constraints. Raises ModuleNotFoundError as `solve_in_floats`.
        """
        solver = self._highs(objective)
        for name, value in INTERIOR_POINT_OPTIONS.items():
            solver.setOptionValue(name, value)
        for iterations in count(1):
            solver.clearSolver()
            solver.setOptionValue("ipm_iteration_limit", iterations)
            solver.run()
            yield solver.getSolution().col_value
            if solver.getModelStatus().name != "kIterationLimit":
                return

    def _highs(self, objective: Coefficients) -> "Highs":
        """The solver, with this program and objective."""
        from highspy import Highs, ObjSense, kHighsInf

        class SilentHighs(Highs):
            """HiGHS without output; version 1.16 prints its name as soon as callbacks are enabled."""

            def enableCallbacks(self) -> None:  # noqa: N802 -- called by the constructor
                """Turn the output off before the first message."""
                self.silent()
                super().enableCallbacks()  # type: ignore[no-untyped-call]

        solver = SilentHighs()  # type: ignore[no-untyped-call]  # only its constructor is untyped
        for variable in range(self.variable_count):
            solver.addVar(0 if variable < self.first_free_variable else -kHighsInf, kHighsInf)
        for variable, factor in objective.items():
            solver.changeColCost(variable, float(factor))
        for row, upper, is_equality in self.constraints:
            lower = float(upper) if is_equality else -kHighsInf
            solver.addRow(lower, float(upper), len(row), [*row], [float(factor) for factor in row.values()])
        solver.changeObjectiveSense(ObjSense.kMaximize)
        return solver

    def _is_feasible(self, values: Sequence[Fraction]) -> bool:
        sums = [(weighted_sum(row, values), upper, is_equality) for row, upper, is_equality in self.constraints]
        is_satisfied = all(total == upper if is_equality else total <= upper for total, upper, is_equality in sums)
        return is_satisfied and min(values[: self.first_free_variable], default=0) >= 0

    def _is_proved(self, objective: Coefficients, prices: Sequence[Fraction], optimum: Fraction) -> bool:
        """Whether the prices are a feasible dual solution with this value, so that no solution has a higher one."""
        costs = [Fraction(0)] * self.variable_count
        dual_value = Fraction(0)
        for (row, upper, is_equality), price in zip(self.constraints, prices, strict=True):
            if price < 0 and not is_equality:
                return False
            dual_value += price * upper
            for variable, factor in row.items():
                costs[variable] += price * factor
        reduced_costs = [cost - objective.get(variable, 0) for variable, cost in enumerate(costs)]
        return (
            dual_value == optimum
            and min(reduced_costs[: self.first_free_variable], default=0) >= 0
            and not any(reduced_costs[self.first_free_variable :])
        )


def weighted_sum(coefficients: Coefficients, values: Sequence[Fraction]) -> Fraction:
    """The sum for these values of the variables.

    >>> weighted_sum({0: 2, 2: Fraction(1, 2)}, [Fraction(1), Fraction(5), Fraction(4)])
    Fraction(4, 1)
    """
    return sum((factor * values[variable] for variable, factor in coefficients.items()), Fraction(0))
