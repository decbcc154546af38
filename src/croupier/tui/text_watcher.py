"""Watching a table that a web app shows as lines of text."""

import asyncio
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from croupier.clients.web_tables import WebTables
from croupier.core.presentation import text
from croupier.net.event_loop import cancel_all
from croupier.tui.encoding import terminal_text
from croupier.tui.renderer import Line, styled_line, styled_lines
from croupier.tui.screen import Screen
from croupier.tui.table_keys import LEAVE_KEYS

POLL_SECONDS: Final = 0.5
"""The pause between two requests."""

HINT: Final = text("[q] Stop watching")
TABLE_GONE: Final = text("This table does not exist any more.")


async def print_table(tables: WebTables, table: str) -> None:
    """Print the lines of a table that are new, until it does not exist any more. Raises ConnectionError."""
    shown: Sequence[str] = ()
    while (lines := await tables.lines(table)) is not None:
        changes = SequenceMatcher(None, shown, lines, autojunk=False).get_opcodes()
        for kind, _, _, begin, end in changes:
            if kind != "equal":
                for line in lines[begin:end]:
                    print(terminal_text(line), flush=True)
        shown = lines
        await tables.wait(POLL_SECONDS)
    print(terminal_text(TABLE_GONE))


class TextScreen:
    """A table on the screen, until a key leaves it or `follow` ends."""

    def __init__(self, tables: WebTables, table: str) -> None:
        self._tables = tables
        self._table = table
        self._lines: Sequence[str] = ()
        self._has_left = asyncio.Event()

    async def show(self) -> None:
        """Show the table, and print its last state. Raises ConnectionError."""
        async with Screen(self._draw, self._press) as screen:
            following = asyncio.ensure_future(self._follow(screen))
            leaving = asyncio.ensure_future(self._has_left.wait())
            await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            await cancel_all(following, leaving)
        for line in self._lines:
            print(terminal_text(line))
        if not following.cancelled():
            following.result()
            print(terminal_text(TABLE_GONE))

    async def _follow(self, screen: Screen) -> None:
        while (lines := await self._tables.lines(self._table)) is not None:
            self._lines = lines
            screen.redraw()
            await self._tables.wait(POLL_SECONDS)

    def _press(self, key: str) -> None:
        if key == "q" or key in LEAVE_KEYS:
            self._has_left.set()

    def _draw(self, columns: int, rows: int) -> list[Line]:
        title, *below = self._lines or [""]
        lines = [
            styled_line("title", f" {terminal_text(title)} ", columns),
            *(styled for line in below for styled in styled_lines("", terminal_text(line), columns)),
        ]
        return [*lines[: max(0, rows - 1)], styled_line("keys", terminal_text(HINT), columns)]
