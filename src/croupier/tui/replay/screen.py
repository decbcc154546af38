"""A story on the terminal: forward and back by keys; or all of it in lines, where that is no terminal."""

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.text import Text

from croupier.tui.frame import Frame, printable
from croupier.tui.keys import END, ENTER, keys
from croupier.tui.replay.steps import Story
from croupier.tui.resize import redrawing
from croupier.tui.scene import WIDTH

FORWARD: Final = {"\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB", " ", ENTER, "n", "l"}
BACK: Final = {"\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "p", "h"}
FIRST: Final = {"\x1b[H", "\x1bOH", "\x1b[1~", "g"}
LAST: Final = {"\x1b[F", "\x1bOF", "\x1b[4~", "G"}
LEAVE: Final = {"q", END}
HINT: Final = "[Space/right] forward  [left] back  [Home] [End]  [q] leave"
BEFORE: Final = 5
"""So many of the steps before are told, too."""


class Reader:
    """Where in a story somebody is."""

    def __init__(self, story: Story) -> None:
        self.at = 0
        self._story = story

    def press(self, key: str) -> bool:
        """Go where a key leads; false if it leads away."""
        last = len(self._story.steps) - 1
        if key in FORWARD:
            self.at = min(self.at + 1, last)
        elif key in BACK:
            self.at = max(self.at - 1, 0)
        elif key in FIRST:
            self.at = 0
        elif key in LAST:
            self.at = last
        return key not in LEAVE

    def draw(self) -> RenderableType:
        """The table after this step, and what was told last."""
        steps = self._story.steps
        step = steps[self.at]
        past = [printable(each.told) for each in steps[max(0, self.at - BEFORE) : self.at]]
        above = [Text("\n".join(map(printable, step.shows)))] if step.shows else []
        below = [
            Text(printable(step.told), style="bold"),
            Text(f"Step {self.at + 1} of {len(steps)}   {HINT}", style="reverse"),
        ]
        return Constrain(Frame(self._story.title, above, past, below), WIDTH)


async def show(story: Story) -> None:
    """Let somebody look at a story on the terminal until he leaves."""
    reader = Reader(story)
    with keys() as pressed, Live(auto_refresh=False) as live, redrawing(reader.draw, live):
        live.update(reader.draw(), refresh=True)
        while reader.press(await pressed.get()):
            live.update(reader.draw(), refresh=True)


def told(story: Story) -> Iterator[str]:
    """A story in lines: its title, all steps with their numbers, and how the table looks at the end."""
    yield story.title
    for number, step in enumerate(story.steps, start=1):
        yield f"{number:>4}  {step.told}"
    yield from story.steps[-1].shows
