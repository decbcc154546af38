"""What `croupier solve` shows of each game: the solvers know no game, and these pages know no terminal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from croupier.core.bank import State

type Record = Mapping[str, object]
"""One decision for programs: what is seen, and what is best. Fractions are exact."""

type Watch = Callable[[Sequence[State]], Iterable[State]]
"""Hands out the decisions to be solved, and may show how far it has come."""

type Portions = Callable[[Sequence[int]], Iterable[int]]
"""Hands out portions of other work, and may show how far it has come."""


@dataclass(frozen=True)
class Grid:
    """A table for people."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Solved:
    """A game, what it is worth to whom, how to play it, and the same for programs.

    The value is None where nobody decides anything; the unit then says what the tables tell.
    """

    title: str
    settings: Mapping[str, int]
    value: Fraction | None
    unit: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    records: Sequence[Record] = field(repr=False)


class Hand(NamedTuple):
    """A hand of one cell of a table: what is best, what that is worth, and how likely best play holds it."""

    name: str
    best: str
    worth: Fraction
    reached: Fraction


def headline(solved: Solved) -> str:
    """What the game is worth, as a sentence; where there is no such value, what the tables tell."""
    if solved.value is None:
        return f"{solved.title}: {solved.unit}."
    return f"{solved.title} is worth {solved.value} = {float(solved.value):+.10f} {solved.unit}."


def usual(hands: Sequence[Hand]) -> str | None:
    """The move that is best most often; None where best play never comes."""
    weights: dict[str, Fraction] = {}
    for hand in hands:
        weights[hand.best] = weights.get(hand.best, Fraction(0)) + hand.reached
    best = max(weights, key=weights.__getitem__, default=None)
    return best if best is not None and weights[best] else None


def exceptions(where: str, hands: Sequence[Hand], most: int = 8) -> list[str]:
    """The hands, likely ones first, of which something else is best than is usual: a line for each such move."""
    common = usual(hands)
    odd = [hand for hand in hands if hand.best != common and hand.reached]
    whole = sum(hand.reached for hand in hands)
    lines = []
    for best, group in groupby(sorted(odd, key=lambda hand: (hand.best, -hand.reached)), key=lambda hand: hand.best):
        found = list(group)
        share = float(sum(hand.reached for hand in found) / whole)
        often = f"{share:.2%}" if share >= 0.0001 else "less than 0.01%"
        names = ", ".join(hand.name for hand in found[:most])
        more = f" and {len(found) - most} more" if len(found) > most else ""
        lines.append(f"{where}: {common}, but {best} with {names}{more} ({often})")
    return lines


def signed(number: Fraction) -> str:
    """A number as people read it, with its sign."""
    return f"{float(number):+.4f}"
