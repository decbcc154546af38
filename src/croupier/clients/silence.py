"""Notices that a peer that owes an answer is silent."""

import asyncio
from collections.abc import Callable, Sequence


class SilenceWatch:
    """Calls each callback once when a silence has lasted for its number of seconds; the callbacks are in ascending
    order.

    `is_waiting` returns whether the peer owes an answer. `reset` starts a new silence. It is cheap: it does not touch
    the timer, which runs only when a callback may be due.
    """

    def __init__(self, is_waiting: Callable[[], bool], callbacks: Sequence[tuple[float, Callable[[], None]]]) -> None:
        self._is_waiting = is_waiting
        self._callbacks = callbacks
        self._loop = asyncio.get_running_loop()
        self.reset(self._loop.time())
        self._timer = self._loop.call_later(callbacks[0][0], self._check)

    def reset(self, now: float) -> None:
        """Start a new silence: the peer or the client has just sent something."""
        self._silent_since = now
        self._called_count = 0

    def stop(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def _check(self) -> None:
        now = self._loop.time()
        if not self._is_waiting():
            self.reset(now)
        while (
            self._called_count < len(self._callbacks)
            and now >= self._silent_since + self._callbacks[self._called_count][0]
        ):
            self._called_count += 1
            self._callbacks[self._called_count - 1][1]()
        start, (seconds, _) = (
            (self._silent_since, self._callbacks[self._called_count])
            if self._called_count < len(self._callbacks)
            else (now, self._callbacks[0])
        )
        self._timer = self._loop.call_at(start + seconds, self._check)
