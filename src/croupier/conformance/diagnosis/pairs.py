"""Pairs of tries, of which one is as it was and the other differs in one thing: whether that thing makes it fail."""

import asyncio
from collections.abc import Awaitable, Callable
from math import comb
from typing import Final

MAX_CHANCE: Final = 1e-4
"""The original has to fail so often, and the other never, that this is unlikely.

It is the probability of such a result if both fail equally often. A run makes many experiments, and a cause that only
luck has shown would be the first thing that is reported.
"""

MAX_PAIRS: Final = 60
"""At most this many pairs of tries are made."""

CHANCE_OF_A_PAIR: Final = 0.5
"""The probability that luck makes the original of one pair fail, and not the other. See `one_sided_chance`."""

MAX_EXPERIMENT_SECONDS: Final = 120.0
"""An experiment takes at most this long, but for its last pair, and so do all together that prove nothing."""

MAX_FUTILE_EXPERIMENTS: Final = 3
"""After this many experiments without an effect on a common failure no more are made."""

type Try = Callable[[int], Awaitable[bool]]
"""One try of a pair, by the number of the pair from 0: whether the original fails, or whether the other passes."""


def one_sided_chance(pairs: int, failures: int) -> float:
    """The probability that all failures of these pairs are on one side if both sides fail equally often."""
    return comb(pairs, failures) / comb(2 * pairs, failures)


class PairedExperiments:
    """Experiments on one program, one at a time, each of which may show one cause: whether it is what makes it fail.

    They take at most `seconds`, but for the last pair. `is_known`: one of them has shown the cause.
    """

    def __init__(self, seconds: float = MAX_EXPERIMENT_SECONDS) -> None:
        self._turn = asyncio.Lock()
        self._seconds_left = seconds
        self._futile_count = 0
        self.is_known = False

    async def show_cause(self, passes: Try, fails: Try, *, is_of_cause: bool = True, is_common: bool = False) -> bool:
        """Whether the original `fails` where the other always `passes`, so often that luck is unlikely.

        One pair is enough once the cause is known, unless the experiment is not `is_of_cause`. If the failure
        `is_common`, no more experiments are made after some that have shown nothing, until the cause is known.
        """
        async with self._turn:
            is_known = self.is_known and is_of_cause
            if is_common and not is_known and self._futile_count >= MAX_FUTILE_EXPERIMENTS:
                return False
            is_shown = not is_known and await self._compare(passes, fails, MAX_CHANCE)
            self.is_known |= is_shown and is_of_cause
        if is_known:
            is_shown = await self._compare(passes, fails, CHANCE_OF_A_PAIR)
        else:
            self._futile_count += is_common and not is_shown
        return is_shown

    async def _compare(self, passes: Try, fails: Try, max_chance: float) -> bool:
        """Make pairs of tries until luck is unlikely, or it would take too long: fewer than half of the pairs fail."""
        clock, failures = asyncio.get_running_loop().time, 0
        started_at = clock()
        for pairs in range(1, MAX_PAIRS + 1):
            if clock() - started_at >= self._seconds_left or not await passes(pairs - 1):
                break
            failures += await fails(pairs - 1)
            if one_sided_chance(pairs, failures) <= max_chance:
                return True
            if failures < pairs // 2:
                break
        self._seconds_left -= clock() - started_at
        return False
