"""Timeouts of the tester: shorter for a program that is silent repeatedly, and without stalls of the tester itself."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Set
from statistics import median
from types import TracebackType
from typing import Any, Final, Self

from croupier.net.event_loop import cancel_all
from croupier.net.timer import Timer

FIRST_ANSWER_SECONDS: Final = 0.75
"""The timeout at the first look at a program that has not answered anything yet. The second look is patient."""

MUTE_SECONDS: Final = 0.05
"""The timeout of a program that has not answered, after `MAX_SILENCES` of silence."""

MAX_SILENCES: Final = 3
"""After this many missing answers the timeout of a program is reduced."""

MIN_REDUCED_SECONDS: Final = 0.25
SLOWEST_ANSWER_FACTOR: Final = 20
"""The reduced timeout of a program that answers: a multiple of its slowest answer, with a lower limit."""

ANSWER_FACTOR: Final = 2
"""A program that owes several answers may write them together: it has this multiple of its slowest one for each."""

MAX_TIMEOUT_FACTOR: Final = 4
"""The longest timeout of such a program, as a multiple of the whole timeout."""

SLOW_ANSWER_SECONDS: Final = 0.01
"""A program that usually takes longer than this for an answer keeps the tester waiting."""

RECENT_ANSWERS: Final = 16
"""The speed of a program is that of its last answers, at most of this number of them."""

MIN_STALL_SECONDS: Final = 0.05
"""A timeout that fires this late shows that the tester, or the whole machine, was stalled."""

MAX_EXTRA_WAIT_SECONDS: Final = 1.0
"""A timeout is extended by the length of the stall, at most by this."""

TICK_SECONDS: Final = 0.05
"""A timer counts in ticks of this length, so a stall of the event loop counts as one tick at most."""


class AnswerTimeout:
    """How long an answer of a program under test may take, in view of how fast it was so far.

    `slowest_seconds` is how long its slowest answer took. It `has_answered` if anything has come from it. A reduced
    timeout is at least `min_reduced_seconds`. A program that `was_silent` has had its first look.
    """

    def __init__(
        self, max_seconds: float, min_reduced_seconds: float = MIN_REDUCED_SECONDS, *, was_silent: bool = False
    ) -> None:
        self.max_seconds = max_seconds
        self.slowest_seconds = 0.0
        self.has_answered = False
        self._recent_seconds = deque([0.0] * RECENT_ANSWERS, RECENT_ANSWERS)
        self._min_reduced_seconds = min_reduced_seconds
        self._first_seconds = MUTE_SECONDS if was_silent else FIRST_ANSWER_SECONDS
        self._silences = 0
        self._was_patient = False

    @property
    def average_seconds(self) -> float:
        """The average time of the last answers; those that are still to come count as 0."""
        return sum(self._recent_seconds) / RECENT_ANSWERS

    @property
    def usual_seconds(self) -> float:
        """The median time of the last answers, 0 before the first one."""
        return median(filter(None, self._recent_seconds)) if any(self._recent_seconds) else 0.0

    @property
    def is_slow(self) -> bool:
        """Whether the tester spends most of its time waiting for the program."""
        return self.average_seconds > SLOW_ANSWER_SECONDS

    def for_answers(self, owed: int, *, is_patient: bool = False) -> float:
        """Return the timeout of the next answer of a program that owes this number of them."""
        seconds = self.for_try(is_patient=is_patient)
        return max(seconds, min(MAX_TIMEOUT_FACTOR * seconds, ANSWER_FACTOR * owed * self.slowest_seconds))

    def for_try(self, *, is_patient: bool = False) -> float:
        """Return the timeout of the next try.

        A try that `is_patient` has the whole timeout, but only the first one at a program that never answers.
        """
        if self.has_answered:
            is_full = is_patient or self._silences < MAX_SILENCES
            return self.max_seconds if is_full else self.reduced()
        if is_patient and not self._was_patient:
            self._was_patient = True
            return self.max_seconds
        return min(self.max_seconds, self._first_seconds if self._silences < MAX_SILENCES else MUTE_SECONDS)

    def reduced(self, min_seconds: float | None = None, factor: float = SLOWEST_ANSWER_FACTOR) -> float:
        """A multiple of the slowest answer, at least `min_seconds` unless the whole timeout is shorter."""
        least = self._min_reduced_seconds if min_seconds is None else min_seconds
        return min(self.max_seconds, max(least, factor * self.slowest_seconds))

    def record_answer(self, seconds: float) -> None:
        """Record how long an answer took."""
        self.has_answered = True
        self._recent_seconds.append(seconds)
        self.slowest_seconds = max(self.slowest_seconds, seconds)

    def record_silence(self) -> None:
        """Record that no answer came in time."""
        self._silences += 1


def extra_wait(late_seconds: float) -> float:
    """Return by how many seconds to extend a timeout that has fired `late_seconds` late; 0 without a stall.

    Data that arrived during the stall has not been read yet, and the peer may have been stalled as well.

    Example:
        >>> extra_wait(0.01), extra_wait(0.5), extra_wait(9.0)
        (0.0, 0.5, 1.0)
    """
    return min(late_seconds, MAX_EXTRA_WAIT_SECONDS) if late_seconds > MIN_STALL_SECONDS else 0.0


class StallTolerantTimeout:
    """As `asyncio.timeout`, but counts only time in which this process runs. Raises TimeoutError."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._limit = asyncio.timeout(None)
        self._timer = Timer()

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _wait(self) -> None:
        tick = min(TICK_SECONDS, self._left)
        self._left -= tick
        self._timer.set(tick, self._on_tick)

    def _on_tick(self) -> None:
        if self._left > 0:
            self._wait()
        else:
            self._limit.reschedule(asyncio.get_running_loop().time())


async def wait_first(*awaited: Awaitable[Any], seconds: float | None = None) -> Set[asyncio.Future[Any]]:
    """Wait at most `seconds` until one of these is done, and cancel the others; return those that were done."""
    tasks = [asyncio.ensure_future(each) for each in awaited]
    try:
        done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return done
    finally:
        await cancel_all(*tasks)
