"""Equilibria of two-player zero-sum games with hidden cards, and the set of all optimal plans.

It solves the linear program of the sequence form (docs/solutions.md): the plan that minimizes the value of the other
seat's best response. An exact result is proved twice, by the dual of the program and by best responses; where no exact
one is found, best responses to the plans prove bounds of the value.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.best_response import Checkpoint, ValueBounds, value_bounds
from croupier.strategy.game_tree import GameTree, RealizationPlan, nearest_plan
from croupier.strategy.linear_program import Coefficients, Constraint, LinearProgram

ZERO, ONE = Fraction(0), Fraction(1)


class Equilibrium(NamedTuple):
    """The bounds of the game's value to seat 0 in coins, and the plan of each seat that proves its bound."""

    value: ValueBounds
    plans: tuple[RealizationPlan, RealizationPlan]


def find_equilibrium(tree: GameTree) -> Equilibrium:
    """An equilibrium: exact if its plans have denominators up to a million, else as close as floating point allows.

    Raises SolverError, and ModuleNotFoundError if HiGHS is not installed (the extra `solve`).
    """
    plans = _optimal_plan(tree, 0), _optimal_plan(tree, 1)
    return Equilibrium(value_bounds(tree, plans), plans)


def _optimal_plan(tree: GameTree, seat: Seat) -> RealizationPlan:
    """The plan that guarantees a seat the most: exact, or rounded in floating point."""
    program, objective = sequence_form_program(tree, seat), {tree.sequence_counts[seat]: 1}
    floats = program.solve_in_floats(objective)
    values = program.exact_values(objective, floats)
    if values is None:
        return nearest_plan(tree, seat, floats.values)
    return tuple(values[: tree.sequence_counts[seat]])


def interior_point_checkpoints(tree: GameTree) -> Iterator[Checkpoint]:
    """The bounds that the plans prove after 1, 2, 3, … iterations of HiGHS's interior-point method on both programs.

    `find_equilibrium` uses the simplex method, whose plans hardly improve before its last iterations.
    """
    runs = [sequence_form_program(tree, seat).interior_points({tree.sequence_counts[seat]: 1}) for seat in (0, 1)]
    plans: dict[Seat, RealizationPlan] = {}
    for iterations, points in enumerate(zip_longest(*runs), start=1):
        for seat, values in enumerate(points):
            if values is not None:  # None: the program of this seat took fewer iterations
                plans[seat] = nearest_plan(tree, seat, values)
        yield Checkpoint(iterations, *value_bounds(tree, (plans[0], plans[1])).as_floats())


def optimal_plan_corners(tree: GameTree, seat: Seat, value: Fraction) -> tuple[RealizationPlan, ...]:
    """Corners of the polytope of a seat's optimal plans, that is, plans that guarantee `value` (to seat 0).

    Every average of these plans is optimal, and their affine hull contains all optimal plans. One corner is the unique
    optimal plan, and two corners are the ends of the segment of all optimal plans. With three or more, the polytope may
    have further corners.
    """
    size = tree.sequence_counts[seat]
    optimality = Constraint({size: 1}, value if seat == 0 else -value, is_equality=True)
    program = sequence_form_program(tree, seat).with_constraints(optimality)
    corners = {_extreme_plan(program, size, {}): None}
    objectives: Sequence[Coefficients] = [{sequence: 1} for sequence in range(size)]
    while found := [corner for objective in objectives for corner in _extreme_plans(program, size, objective)]:
        corners |= dict.fromkeys(found)
        objectives = _orthogonal_directions([*corners], size)
    return tuple(corners)


def sequence_form_program(tree: GameTree, seat: Seat) -> LinearProgram:
    """The linear program of a seat's plans and the value of the other seat's best response.

    The variables are the weights of the plan, then the seat's total win, then its win at each view of the other seat.
    """
    size, views = tree.sequence_counts[seat], tree.info_sets[1 - seat].values()
    constraints = [Constraint({0: 1}, ONE, is_equality=True)]
    for info_set in tree.info_sets[seat].values():
        split: Coefficients = {info_set.parent_sequence: -1} | dict.fromkeys(info_set.sequences, 1)
        constraints.append(Constraint(split, ZERO, is_equality=True))
    rows: list[dict[int, Fraction | int]] = [{} for _ in range(tree.sequence_counts[1 - seat])]
    rows[0][size] = 1
    for variable, info_set in enumerate(views, start=size + 1):
        rows[info_set.parent_sequence][variable] = -1
        for sequence in info_set.sequences:
            rows[sequence][variable] = 1
    for sequences, coins in tree.terminals.items():
        rows[sequences[1 - seat]][sequences[seat]] = -coins if seat == 0 else coins
    constraints += [Constraint(row, ZERO, is_equality=False) for row in rows]
    return LinearProgram(size + 1 + len(views), size, constraints)


def _extreme_plans(program: LinearProgram, size: int, objective: Coefficients) -> Sequence[RealizationPlan]:
    """The plans that minimize and maximize the objective; none if the objective is constant."""
    opposite = {sequence: -factor for sequence, factor in objective.items()}
    if program.maximize(objective)[0] + program.maximize(opposite)[0] == 0:
        return ()
    return _extreme_plan(program, size, opposite), _extreme_plan(program, size, objective)


def _extreme_plan(program: LinearProgram, size: int, objective: Coefficients) -> RealizationPlan:
    """The plan that maximizes the objective; ties are broken by the greatest first weights, which makes it a corner."""
    value, variables = program.maximize(objective)
    for sequence in range(size):
        program = program.with_constraints(Constraint(objective, value, is_equality=True))
        objective = {sequence: 1}
        value, variables = program.maximize(objective)
    return tuple(variables[:size])


def _orthogonal_directions(corners: Sequence[RealizationPlan], size: int) -> Sequence[Coefficients]:
    """A basis of the orthogonal complement of the differences between corners (Gauss-Jordan elimination)."""
    reduced: dict[int, list[Fraction]] = {}
    for corner in corners[1:]:
        row = [one - other for one, other in zip(corner, corners[0], strict=True)]
        for column, known in reduced.items():
            row = [value - row[column] * other for value, other in zip(row, known, strict=True)]
        if not any(row):
            continue
        pivot = next(column for column, value in enumerate(row) if value)
        row = [value / row[pivot] for value in row]
        for column, known in reduced.items():
            reduced[column] = [value - known[pivot] * other for value, other in zip(known, row, strict=True)]
        reduced[pivot] = row
    free = [column for column in range(size) if column not in reduced]
    return [{column: ONE} | {pivot: -row[column] for pivot, row in reduced.items() if row[column]} for column in free]
