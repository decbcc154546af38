"""Signals that stop a command: SIGTERM, SIGINT, and SIGHUP unless it is ignored."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

SIGHUP_NAME: Final = "SIGHUP"
"""What `stop_signal_queue` receives for a SIGHUP."""


@contextmanager
def stop_signal_queue() -> Iterator[asyncio.Queue[str]]:
    """Yield a queue that receives the name of each stop signal, which has no other effect inside the block."""
    queue: asyncio.Queue[str] = asyncio.Queue()
    with _handling_stop_signals(queue.put_nowait):
        yield queue


@contextmanager
def stop_signal_event() -> Iterator[asyncio.Event]:
    """Yield an event that a stop signal sets; it has no other effect inside the block."""
    stop = asyncio.Event()
    with _handling_stop_signals(lambda _: stop.set()):
        yield stop


async def wait_for_stop_signal() -> None:
    """Wait for a stop signal, which has no other effect meanwhile."""
    with stop_signal_event() as stop:
        await stop.wait()


@contextmanager
def interrupted_once(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the first Ctrl-C; the second one raises KeyboardInterrupt.

    Nothing changes if Ctrl-C is ignored or handled already, and in a thread, since only the main thread gets signals.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def on_interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _handling_stop_signals(handler: Callable[[str], None]) -> Iterator[None]:
    """Call a handler in the event loop with the name of each stop signal."""
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        for stop_signal in _stop_signals():
            try:
                loop.add_signal_handler(stop_signal, handler, stop_signal.name)
                stack.callback(loop.remove_signal_handler, stop_signal)
            except NotImplementedError:  # Windows
                before = signal.signal(
                    stop_signal,
                    lambda received, _: loop.call_soon_threadsafe(handler, signal.Signals(received).name),
                )
                stack.callback(signal.signal, stop_signal, before)
        yield


def _stop_signals() -> list[signal.Signals]:
    """Return SIGTERM and SIGINT, and SIGHUP where it exists and is not ignored (as it is under `nohup`)."""
    stop_signals = [signal.SIGTERM, signal.SIGINT]
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        stop_signals.append(signal.SIGHUP)
    return stop_signals


def has_terminal() -> bool:
    """Whether this process has a terminal that is open: a terminal that closes sends SIGHUP, too."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
