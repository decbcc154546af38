"""Redraws the screen when the terminal is resized."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.live import Live


@contextmanager
def redraw_on_resize(draw: Callable[[], RenderableType], live: Live) -> Iterator[None]:
    """Clear and redraw the screen on SIGWINCH: terminals differ in how they rewrap the old lines."""

    def redraw() -> None:
        live.console.clear()
        live.update(draw(), refresh=True)

    if not hasattr(signal, "SIGWINCH"):  # Windows: the next update has the right size
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, redraw)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
