"""An event loop with simulated time: it skips a pause as soon as no socket has anything to read or write."""

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any

SETTLE_SECONDS = 0.0003
"""Real time in which data may still arrive over loopback before the clock is set forward."""


class SkippingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # the best selector of the platform
    """Skips the time for which it would block. `skipped_seconds` is the sum of the skipped times."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout is None or timeout <= 0:
            return ready or (super().select(timeout) if timeout is None else ready)
        time.sleep(SETTLE_SECONDS)  # the timeout of epoll is a whole number of milliseconds
        ready = super().select(0)
        if not ready:
            self.skipped_seconds += timeout
        return ready


class SimulatedTimeLoop(asyncio.SelectorEventLoop):
    """Everything takes place in this process: both ends of a connection, and all timeouts.

    Its own work takes processor time, so that other processes do not make it slow.
    """

    def __init__(self) -> None:
        self._skipping_selector = SkippingSelector()
        super().__init__(self._skipping_selector)

    def time(self) -> float:
        return time.process_time() + self._skipping_selector.skipped_seconds

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait for the threads of name look-ups without a limit: simulated time would be over at once."""
        await super().shutdown_default_executor(None)


def run_in_simulated_time[T](main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; the pauses in it take no time."""
    with asyncio.Runner(loop_factory=SimulatedTimeLoop) as runner:
        return runner.run(main)
