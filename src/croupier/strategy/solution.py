"""Solutions of games as data, for `croupier solve`: titles, values, tables and records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from croupier.strategy.best_response import ValueBounds

type SolutionRecord = Mapping[str, object]
"""One decision in machine-readable form: the view and the best move. Fractions are exact."""

type Tracker[T] = Callable[[Sequence[T]], Iterable[T]]
"""Passes on portions of work, such as the decisions to solve, and may show a progress bar."""


@dataclass(frozen=True)
class Grid:
    """A table for display."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Solution:
    """The solution of a game: its value, tables and notes for display, and records for programs.

    `value` is exact where it is a Fraction. It is None for a game without decisions; `unit` then describes the content
    of the tables.
    """

    title: str
    settings: Mapping[str, int]
    value: Fraction | ValueBounds | None
    unit: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    records: Sequence[SolutionRecord] = field(repr=False)


class HandAdvice(NamedTuple):
    """Advice for one hand of a table cell: the best move, its value, and the probability of reaching it."""

    name: str
    best_move: str
    expected_value: Fraction
    reach_probability: Fraction


def headline(solution: Solution) -> str:
    """A sentence with the value of the game, or with the content of the tables if there is no value.

    >>> headline(Solution("Kuhn poker", {}, Fraction(-1, 18), "coins to the first seat", [], [], []))
    'Kuhn poker is worth -1/18 = -0.0555555556 coins to the first seat.'
    """
    if solution.value is None:
        return f"{solution.title}: {solution.unit}."
    if isinstance(solution.value, ValueBounds):
        low, high = solution.value.as_floats()
        return (
            f"{solution.title} is worth {float(solution.value.middle):+.10f} {solution.unit}; "
            f"proved: at least {low:+.16f}, at most {high:+.16f}."
        )
    return f"{solution.title} is worth {solution.value} = {float(solution.value):+.10f} {solution.unit}."


def usual_move(hands: Sequence[HandAdvice]) -> str | None:
    """The move that is best with the highest total probability; None if optimal play reaches none of the hands."""
    weights: dict[str, Fraction] = {}
    for hand in hands:
        weights[hand.best_move] = weights.get(hand.best_move, Fraction(0)) + hand.reach_probability
    best = max(weights, key=weights.__getitem__, default=None)
    return best if best is not None and weights[best] else None


def describe_exceptions(where: str, hands: Sequence[HandAdvice], max_names: int = 8) -> list[str]:
    """A line for each best move other than the usual one, with its hands, likely ones first.

    `where` names the cell, and at most `max_names` hands are listed per line.
    """
    usual = usual_move(hands)
    exceptions = [hand for hand in hands if hand.best_move != usual and hand.reach_probability]
    total = sum(hand.reach_probability for hand in hands)
    lines = []
    for best, group in groupby(
        sorted(exceptions, key=lambda hand: (hand.best_move, -hand.reach_probability)), key=lambda hand: hand.best_move
    ):
        members = list(group)
        share = float(sum(hand.reach_probability for hand in members) / total)
        frequency = f"{share:.2%}" if share >= 0.0001 else "less than 0.01%"
        names = ", ".join(hand.name for hand in members[:max_names])
        more = f" and {len(members) - max_names} more" if len(members) > max_names else ""
        lines.append(f"{where}: {usual}, but {best} with {names}{more} ({frequency})")
    return lines


def format_signed(number: Fraction) -> str:
    """A number with its sign and four decimals.

    >>> format_signed(Fraction(1, 18))
    '+0.0556'
    """
    return f"{float(number):+.4f}"
