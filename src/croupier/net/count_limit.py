"""Counts by key, with a limit on each of them."""

from collections import Counter


class CountLimit:
    """Counts what is open for each key, such as connections for each address; the default limit 0 means none.

    `total` is the sum of all counts. The empty key, which stands for what has no key, has no limit of its own.
    """

    __slots__ = ("_counts", "_max_per_key", "total")

    def __init__(self, max_per_key: int = 0) -> None:
        self.total = 0
        self._max_per_key = max_per_key
        self._counts: Counter[str] = Counter()

    def is_reached(self, key: str) -> bool:
        """Whether one more for this key would exceed its limit."""
        return bool(key and self._max_per_key) and self._counts[key] >= self._max_per_key

    def add(self, key: str) -> None:
        """Count one more."""
        self.total += 1
        self._counts[key] += 1

    def remove(self, key: str) -> None:
        """Count one less."""
        self.total -= 1
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]
