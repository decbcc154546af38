"""Bounds how often the same fault is logged."""

import sys
import traceback
from collections import deque
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any

from structlog import DropEvent
from structlog.typing import EventDict

LIMITED_LEVELS = frozenset({"warning", "error", "critical"})


class Window:
    """How often an entry may still be logged until `end`, and how often it was not."""

    __slots__ = ("end", "left", "suppressed")

    def __init__(self, end: float, left: int) -> None:
        self.end = end
        self.left = left
        self.suppressed = 0


class RepeatLimiter:
    """A processor of structlog that lets at most `times` identical warnings or errors pass within `seconds`.

    Two of them are identical when they have the same event, the same room, and exceptions of the same type from the
    same line. The last one that passes says that more will be suppressed, and the first one of the next window how many
    were. At most `most` different ones are known; then the oldest window is forgotten.
    """

    def __init__(
        self, times: int = 5, seconds: float = 60.0, most: int = 1000, clock: Callable[[], float] = monotonic
    ) -> None:
        self._times = times
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._windows: dict[Hashable, Window] = {}

    def __call__(self, _: object, level: str, entry: EventDict) -> EventDict:
        """Let an entry pass, or raise DropEvent."""
        if level not in LIMITED_LEVELS:
            return entry
        key = (entry["event"], entry.get("room"), _place(entry.get("exc_info")))
        now = self._clock()
        window = self._windows.get(key)
        if window is None or window.end <= now:
            if window is not None and window.suppressed:
                entry["suppressed"] = window.suppressed
            window = self._open(key, now)
        elif not window.left:
            window.suppressed += 1
            raise DropEvent
        window.left -= 1
        if not window.left:
            entry["limit"] = f"not logged again for {window.end - now:.0f} s"
        return entry

    def _open(self, key: Hashable, now: float) -> Window:
        self._windows.pop(key, None)  # the youngest is the last
        if len(self._windows) >= self._most:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = Window(now + self._seconds, self._times)
        return window


def _place(exc_info: Any) -> Hashable:
    """The type of an exception, and the line that raised it."""
    if not exc_info:
        return None
    if isinstance(exc_info, tuple):
        error = exc_info[1]
    else:
        error = exc_info if isinstance(exc_info, BaseException) else sys.exception()
    if error is None:
        return None
    last = deque(traceback.walk_tb(error.__traceback__), maxlen=1)
    return type(error), *((frame.f_code.co_filename, line) for frame, line in last)
