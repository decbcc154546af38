"""Counts of connections by address that the processes of one server share, without messages between them.

Every process writes to a row of its own and reads all rows, so nothing is locked. Counts are found by a hash of their
key, in two places; the smaller one is the count. It is exact unless both places are shared with other keys, and then it
is too large. Processes that count at the same moment may exceed a limit by one each.
"""

import mmap
import os
import secrets
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from croupier.net.count_limit import ConnectionCounts

SECRET_BYTES: Final = 16
"""At the beginning of the memory: the key of the hash, so that clients cannot look for addresses that share a place."""

PLACES: Final = 1 << 16
"""The number of counts in each of the two halves of a row. The first number of a row is the sum of its counts."""

ROW_LENGTH: Final = 1 + 2 * PLACES


class SharedCounts:
    """The counts of a room in memory that several processes share: a file without a name.

    `descriptor` is that of the file; other processes inherit it.
    """

    def __init__(self, descriptor: int, row_count: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, SECRET_BYTES + 4 * ROW_LENGTH * row_count)
        secret = self._memory[:SECRET_BYTES]
        numbers = memoryview(self._memory)[SECRET_BYTES:].cast("I")
        self.rows = [numbers[start : start + ROW_LENGTH] for start in range(0, ROW_LENGTH * row_count, ROW_LENGTH)]
        self.places = lru_cache(4096)(lambda key: _places(key, secret))

    @classmethod
    def create(cls, row_count: int) -> "SharedCounts":
        """Make counts for this many processes, all 0. Raises OSError."""
        with tempfile.TemporaryFile() as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.truncate(SECRET_BYTES + 4 * ROW_LENGTH * row_count)
            return cls(os.dup(file.fileno()), row_count)

    def clear(self, row: int) -> None:
        """Set the counts of a process that has ended to 0."""
        self.rows[row][:] = memoryview(bytes(4 * ROW_LENGTH)).cast("I")


class SharedCountLimit(ConnectionCounts):
    """Counts as `CountLimit` does, over the connections of all processes; this process writes to `row`."""

    __slots__ = ("_own", "_places", "_rows")

    def __init__(self, counts: SharedCounts, row: int, max_per_key: int = 0, max_total: int = 0) -> None:
        super().__init__(max_per_key, max_total)
        self._rows = counts.rows
        self._own = counts.rows[row]
        self._places = counts.places

    @property
    def total(self) -> int:
        """The sum of all counts of all processes."""
        return sum(row[0] for row in self._rows)

    def count(self, key: str) -> int:
        """Return the count of a key, or more than that if other keys share its places."""
        return min(sum(row[place] for row in self._rows) for place in self._places(key))

    def add(self, key: str) -> None:
        """Count one more."""
        for place in (0, *self._places(key)):
            self._own[place] += 1

    def remove(self, key: str) -> None:
        """Count one less."""
        for place in (0, *self._places(key)):
            self._own[place] -= 1


def _places(key: str, secret: bytes) -> Sequence[int]:
    """The two places of a key in a row."""
    digest = blake2b(key.encode(), digest_size=8, key=secret).digest()
    return 1 + int.from_bytes(digest[:4]) % PLACES, 1 + PLACES + int.from_bytes(digest[4:]) % PLACES
