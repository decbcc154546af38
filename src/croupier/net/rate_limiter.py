"""How often somebody may do something within a time."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from msgspec import Struct

MAX_EVICTIONS: Final = 2
"""How many windows are dropped for a new one at most: those that are over leave faster than new ones come."""


class RateWindow(Struct, gc=False):
    """A span of time, and how often something was done in it."""

    started_at: float
    count: int


class RateLimiter:
    """Allows `times` within `seconds`, counted from the first of them, for each key. Every method takes O(1).

    It keeps at most `most` windows; one more drops the oldest, which is over soonest.
    """

    __slots__ = ("_windows", "limit", "max_windows", "seconds")

    def __init__(self, limit: int, seconds: float, max_windows: int = 100_000) -> None:
        self.limit = limit
        self.seconds = seconds
        self.max_windows = max_windows
        self._windows: OrderedDict[Hashable, RateWindow] = OrderedDict()  # the oldest first; a dict has no cheap first

    def take(self, key: Hashable, now: float) -> float:
        """Do it once more: 0 if that is allowed, else in how many seconds it will be, and nothing is changed."""
        if (window := self._current_window(key, now)) is None:
            self._evict(now)
            self._windows[key] = RateWindow(now, 1)
            self._windows.move_to_end(key)
            return 0.0
        if window.count >= self.limit:
            return window.started_at + self.seconds - now
        window.count += 1
        return 0.0

    def give_back(self, key: Hashable, taken_at: float) -> None:
        """Undo what was taken at a time, unless the window in which that was is over."""
        window = self._windows.get(key)
        if window is not None and window.started_at <= taken_at:
            window.count -= 1
            if not window.count:
                del self._windows[key]

    def retry_after(self, key: Hashable, now: float) -> float:
        """In how many seconds it is allowed; 0 if it is now."""
        window = self._current_window(key, now)
        return 0.0 if window is None or window.count < self.limit else window.started_at + self.seconds - now

    def remaining(self, key: Hashable, now: float) -> tuple[int, float]:
        """How many times it may still be done, and in how many seconds all of them are there again."""
        window = self._current_window(key, now)
        return (
            (self.limit, 0.0) if window is None else (self.limit - window.count, window.started_at + self.seconds - now)
        )

    def _current_window(self, key: Hashable, now: float) -> RateWindow | None:
        window = self._windows.get(key)
        return window if window is not None and window.started_at + self.seconds > now else None

    def _evict(self, now: float) -> None:
        windows = self._windows
        for _ in range(MAX_EVICTIONS):
            oldest = next(iter(windows.values()), None)
            if oldest is None or (len(windows) < self.max_windows and oldest.started_at + self.seconds > now):
                return
            windows.popitem(last=False)
