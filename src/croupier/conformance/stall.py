"""Corrects timeouts for stalls of the tester itself: a timeout that fires late is not the peer's fault."""

from typing import Final

MIN_STALL_SECONDS: Final = 0.05
"""A timeout that fires this late shows that the tester, or the whole machine, was stalled."""

MAX_EXTRA_WAIT_SECONDS: Final = 1.0
"""A timeout is extended by the length of the stall, at most by this."""


def extra_wait(late_seconds: float) -> float:
    """Return by how many seconds to extend a timeout that has fired `late_seconds` late; 0 without a stall.

    Data that arrived during the stall has not been read yet, and the peer may have been stalled as well.

    Example:
        >>> extra_wait(0.01), extra_wait(0.5), extra_wait(9.0)
        (0.0, 0.5, 1.0)
    """
    return min(late_seconds, MAX_EXTRA_WAIT_SECONDS) if late_seconds > MIN_STALL_SECONDS else 0.0
