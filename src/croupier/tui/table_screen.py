"""A table on the screen of a terminal."""

import asyncio
import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from typing import Self

from croupier.core.presentation import TableView, Text
from croupier.tui.renderer import Line, plain_lines, render, render_help
from croupier.tui.screen import Screen
from croupier.tui.table_keys import Choice, TableKeys


class TableScreen:
    """A `Display` on a screen. When it ends, the last view is printed, so that it stays in the terminal."""

    def __init__(self, place: str, rules: Text, view: TableView) -> None:
        self._place = place
        self._rules = rules
        self._view = view
        self._keys = TableKeys(view)
        self._choices: asyncio.Queue[Choice] = asyncio.Queue()
        self._screen = Screen(self._draw, self._press)

    async def __aenter__(self) -> Self:
        await self._screen.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._screen.__aexit__(*error)
        self._keys.is_help_shown = False
        for line in plain_lines(self._draw(*get_terminal_size())):
            print(line)
        sys.stdout.flush()

    def show(self, view: TableView) -> None:
        """See `Display.show`."""
        self._view = view
        self._keys.update(view)
        self._screen.redraw()

    def notify(self, notice: Text | None) -> None:
        """See `Display.notify`."""
        self._keys.notice = notice
        self._screen.redraw()

    async def choose(self) -> Choice:
        """See `Display.choose`."""
        return await self._choices.get()

    def _press(self, key: str) -> None:
        choice = self._keys.press(key)
        if choice is not None:
            self._choices.put_nowait(choice)

    def _draw(self, columns: int, rows: int) -> Sequence[Line]:
        if self._keys.is_help_shown:
            return render_help(self._view, self._place, self._rules, columns, rows)
        return render(self._view, self._place, self._keys, columns, rows)
