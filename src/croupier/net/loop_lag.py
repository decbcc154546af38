"""Measures how late the event loop runs its timers."""

from asyncio import AbstractEventLoop, TimerHandle
from typing import Final

from croupier.core.histogram import Histogram

SAMPLE_SECONDS: Final = 0.1


class LoopLagMonitor:
    """Sets a timer again and again, and records in `lags` by how much each one is late."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.lags = Histogram()
        self._loop = loop
        self._timer: TimerHandle | None = None
        self._set_timer()

    def close(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        due = self._loop.time() + SAMPLE_SECONDS
        self._timer = self._loop.call_at(due, self._record, due)

    def _record(self, due: float) -> None:
        self.lags.observe(max(0.0, self._loop.time() - due))
        self._set_timer()
