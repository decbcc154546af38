"""The size of the terminal, when somebody changes it."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.live import Live


@contextmanager
def redraw_on_resize(draw: Callable[[], RenderableType], live: Live) -> Iterator[None]:
    """Draw everything anew when the terminal has another size: nobody knows what it has made of the lines."""

    def redraw() -> None:
        live.console.clear()
        live.update(draw(), refresh=True)

    if not hasattr(signal, "SIGWINCH"):  # Windows: what is drawn next has the right size
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, redraw)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
