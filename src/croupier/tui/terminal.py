"""The terminal of a person: the keys that are pressed, and the one screen that is shown."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import RenderableType
from rich.live import Live

from croupier.tui.keys import read_keys


class Terminal:
    """Shows what `render` returns, and has a queue of `keys`."""

    def __init__(self, render: Callable[[], RenderableType], keys: asyncio.Queue[str], live: Live) -> None:
        self.keys = keys
        self._render = render
        self._live = live

    def draw(self) -> None:
        """Show the current screen."""
        self._live.update(self._render(), refresh=True)

    def redraw(self) -> None:
        """Clear the terminal and show the current screen."""
        self._live.console.clear()
        self.draw()


@contextmanager
def open_terminal(render: Callable[[], RenderableType]) -> Iterator[Terminal]:
    """Use standard input and output as a terminal for what `render` returns; restore its mode on exit."""
    with read_keys() as keys, Live(auto_refresh=False) as live:
        terminal = Terminal(render, keys, live)
        with _redraw_on_resize(terminal):
            yield terminal


@contextmanager
def _redraw_on_resize(terminal: Terminal) -> Iterator[None]:
    """Redraw the screen on SIGWINCH: terminals differ in how they rewrap the old lines."""
    if not hasattr(signal, "SIGWINCH"):  # Windows: the next update has the right size
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, terminal.redraw)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
