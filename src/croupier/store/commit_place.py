"""Where SQLite commits: on the event loop as long as that is faster than handing the write to a thread and back."""

import sys
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

SLOW_SECONDS: Final = 200e-6
"""A commit on the loop that takes so long is slow: to hand the write to the thread and back takes less."""

SLOW_SHARE: Final = 0.05
"""Of the time of the event loop, slow commits take at most this share."""

MAX_PAUSE_SECONDS: Final = 10.0
"""The pause after a slow commit is doubled up to this time while each commit on the loop is slow."""

STALL_SECONDS: Final = 1e-3
"""A commit that takes so long would stall the loop, so that clients notice it. It is not tried there on a disk on which
all recent commits took as long."""

ROW_SECONDS: Final = 10e-6
"""Processor time that a row takes in either place; it does not count."""

RECENT_COMMITS: Final = 10
"""Of this number of commits in the thread, the fastest one shows how long the disk takes. The others may have waited
for the interpreter or the processor, while the event loop was busy."""

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

    It begins with the thread, because nothing is known about the disk, which may also be a network file system. How
    long a commit takes on the loop shows only there, because one in the thread may wait for the interpreter as well. So
    it is tried, and after a slow one the loop pauses, while the thread commits, until that took at most SLOW_SHARE of
    the time; twice as long after each further one in a row. `timer` returns seconds.
    """

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer
        self._thread_times: deque[float] = deque(maxlen=RECENT_COMMITS)
        self._loop_run = 0  # commits on the loop since the last one in the thread
        self._pause = 0.0  # the last one, 0 after a commit on the loop that was not slow
        self._paused_until = 0.0

    def allows_loop(self, weight: int) -> bool:
        """Whether facts with this weight may be committed on the loop."""
        return (
            weight <= MAX_LOOP_WEIGHT
            and self._loop_run < MAX_LOOP_RUN
            and len(self._thread_times) == RECENT_COMMITS
            and self._timer() >= self._paused_until
            and min(self._thread_times) < STALL_SECONDS
        )

    def record(self, seconds: float, weight: int, *, on_loop: bool, has_waited: bool = True) -> None:
        """Note how long a commit of writes with this weight took.

        A commit that has not waited (see `count_waits`) did not need the disk, whatever has interrupted it.
        """
        seconds = seconds - weight * ROW_SECONDS if has_waited else 0.0
        self._loop_run = self._loop_run + 1 if on_loop else 0
        if not on_loop:
            self._thread_times.append(seconds)
        elif seconds < SLOW_SECONDS:
            self._pause = 0.0
        else:
            self._pause = max(seconds / SLOW_SHARE, min(2 * self._pause, MAX_PAUSE_SECONDS))
            self._paused_until = self._timer() + self._pause
