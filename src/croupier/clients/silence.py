"""Notices that a peer that owes an answer is silent."""

import asyncio
from collections.abc import Callable, Sequence


class SilenceWatch:
    """Calls each function once when a silence has lasted for its number of seconds, in ascending order.

    `waiting` says whether the peer owes an answer. `reset` begins a new silence at no cost: the timer is not touched,
    and looks only when a function could be due.
    """

    def __init__(self, waiting: Callable[[], bool], due: Sequence[tuple[float, Callable[[], None]]]) -> None:
        self._waiting = waiting
        self._due = due
        self._loop = asyncio.get_running_loop()
        self.reset(self._loop.time())
        self._timer = self._loop.call_later(due[0][0], self._look)

    def reset(self, now: float) -> None:
        """The peer, or our own side, has just sent something."""
        self._since = now
        self._called = 0

    def stop(self) -> None:
        """Call nothing any more."""
        self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        if not self._waiting():
            self.reset(now)
        while self._called < len(self._due) and now >= self._since + self._due[self._called][0]:
            self._called += 1
            self._due[self._called - 1][1]()
        begun, (seconds, _) = (
            (self._since, self._due[self._called]) if self._called < len(self._due) else (now, self._due[0])
        )
        self._timer = self._loop.call_at(begun + seconds, self._look)
