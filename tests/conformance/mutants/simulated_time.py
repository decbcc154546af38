"""An event loop with simulated time: it skips a pause as soon as no socket has anything to read or write."""

import asyncio
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

SETTLE_SECONDS = 0.0003
"""Real time in which data may still arrive over loopback before the clock is set forward."""

MAX_BUSY_SECONDS = 20.0
"""A thread that runs for longer in real time, without a message, is in an endless loop."""


class SkippingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # the best selector of the platform
    """Skips the time for which it would block. `skipped_seconds` is the sum of the skipped times.

    No time is skipped while one of `running_threads` threads of a program does not wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.skipped_seconds = 0.0
        self.running_threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.running_threads:
            ready = super().select(MAX_BUSY_SECONDS)
            if not ready:
                raise RuntimeError(f"a thread has been running for {MAX_BUSY_SECONDS} seconds")
            return ready
        if timeout is None:
            return super().select(None)
        time.sleep(SETTLE_SECONDS)  # the timeout of epoll is a whole number of milliseconds
        ready = super().select(0)
        if not ready and not self.running_threads:
            self.skipped_seconds += timeout
        return ready


class SimulatedTimeLoop(asyncio.SelectorEventLoop):
    """Everything takes place in this process: both ends of a connection, and all timeouts.

    Its own work takes processor time, so that other processes do not make it slow.
    """

    def __init__(self) -> None:
        self._skipping_selector = SkippingSelector()
        self._counting = threading.Lock()
        super().__init__(self._skipping_selector)

    def time(self) -> float:
        return time.process_time() + self._skipping_selector.skipped_seconds

    def count_running(self, change: int) -> None:
        """Count a thread that begins (1) or ceases (-1) to run; the loop looks at the time again."""
        with self._counting:
            self._skipping_selector.running_threads += change
        if change < 0:
            self.post(lambda: None)

    def post(self, callback: Callable[[], object]) -> None:
        """Call this in the thread of the loop, unless the loop has been closed."""
        with suppress(RuntimeError):
            self.call_soon_threadsafe(callback)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        """Count the thread that runs the function."""
        self.count_running(1)
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(lambda _: self.count_running(-1))
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait for the threads without a limit: simulated time would be over at once."""
        await super().shutdown_default_executor(None)


def run_in_simulated_time[T](main: Coroutine[Any, Any, T], **_: object) -> T:
    """Run a coroutine; the pauses in it take no time."""
    with asyncio.Runner(loop_factory=SimulatedTimeLoop) as runner:
        return runner.run(main)
