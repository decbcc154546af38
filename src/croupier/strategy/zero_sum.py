"""What a game of two with hidden cards is worth, and every way to play it without fault, exactly.

The program is that of the sequence form (docs/solutions.md): a seat looks for the plan against which the best answer of
the other wins least. What it finds is proved twice, by the dual of the program and by best answers.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.best_response import gap
from croupier.strategy.game_tree import Plan, Tree
from croupier.strategy.linear_program import Bound, Program, Row, Unsolved

ZERO, ONE = Fraction(0), Fraction(1)


class Equilibrium(NamedTuple):
    """What the game is worth to the first seat, and a plan for each seat that secures it."""

    value: Fraction
    plans: tuple[Plan, Plan]


def equilibrium(tree: Tree) -> Equilibrium:
    """One equilibrium. Raises Unsolved, and ModuleNotFoundError where HiGHS is not installed."""
    solved = []
    for seat in (0, 1):
        value, found = _program(tree, seat).highest({tree.sizes[seat]: 1})
        solved.append((value, tuple(found[: tree.sizes[seat]])))
    (value, first), (other, second) = solved
    if value + other or gap(tree, (first, second)):
        raise Unsolved(f"found plans worth {value} and {other}; allowed: plans that no answer can better")
    return Equilibrium(value, (first, second))


def family(tree: Tree, seat: Seat, value: Fraction) -> tuple[Plan, ...]:
    """Corners of the set of all plans of a seat that secure the game's value (to the first seat).

    Averages of these plans are optimal, too, and they span all that is: one plan is the only one there is, two are the
    ends of a segment that is all there is. Where they span more, the set may have further corners.
    """
    size = tree.sizes[seat]
    secure = Bound({size: 1}, value if seat == 0 else -value, exact=True)
    program = _program(tree, seat).with_bounds(secure)
    corners = {_corner(program, size, {}): None}
    aims: Sequence[Row] = [{sequence: 1} for sequence in range(size)]
    while found := [corner for aim in aims for corner in _ends(program, size, aim)]:
        corners |= dict.fromkeys(found)
        aims = _across([*corners], size)
    return tuple(corners)


def _program(tree: Tree, seat: Seat) -> Program:
    """The plans of a seat, and how much the other can win against them.

    The variables are the weights of the plan, what the seat wins in all, and what it wins at each view of the other.
    """
    size, views = tree.sizes[seat], tree.choices[1 - seat].values()
    bounds = [Bound({0: 1}, ONE, exact=True)]
    for choice in tree.choices[seat].values():
        split: Row = {choice.before: -1} | dict.fromkeys(choice.after, 1)
        bounds.append(Bound(split, ZERO, exact=True))
    rows: list[dict[int, Fraction | int]] = [{} for _ in range(tree.sizes[1 - seat])]
    rows[0][size] = 1
    for number, choice in enumerate(views, start=size + 1):
        rows[choice.before][number] = -1
        for sequence in choice.after:
            rows[sequence][number] = 1
    for ends, coins in tree.ends.items():
        rows[ends[1 - seat]][ends[seat]] = -coins if seat == 0 else coins
    bounds += [Bound(row, ZERO, exact=False) for row in rows]
    return Program(size + 1 + len(views), size, bounds)


def _ends(program: Program, size: int, aim: Row) -> Sequence[Plan]:
    """The plans that lie farthest this way and the other; none if all lie equally far."""
    back = {sequence: -part for sequence, part in aim.items()}
    if program.highest(aim)[0] + program.highest(back)[0] == 0:
        return ()
    return _corner(program, size, back), _corner(program, size, aim)


def _corner(program: Program, size: int, aim: Row) -> Plan:
    """The plan that lies farthest this way and then, as one of several, has the greatest first weights."""
    value, found = program.highest(aim)
    for sequence in range(size):
        program = program.with_bounds(Bound(aim, value, exact=True))
        aim = {sequence: 1}
        value, found = program.highest(aim)
    return tuple(found[:size])


def _across(corners: Sequence[Plan], size: int) -> Sequence[Row]:
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
