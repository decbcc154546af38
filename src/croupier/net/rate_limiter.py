"""How often somebody may do something within a time."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from msgspec import Struct

EVICTED: Final = 2
"""How many windows are dropped for a new one at most: those that are over leave faster than new ones come."""


class Window(Struct, gc=False):
    """A span of time, and how often something was done in it."""

    begun: float
    taken: int


class RateLimiter:
    """Allows `times` within `seconds`, counted from the first of them, for each key. Every method takes O(1).

    It keeps at most `most` windows; one more drops the oldest, which is over soonest.
    """

    __slots__ = ("_windows", "most", "seconds", "times")

    def __init__(self, times: int, seconds: float, most: int = 100_000) -> None:
        self.times = times
        self.seconds = seconds
        self.most = most
        self._windows: OrderedDict[Hashable, Window] = OrderedDict()  # the oldest first; a dict has no cheap first

    def take(self, key: Hashable, now: float) -> float:
        """Do it once more: 0 if that is allowed, else in how many seconds it will be, and nothing is changed."""
        if (window := self._open(key, now)) is None:
            self._evict(now)
            self._windows[key] = Window(now, 1)
            self._windows.move_to_end(key)
            return 0.0
        if window.taken >= self.times:
            return window.begun + self.seconds - now
        window.taken += 1
        return 0.0

    def give_back(self, key: Hashable, taken: float) -> None:
        """Undo what was taken at a time, unless the window in which that was is over."""
        window = self._windows.get(key)
        if window is not None and window.begun <= taken:
            window.taken -= 1
            if not window.taken:
                del self._windows[key]

    def wait(self, key: Hashable, now: float) -> float:
        """In how many seconds it is allowed; 0 if it is now."""
        window = self._open(key, now)
        return 0.0 if window is None or window.taken < self.times else window.begun + self.seconds - now

    def left(self, key: Hashable, now: float) -> tuple[int, float]:
        """How many times it may still be done, and in how many seconds all of them are there again."""
        window = self._open(key, now)
        return (self.times, 0.0) if window is None else (self.times - window.taken, window.begun + self.seconds - now)

    def _open(self, key: Hashable, now: float) -> Window | None:
        window = self._windows.get(key)
        return window if window is not None and window.begun + self.seconds > now else None

    def _evict(self, now: float) -> None:
        windows = self._windows
        for _ in range(EVICTED):
            oldest = next(iter(windows.values()), None)
            if oldest is None or (len(windows) < self.most and oldest.begun + self.seconds > now):
                return
            windows.popitem(last=False)
