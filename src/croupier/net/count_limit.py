"""Counts by key, with a limit on each of them and on all together."""

from abc import ABC, abstractmethod
from collections import Counter
from typing import Literal

type ConnectionRefusal = Literal["connections", "per_address"]
"""Why a connection is refused: there are too many in all, or too many from its address."""


class ConnectionCounts(ABC):
    """The numbers of open connections from each address; the limits 0 mean none.

    The empty address, which stands for what has none, has no limit of its own.
    """

    __slots__ = ("_max_per_key", "_max_total")

    def __init__(self, max_per_key: int = 0, max_total: int = 0) -> None:
        self._max_per_key = max_per_key
        self._max_total = max_total

    @property
    @abstractmethod
    def total(self) -> int:
        """The sum of all counts."""

    @abstractmethod
    def count(self, key: str) -> int:
        """Return the count of a key."""

    @abstractmethod
    def add(self, key: str) -> None:
        """Count one more."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Count one less."""

    def is_reached(self, key: str) -> bool:
        """Whether one more for this key would exceed its limit."""
        return bool(key and self._max_per_key) and self.count(key) >= self._max_per_key

    def connection_refusal(self, address: str) -> ConnectionRefusal | None:
        """Why one more connection from an address is refused; None if it is accepted."""
        if self._max_total and self.total >= self._max_total:
            return "connections"
        return "per_address" if self.is_reached(address) else None


class CountLimit(ConnectionCounts):
    """Counts what is open for each key, such as connections for each address."""

    __slots__ = ("_counts", "_total")

    def __init__(self, max_per_key: int = 0, max_total: int = 0) -> None:
        super().__init__(max_per_key, max_total)
        self._total = 0
        self._counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return self._total

    def count(self, key: str) -> int:
        """Return the count of a key."""
        return self._counts[key]

    def add(self, key: str) -> None:
        """Count one more."""
        self._total += 1
        self._counts[key] += 1

    def remove(self, key: str) -> None:
        """Count one less."""
        self._total -= 1
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]
