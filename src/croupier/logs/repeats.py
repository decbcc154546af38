"""Rate limiting of repeated log entries."""

import sys
import traceback
from collections import deque
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any

from structlog import DropEvent
from structlog.typing import EventDict

LIMITED_LEVELS = frozenset({"warning", "error", "critical"})


class RepeatWindow:
    """The remaining number of entries until `ends_at`, and the number of suppressed entries."""

    __slots__ = ("ends_at", "remaining", "suppressed_count")

    def __init__(self, ends_at: float, remaining: int) -> None:
        self.ends_at = ends_at
        self.remaining = remaining
        self.suppressed_count = 0


class RepeatLimiter:
    """A structlog processor that passes at most `limit` identical warnings or errors within `seconds`.

    Entries are identical if they have the same event, the same room, and exceptions of the same type from the same
    line. The last entry that passes notes that more will be suppressed, and the first entry of the next window has the
    number of suppressed ones. At most `max_windows` windows are kept; then the oldest is discarded.
    """

    def __init__(
        self, limit: int = 5, seconds: float = 60.0, max_windows: int = 1000, clock: Callable[[], float] = monotonic
    ) -> None:
        self._limit = limit
        self._seconds = seconds
        self._max_windows = max_windows
        self._clock = clock
        self._windows: dict[Hashable, RepeatWindow] = {}

    def __call__(self, _: object, level: str, entry: EventDict) -> EventDict:
        """Return the entry, or raise DropEvent."""
        if level not in LIMITED_LEVELS:
            return entry
        key = (entry["event"], entry.get("room"), _error_location(entry.get("exc_info")))
        now = self._clock()
        window = self._windows.get(key)
        if window is None or window.ends_at <= now:
            if window is not None and window.suppressed_count:
                entry["suppressed"] = window.suppressed_count
            window = self._open_window(key, now)
        elif not window.remaining:
            window.suppressed_count += 1
            raise DropEvent
        window.remaining -= 1
        if not window.remaining:
            entry["limit"] = f"not logged again for {window.ends_at - now:.0f} s"
        return entry

    def _open_window(self, key: Hashable, now: float) -> RepeatWindow:
        self._windows.pop(key, None)  # so that the newest window is last
        if len(self._windows) >= self._max_windows:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = RepeatWindow(now + self._seconds, self._limit)
        return window


def _error_location(exc_info: Any) -> Hashable:
    """The type of an exception and the line that raised it, None without an exception."""
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
