"""Histograms of durations, as plain integers."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import inf
from typing import Final

BOUNDS_SECONDS: Final = tuple(digit * 10.0**power for power in range(-5, 1) for digit in (1, 2, 5))
"""The upper bounds of the buckets, from 10 µs to 5 s; the last bucket has none."""


class Histogram:
    """Counts of durations by their length. `listener`, if there is one, is called with every duration."""

    __slots__ = ("counts", "listener", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_SECONDS) + 1)
        self.seconds = 0.0
        self.listener: Callable[[float], None] | None = None

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.seconds += seconds
        if self.listener is not None:
            self.listener(seconds)

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """For each upper bound in seconds, and for infinity, the number of durations up to it.

        >>> histogram = Histogram()
        >>> histogram.observe(0.0003)
        >>> [*histogram.cumulative()][4:6], [*histogram.cumulative()][-1]
        ([(0.0002, 0), (0.0005, 1)], (inf, 1))
        """
        return zip((*BOUNDS_SECONDS, inf), accumulate(self.counts), strict=True)
