"""Pairs of tries, of which one is as it was and the other differs in one thing: whether that thing makes it fail."""

from math import comb
from typing import Final

MAX_CHANCE: Final = 1e-4
"""The original has to fail so often, and the other never, that this is unlikely.

It is the probability of such a result if both fail equally often. A run makes many experiments, and a cause that only
luck has shown would be the first thing that is reported.
"""

PROVING_PAIRS: Final = 8
"""The number of pairs that is enough if the original fails in all of them, and the other in none."""

MAX_PAIRS: Final = 60
"""At most this many pairs of tries are made."""


def one_sided_chance(pairs: int, failures: int) -> float:
    """The probability that all failures of these pairs are on one side if both sides fail equally often."""
    return comb(pairs, failures) / comb(2 * pairs, failures)
