"""Alarms: times at which something has to be checked, set and removed cheaply."""

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf


class Alarms[K]:
    """The time of the next check of each key. `K` is ordered.

    Alarms are lazy: a postponed deadline leaves its alarm alone, and another one is set when that alarm rings too
    early. `next_at`, the time of the earliest alarm or None if there is none, may therefore be earlier than necessary.
    """

    __slots__ = ("_due", "_heap", "next_at")

    def __init__(self) -> None:
        self.next_at: float | None = None
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, K]] = []

    def set(self, key: K, due: float) -> None:
        """Set the alarm of a key, unless it rings earlier anyway."""
        if due < self._due.get(key, inf):
            self._due[key] = due
            heappush(self._heap, (due, key))
            self._tidy()

    def remove(self, key: K) -> None:
        """Remove the alarm of a key, if there is one."""
        if self._due.pop(key, None) is not None:
            self._tidy()

    def clear(self) -> None:
        """Remove all alarms."""
        self._due.clear()
        self._heap.clear()
        self.next_at = None

    def ring(self, now: float) -> Iterator[tuple[float, K]]:
        """Remove and yield the alarms that are due, with their times, the earliest first."""
        while self._heap and self._heap[0][0] <= now:
            due, key = heappop(self._heap)
            self._tidy()
            if self._due.get(key) == due:
                del self._due[key]
                yield due, key

    def _tidy(self) -> None:
        """Note the earliest entry of the heap, and once in a while remove the outdated ones."""
        if len(self._heap) > 2 * len(self._due) + 64:
            self._heap = sorted((due, key) for key, due in self._due.items())
        self.next_at = self._heap[0][0] if self._heap else None
