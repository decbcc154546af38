"""What a game of two with hidden cards is worth, and every way to play it without fault, exactly.

The program is that of the sequence form (docs/solutions.md): a seat looks for the plan against which the best answer of
the other wins least. What it finds is proved twice, by the dual of the program and by best answers.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.best_response import nash_conv
from croupier.strategy.game_tree import GameTree, RealizationPlan
from croupier.strategy.linear_program import Coefficients, Constraint, LinearProgram, SolverError

ZERO, ONE = Fraction(0), Fraction(1)


class Equilibrium(NamedTuple):
    """What the game is worth to the first seat, and a plan for each seat that secures it."""

    value: Fraction
    plans: tuple[RealizationPlan, RealizationPlan]


def find_equilibrium(tree: GameTree) -> Equilibrium:
    """One equilibrium. Raises Unsolved, and ModuleNotFoundError where HiGHS is not installed."""
    solved = []
    for seat in (0, 1):
        value, found = _sequence_form_program(tree, seat).maximize({tree.sequence_counts[seat]: 1})
        solved.append((value, tuple(found[: tree.sequence_counts[seat]])))
    (value, first), (other, second) = solved
    if value + other or nash_conv(tree, (first, second)):
        raise SolverError(f"found plans worth {value} and {other}; allowed: plans that no answer can better")
    return Equilibrium(value, (first, second))


def optimal_plan_corners(tree: GameTree, seat: Seat, value: Fraction) -> tuple[RealizationPlan, ...]:
    """Corners of the set of all plans of a seat that secure the game's value (to the first seat).

    Averages of these plans are optimal, too, and they span all that is: one plan is the only one there is, two are the
    ends of a segment that is all there is. Where they span more, the set may have further corners.
    """
    size = tree.sequence_counts[seat]
    secure = Constraint({size: 1}, value if seat == 0 else -value, is_equality=True)
    program = _sequence_form_program(tree, seat).with_constraints(secure)
    corners = {_extreme_plan(program, size, {}): None}
    aims: Sequence[Coefficients] = [{sequence: 1} for sequence in range(size)]
    while found := [corner for aim in aims for corner in _extreme_plans(program, size, aim)]:
        corners |= dict.fromkeys(found)
        aims = _orthogonal_directions([*corners], size)
    return tuple(corners)


def _sequence_form_program(tree: GameTree, seat: Seat) -> LinearProgram:
    """The plans of a seat, and how much the other can win against them.

    The variables are the weights of the plan, what the seat wins in all, and what it wins at each view of the other.
    """
    size, views = tree.sequence_counts[seat], tree.info_sets[1 - seat].values()
    bounds = [Constraint({0: 1}, ONE, is_equality=True)]
    for choice in tree.info_sets[seat].values():
        split: Coefficients = {choice.parent_sequence: -1} | dict.fromkeys(choice.sequences, 1)
        bounds.append(Constraint(split, ZERO, is_equality=True))
    rows: list[dict[int, Fraction | int]] = [{} for _ in range(tree.sequence_counts[1 - seat])]
    rows[0][size] = 1
    for number, choice in enumerate(views, start=size + 1):
        rows[choice.parent_sequence][number] = -1
        for sequence in choice.sequences:
            rows[sequence][number] = 1
    for ends, coins in tree.terminals.items():
        rows[ends[1 - seat]][ends[seat]] = -coins if seat == 0 else coins
    bounds += [Constraint(row, ZERO, is_equality=False) for row in rows]
    return LinearProgram(size + 1 + len(views), size, bounds)


def _extreme_plans(program: LinearProgram, size: int, objective: Coefficients) -> Sequence[RealizationPlan]:
    """The plans that lie farthest this way and the other; none if all lie equally far."""
    back = {sequence: -part for sequence, part in objective.items()}
    if program.maximize(objective)[0] + program.maximize(back)[0] == 0:
        return ()
    return _extreme_plan(program, size, back), _extreme_plan(program, size, objective)


def _extreme_plan(program: LinearProgram, size: int, objective: Coefficients) -> RealizationPlan:
    """The plan that lies farthest this way and then, as one of several, has the greatest first weights."""
    value, found = program.maximize(objective)
    for sequence in range(size):
        program = program.with_constraints(Constraint(objective, value, is_equality=True))
        objective = {sequence: 1}
        value, found = program.maximize(objective)
    return tuple(found[:size])


def _orthogonal_directions(corners: Sequence[RealizationPlan], size: int) -> Sequence[Coefficients]:
    """Directions at right angles to everything that the corners span, as many as there are (Gauss and Jordan)."""
    reduced: dict[int, list[Fraction]] = {}
    for corner in corners[1:]:
        row = [one - other for one, other in zip(corner, corners[0], strict=True)]
        for place, known in reduced.items():
            row = [part - row[place] * other for part, other in zip(row, known, strict=True)]
        if not any(row):
            continue
        pivot = next(place for place, part in enumerate(row) if part)
        row = [part / row[pivot] for part in row]
        for place, known in reduced.items():
            reduced[place] = [part - known[pivot] * other for part, other in zip(known, row, strict=True)]
        reduced[pivot] = row
    free = [place for place in range(size) if place not in reduced]
    return [{place: ONE} | {pivot: -row[place] for pivot, row in reduced.items() if row[place]} for place in free]
