"""What `croupier solve` shows of each game: the solvers know no game, and these pages know no terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from croupier.core.bank import BankState

type SolutionRecord = Mapping[str, object]
"""One decision for programs: what is seen, and what is best. Fractions are exact."""

type DecisionTracker = Callable[[Sequence[BankState]], Iterable[BankState]]
"""Hands out the decisions to be solved, and may show how far it has come."""

type WorkTracker = Callable[[Sequence[int]], Iterable[int]]
"""Hands out portions of other work, and may show how far it has come."""


@dataclass(frozen=True)
class Grid:
    """A table for people."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Solution:
    """A game, what it is worth to whom, how to play it, and the same for programs.

    The value is None where nobody decides anything; the unit then says what the tables tell.
    """

    title: str
    settings: Mapping[str, int]
    value: Fraction | None
    unit: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    records: Sequence[SolutionRecord] = field(repr=False)


class HandAdvice(NamedTuple):
    """A hand of one cell of a table: what is best, what that is worth, and how likely best play holds it."""

    name: str
    best_move: str
    expected_value: Fraction
    reach_probability: Fraction


def headline(solved: Solution) -> str:
    """What the game is worth, as a sentence; where there is no such value, what the tables tell."""
    if solved.value is None:
        return f"{solved.title}: {solved.unit}."
    return f"{solved.title} is worth {solved.value} = {float(solved.value):+.10f} {solved.unit}."


def usual_move(hands: Sequence[HandAdvice]) -> str | None:
    """The move that is best most often; None where best play never comes."""
    weights: dict[str, Fraction] = {}
    for hand in hands:
        weights[hand.best_move] = weights.get(hand.best_move, Fraction(0)) + hand.reach_probability
    best = max(weights, key=weights.__getitem__, default=None)
    return best if best is not None and weights[best] else None


def describe_exceptions(where: str, hands: Sequence[HandAdvice], max_names: int = 8) -> list[str]:
    """The hands, likely ones first, of which something else is best than is usual: a line for each such move."""
    common = usual_move(hands)
    odd = [hand for hand in hands if hand.best_move != common and hand.reach_probability]
    whole = sum(hand.reach_probability for hand in hands)
    lines = []
    for best, group in groupby(
        sorted(odd, key=lambda hand: (hand.best_move, -hand.reach_probability)), key=lambda hand: hand.best_move
    ):
        found = list(group)
        share = float(sum(hand.reach_probability for hand in found) / whole)
        often = f"{share:.2%}" if share >= 0.0001 else "less than 0.01%"
        names = ", ".join(hand.name for hand in found[:max_names])
        more = f" and {len(found) - max_names} more" if len(found) > max_names else ""
        lines.append(f"{where}: {common}, but {best} with {names}{more} ({often})")
    return lines


def format_signed(number: Fraction) -> str:
    """A number as people read it, with its sign."""
    return f"{float(number):+.4f}"
