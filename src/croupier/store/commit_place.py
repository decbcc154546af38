"""Where SQLite commits: on the event loop as long as that is faster than handing the write to a thread and back."""

import sys
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

SLOW_SECONDS: Final = 200e-6
"""A commit that takes so long is slow. On the loop, the 99th percentile of recent commits has to be below it."""

ROW_SECONDS: Final = 10e-6
"""Processor time that a row takes in either place; it does not count."""

WINDOW_COMMITS: Final = 200
"""The number of recent commits, in both places, of which the percentile is taken."""

CONTENDED_COMMITS: Final = 10
"""Of this number of commits in the thread, the fastest one shows how long the disk takes. The others may have waited
for the interpreter or the processor, while the event loop was busy."""

STALL_SECONDS: Final = 1e-3
"""A commit that takes so long stalls the loop, so that clients notice it."""

STALL_SHARE: Final = 0.05
"""Of the time of the event loop, stalls take at most this share."""

MAX_LOOP_WEIGHT: Final = 128
"""The weight of the largest write that is committed on the loop, which takes up to a millisecond. During larger commits
the loop can read the next requests."""

MAX_LOOP_RUN: Final = 1000
"""The number of commits on the loop after which one is made in the thread, where it may be followed by a checkpoint."""


if sys.platform == "linux":
    from resource import RUSAGE_THREAD, getrusage

    def count_waits() -> int:
        """How often this thread has waited so far, for a disk for example. To be interrupted is not to wait."""
        return getrusage(RUSAGE_THREAD).ru_nvcsw

else:
    count_waits = count().__next__  # as if it had always waited


class CommitPlacePolicy:
    """Decides for each write whether it may be committed on the event loop, from how long former commits took.

    It begins with the thread, because nothing is known about the disk, which may also be a network file system. After a
    stall of the loop it stays with the thread for so long that stalls take at most STALL_SHARE of the time.
    `timer` returns seconds.
    """

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._recent: deque[bool] = deque(maxlen=WINDOW_COMMITS)  # whether the commit was slow
        self._slow_count = 0  # in `_recent`
        self._thread_times: deque[float] = deque(maxlen=CONTENDED_COMMITS)
        self._loop_run = 0  # commits on the loop since the last one in the thread
        self._barred_until = 0.0

    def allows_loop(self, weight: int) -> bool:
        """Whether facts with this weight may be committed on the loop."""
        return (
            weight <= MAX_LOOP_WEIGHT
            and len(self._recent) == WINDOW_COMMITS
            and self._slow_count <= WINDOW_COMMITS // 100
            and self._loop_run < MAX_LOOP_RUN
            and self._timer() >= self._barred_until
        )

    def record(self, seconds: float, weight: int, *, on_loop: bool, has_waited: bool = True) -> None:
        """Note how long a commit of writes with this weight took.

        A commit that has not waited (see `count_waits`) did not need the disk, whatever has interrupted it.
        """
        seconds = seconds - weight * ROW_SECONDS if has_waited else 0.0
        if not on_loop:
            self._thread_times.append(seconds)
            seconds = min(self._thread_times)
        is_slow = seconds >= SLOW_SECONDS
        if len(self._recent) == WINDOW_COMMITS:
            self._slow_count -= self._recent[0]
        self._recent.append(is_slow)
        self._slow_count += is_slow
        self._loop_run = self._loop_run + 1 if on_loop else 0
        if on_loop and seconds >= STALL_SECONDS:
            self._barred_until = self._timer() + seconds / STALL_SHARE
