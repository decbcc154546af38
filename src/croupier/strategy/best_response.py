"""Exact best responses in two-player zero-sum games, and the bounds of a game's value that they prove."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, RealizationPlan, realization_plan


class BestResponse(NamedTuple):
    """The expected win of a best response in coins, and a pure strategy: the first of the best moves at every view."""

    value: Fraction
    strategy: BehaviourStrategy


class ValueBounds(NamedTuple):
    """The proved bounds of a game's value to seat 0, in coins: it is at least `low` and at most `high`."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> Fraction | None:
        """The value of the game if the bounds are equal, else None."""
        return self.low if self.low == self.high else None

    @property
    def middle(self) -> Fraction:
        """The number in the middle of the bounds, which is the value if they are equal."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> Fraction:
        """The distance of the bounds: the nash_conv of the plans that prove them."""
        return self.high - self.low

    def as_floats(self) -> tuple[float, float]:
        """The bounds as floating-point numbers, rounded outwards."""
        low, high = float(self.low), float(self.high)
        return (
            nextafter(low, -inf) if Fraction(low) > self.low else low,
            nextafter(high, inf) if Fraction(high) < self.high else high,
        )


class Checkpoint(NamedTuple):
    """The bounds of a game's value to seat 0, in coins, that a solver's plans prove after a number of iterations.

    They have rounding errors.
    """

    iterations: int
    low: float
    high: float


def sequence_values(tree: GameTree, seat: Seat, opponent_plan: RealizationPlan) -> Sequence[Fraction]:
    """The coins that a seat wins with best moves after each of its sequences, against a plan of the other seat.

    They are weighted with the probability that chance and the other seat play as they have to.
    """
    values = [Fraction(0)] * tree.sequence_counts[seat]
    for sequences, coins in tree.terminals.items():
        values[sequences[seat]] += (coins if seat == 0 else -coins) * opponent_plan[sequences[1 - seat]]
    for info_set in reversed(tree.info_sets[seat].values()):
        values[info_set.parent_sequence] += max(values[sequence] for sequence in info_set.sequences)
    return values


def best_response(tree: GameTree, seat: Seat, opponent_plan: RealizationPlan) -> BestResponse:
    """The best response of a seat to a realization plan of the other seat."""
    values = sequence_values(tree, seat, opponent_plan)
    strategy = {}
    for view, info_set in tree.info_sets[seat].items():
        best = max(info_set.sequences, key=values.__getitem__)
        strategy[view] = {info_set.moves[best - info_set.first_sequence]: Fraction(1)}
    return BestResponse(values[0], strategy)


def value_bounds(tree: GameTree, plans: Sequence[RealizationPlan]) -> ValueBounds:
    """The bounds of the game's value that a plan of each seat proves: what it wins at least against any play."""
    return ValueBounds(-best_response(tree, 1, plans[0]).value, best_response(tree, 0, plans[1]).value)


def nash_conv(tree: GameTree, plans: Sequence[RealizationPlan]) -> Fraction:
    """The sum over both seats of the gain from switching to a best response, in coins per game."""
    return value_bounds(tree, plans).width


def exploitability(tree: GameTree, strategies: Sequence[BehaviourStrategy]) -> Fraction:
    """What a best response to a strategy of each seat wins above the game's value, in coins per game.

    It is the average over the seats, which is half of nash_conv.
    """
    return nash_conv(tree, [realization_plan(tree, seat, strategies[seat]) for seat in (0, 1)]) / 2
