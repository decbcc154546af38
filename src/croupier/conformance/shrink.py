"""Shortens what leads to a failure: the same failure is shown again with as few steps as possible."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from croupier.conformance.case import Case
from croupier.conformance.suite import Attempt, Bench

SHORT_DIALOGUE_LINES: Final = 6
"""A dialogue of at most this many lines is not shortened further."""

SHRINK_SECONDS: Final = 1.0
MAX_TOTAL_SECONDS: Final = 8.0
"""How long one dialogue may be shortened, and all of them."""


class Shrinker:
    """Shortens the failures of a run, as long as there is time left for it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._seconds_left = MAX_TOTAL_SECONDS
        self._clock = asyncio.get_running_loop().time

    async def shorten(self, case: Case, attempt: Attempt) -> Attempt:
        """Return the shortest attempt with the same failure that is found in time, else the attempt itself."""
        if not attempt.steps or len(attempt.dialogue) <= SHORT_DIALOGUE_LINES or self._seconds_left <= 0:
            return attempt
        started_at = self._clock()
        end = started_at + min(SHRINK_SECONDS, self._seconds_left)
        best = attempt

        async def retry(steps: Sequence[Any]) -> Attempt | None:
            nonlocal best
            for _ in range(self._bench.replay_tries if steps else 0):
                found = await self._bench.replay(case, steps)
                if found.shows(best):
                    best = found
                    return found
                if self._clock() >= end:
                    break
            return None

        def is_enough(found: Attempt) -> bool:
            return len(found.dialogue) <= SHORT_DIALOGUE_LINES or self._clock() >= end

        try:
            async with asyncio.timeout_at(end):
                for start in self._bench.short_starts(attempt):
                    if await retry(start) is not None or self._clock() >= end:
                        break
                await ddmin(best, lambda found: found.steps, retry, is_enough)
        except TimeoutError:
            pass
        self._seconds_left -= self._clock() - started_at
        return best


async def ddmin[Part, Found](
    found: Found,
    parts: Callable[[Found], Sequence[Part]],
    retry: Callable[[Sequence[Part]], Awaitable[Found | None]],
    is_enough: Callable[[Found], bool] = lambda _: False,
) -> Found:
    """Return a small result that still shows the fault; `parts` returns the parts of a result.

    `retry` runs with only the given parts and returns None if they do not show the fault. The search ends as soon as
    `is_enough` accepts a result. It tries to leave out half of the parts, then a quarter, and at last each single part
    (A. Zeller, R. Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
    """
    size = max(1, len(parts(found)) // 2)
    while size:
        at, has_shrunk = 0, False
        while at < len(parts(found)):
            if is_enough(found):
                return found
            rest = [*parts(found)[:at], *parts(found)[at + size :]]
            if (shorter := await retry(rest)) is None:
                at += size
            else:
                found, has_shrunk = shorter, True
        size = size if has_shrunk and size <= len(parts(found)) else size // 2
    return found
