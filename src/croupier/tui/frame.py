"""Frame of a screen, cut to the height of the terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.segment import Segment
from rich.text import Text

from croupier.tui.cards import encodable_or


class SceneFrame:
    """A framed screen.

    If the terminal has too few lines, the oldest history lines are left out first, then the first lines of the screen:
    the last line shows the available keys.
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
        history = [Text("\n".join(self._history), style="dim")] if self._history else []
        panel = Panel(Group(*self._above, *history, *self._below), title=Text(self._title), title_align="left")
        return console.render_lines(panel, options)


def terminal_text(text: str) -> str:
    """Return a text with `?` for every character that is not printable or that the terminal cannot show.

    >>> terminal_text("a\\x1b[2J")
    'a?[2J'
    """
    return "".join(encodable_or(sign, "?") if sign.isprintable() else "?" for sign in text)
