"""Bankroll curves: what the first bot of a pairing has won, hand after hand, and how much of it may be luck."""

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Final, NamedTuple

from croupier.arena.report.summary import Unit
from croupier.arena.series import Series

MAX_POINTS: Final = 200
"""The points of a curve; of longer ones as many are shown, in equal distances."""


class Point(NamedTuple):
    """A bankroll after a number of hands.

    `low` and `high` are what the bot would have won without luck, with the confidence of the plan.
    """

    hands: int
    won: float
    low: float
    high: float

    def mirrored(self) -> "Point":
        """The same for the other bot."""
        return Point(self.hands, -self.won, -self.high, -self.low)


def bankroll(series: Series, unit: Unit) -> Sequence[Point]:
    """The bankroll of the first bot after its chunks, in the amount of `unit`, from 0 hands on.

    The bounds are the interval of the series at that time, times the hands. A point without a finite interval, which
    is one of few values, is left out.
    """
    so_far = Series(series.plan, series.pairing)
    points, hands = [Point(0, 0.0, 0.0, 0.0)], 0
    step = max(1, ceil(len(series.tallies) / MAX_POINTS))
    for number, tally in enumerate(series.tallies):
        so_far.add(number, tally)
        hands += 2 * tally.pairs
        is_shown = (number + 1) % step == 0 or number + 1 == len(series.tallies)
        if is_shown and tally.pairs and isfinite((interval := so_far.interval()).low):
            points.append(Point(hands, *(value * hands / unit.hands for value in interval)))
    return points
