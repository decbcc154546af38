"""The whole terminal as a screen that is drawn again at every change of its contents and its size."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Self

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.styles import Style

from croupier.tui.renderer import STYLES, Line
from croupier.tui.table_keys import HANGUP

ESCAPE_TIMEOUT_SECONDS = 0.05
"""How long Esc waits for the rest of the code of an arrow or function key."""

END_SIGNALS = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
"""The signals that end the program: the terminal has to be restored first."""


class Screen:
    """Shows what `draw` returns for a number of columns and rows, and calls `press` with every key.

    Keys have the names of prompt_toolkit. A terminal that is gone, and SIGTERM, press HANGUP. Enter it with `async
    with`; leaving the context restores the terminal.
    """

    def __init__(self, draw: Callable[[int, int], Sequence[Line]], press: Callable[[str], None]) -> None:
        self._draw = draw
        self._press = press
        bindings = KeyBindings()
        bindings.add(Keys.Any, eager=True)(self._on_key)
        bindings.add(Keys.SIGINT)(self._on_key)
        self._app: Application[None] = Application(
            layout=Layout(Window(FormattedTextControl(self._fragments, show_cursor=False), always_hide_cursor=True)),
            key_bindings=bindings,
            style=Style.from_dict(STYLES),
            full_screen=True,
        )
        self._app.ttimeoutlen = ESCAPE_TIMEOUT_SECONDS
        self._task: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        for number in END_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, self._press, HANGUP)
        return self

    async def __aexit__(self, *error: object) -> None:
        for number in END_SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)
        if self._app.is_running:
            self._app.exit()
        await self._task

    def redraw(self) -> None:
        """Draw what has changed."""
        self._app.invalidate()

    async def _run(self) -> None:
        try:
            await self._app.run_async()
        except (EOFError, OSError):  # the terminal is closed
            self._press(HANGUP)

    def _on_key(self, event: KeyPressEvent) -> None:
        key = event.key_sequence[-1].key
        self._press(key.value if isinstance(key, Keys) else key)
        self.redraw()

    def _fragments(self) -> StyleAndTextTuples:
        size = self._app.output.get_size()
        fragments: StyleAndTextTuples = []
        for line in self._draw(size.columns, size.rows):
            fragments += [*line, ("", "\n")]
        return fragments[:-1]
