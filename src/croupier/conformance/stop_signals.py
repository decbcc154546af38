"""Ending in good order when somebody presses Ctrl-C."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that is set by SIGINT or SIGTERM, which do nothing else meanwhile."""
    loop = asyncio.get_running_loop()
    found = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows, where Ctrl-C cancels the task
            loop.add_signal_handler(number, found.set)
    try:
        yield found
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
