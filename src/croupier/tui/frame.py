"""The frame around a scene, and what may stand in it."""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.segment import Segment
from rich.text import Text

from croupier.tui.cards import encodable_or


class SceneFrame:
    """A scene with a frame around it.

    Of the history there is as much as the terminal has lines for. Where even without it there are too many, the first
    ones are left out: the last ones tell what may be done.
    """

    def __init__(
        self, title: str, above: Sequence[RenderableType], history: Iterable[str], below: Sequence[RenderableType]
    ) -> None:
        self._title = terminal_text(title)
        self._above = above
        self._history = list(history)
        self._below = below

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = self._lines(console, options)
        while self._history and len(lines) > console.height:
            del self._history[0]
            lines = self._lines(console, options)
        for line in lines[-console.height :]:
            yield from line
            yield Segment.line()

    def _lines(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:
        past = [Text("\n".join(self._history), style="dim")] if self._history else []
        panel = Panel(Group(*self._above, *past, *self._below), title=Text(self._title), title_align="left")
        return console.render_lines(panel, options)


def terminal_text(text: str) -> str:
    """A text of which the terminal shows every character and obeys none."""
    return "".join(encodable_or(sign, "?") if sign.isprintable() else "?" for sign in text)
