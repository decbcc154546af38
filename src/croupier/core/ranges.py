"""Ranges of the settings of a room."""

from typing import Final

MAX_SECONDS: Final = 366 * 86_400.0
"""The longest duration that can be set, in seconds."""


def check_ranges(*ranges: tuple[str, float, float, float]) -> None:
    """Check values, each with its name, the lowest and the highest one allowed. Raises ValueError on the first other.

    >>> check_ranges(("seats", 6, 2, 10), ("a stack", 0, 1, 10_000))
    Traceback (most recent call last):
    ...
    ValueError: found a stack: 0; allowed: 1 to 10,000
    """
    for name, value, lowest, highest in ranges:
        if not lowest <= value <= highest:
            raise ValueError(f"found {name}: {value}; allowed: {lowest:,} to {highest:,}")
