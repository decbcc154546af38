"""Fixed-window rate limiter."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from msgspec import Struct

MAX_EVICTIONS: Final = 2
"""At most this many windows are evicted when one is added, so that expired windows leave faster than new ones come."""


class RateWindow(Struct, gc=False):
    """The start of a window, and how many actions it contains."""

    started_at: float
    count: int


class RateLimiter:
    """Allows `limit` actions per key within `seconds`, counted from the first one. All methods are O(1).

    At most `max_windows` windows are kept; one more evicts the oldest, which expires first.

    Example:
        >>> limiter = RateLimiter(2, 60.0)
        >>> [limiter.take("alice", now) for now in (0.0, 10.0, 20.0)]
        [0.0, 0.0, 40.0]
    """

    __slots__ = ("_windows", "limit", "max_windows", "seconds")

    def __init__(self, limit: int, seconds: float, max_windows: int = 100_000) -> None:
        self.limit = limit
        self.seconds = seconds
        self.max_windows = max_windows
        self._windows: OrderedDict[Hashable, RateWindow] = (
            OrderedDict()
        )  # oldest first; finding the first key of a dict is not O(1)

    def take(self, key: Hashable, now: float) -> float:
        """Count one action and return 0; if it is not allowed, only return the seconds until it will be."""
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
        """Undo an action that was counted at a time, unless its window is over."""
        window = self._windows.get(key)
        if window is not None and window.started_at <= taken_at:
            window.count -= 1
            if not window.count:
                del self._windows[key]

    def retry_after(self, key: Hashable, now: float) -> float:
        """The seconds until an action is allowed; 0 if it is allowed now."""
        window = self._current_window(key, now)
        return 0.0 if window is None or window.count < self.limit else window.started_at + self.seconds - now

    def remaining(self, key: Hashable, now: float) -> tuple[int, float]:
        """The number of actions still allowed, and the seconds until the window ends."""
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
