"""Linear programs with exact answers: HiGHS finds one in floating point, and arithmetic proves or refuses it.

A solution is proved by its dual: where both are feasible and promise the same, neither can be better. Both are rounded
to fractions first, and then nothing is approximate any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

DENOMINATORS = (1_000, 1_000_000)
"""How fine a solution is rounded: coarse at first, for fractions that games have are simple."""

type Row = Mapping[int, Fraction | int]
"""The variables that have a part in a sum, and with which factor."""


class Bound(NamedTuple):
    """A sum of variables that is at most this, or exactly this."""

    row: Row
    most: Fraction
    exact: bool


class Unsolved(ArithmeticError):
    """A linear program without a solution, or whose solution could not be proved."""


@dataclass(frozen=True)
class Program:
    """Variables, those from `free` on of any sign and the others at least 0, and what their sums have to keep to."""

    size: int
    free: int
    bounds: Sequence[Bound]

    def with_bounds(self, *more: Bound) -> "Program":
        """The same with more to keep to."""
        return Program(self.size, self.free, [*self.bounds, *more])

    def highest(self, aim: Row) -> tuple[Fraction, Sequence[Fraction]]:
        """The highest value of a sum, and variables that give it, exactly.

        Raises Unsolved, and ModuleNotFoundError where HiGHS is not installed.
        """
        floats, duals = self._guess(aim)
        for finest in DENOMINATORS:
            found = [Fraction(value).limit_denominator(finest) for value in floats]
            prices = [Fraction(price).limit_denominator(finest) for price in duals]
            value = total(aim, found)
            if self._feasible(found) and self._proved(aim, prices, value):
                return value, found
        raise Unsolved("found a solution that is not exact; allowed: fractions with denominators up to a million")

    def _guess(self, aim: Row) -> tuple[Sequence[float], Sequence[float]]:
        """A solution in floating point, and what each bound is worth to it."""
        from highspy import Highs, HighsModelStatus, ObjSense, kHighsInf

        solver = Highs()  # type: ignore[no-untyped-call]  # its constructor alone has no types
        solver.silent()
        for variable in range(self.size):
            solver.addVar(0 if variable < self.free else -kHighsInf, kHighsInf)
        for variable, factor in aim.items():
            solver.changeColCost(variable, float(factor))
        for row, most, exact in self.bounds:
            least = float(most) if exact else -kHighsInf
            solver.addRow(least, float(most), len(row), [*row], [float(factor) for factor in row.values()])
        solver.changeObjectiveSense(ObjSense.kMaximize)
        solver.run()
        status = solver.getModelStatus()
        if status != HighsModelStatus.kOptimal:
            raise Unsolved(
                f"found a program that is {solver.modelStatusToString(status)}; allowed: one with a solution"
            )
        solution = solver.getSolution()
        return solution.col_value, solution.row_dual

    def _feasible(self, found: Sequence[Fraction]) -> bool:
        sums = [(total(row, found), most, exact) for row, most, exact in self.bounds]
        kept = all(value == most if exact else value <= most for value, most, exact in sums)
        return kept and min(found[: self.free], default=0) >= 0

    def _proved(self, aim: Row, prices: Sequence[Fraction], value: Fraction) -> bool:
        """Whether these prices of the bounds prove that no solution is worth more."""
        costs = [Fraction(0)] * self.size
        paid = Fraction(0)
        for (row, most, exact), price in zip(self.bounds, prices, strict=True):
            if price < 0 and not exact:
                return False
            paid += price * most
            for variable, factor in row.items():
                costs[variable] += price * factor
        short = [cost - aim.get(variable, 0) for variable, cost in enumerate(costs)]
        return paid == value and min(short[: self.free], default=0) >= 0 and not any(short[self.free :])


def total(row: Row, found: Sequence[Fraction]) -> Fraction:
    """The value of a sum."""
    return sum((factor * found[variable] for variable, factor in row.items()), Fraction(0))
