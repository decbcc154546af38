"""Shows a replay: interactively on a terminal, or as lines of text."""

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.tui.frame import SceneFrame, terminal_text
from croupier.tui.keys import END_OF_INPUT, ENTER
from croupier.tui.replay.steps import GameReplay
from croupier.tui.scene import SCENE_WIDTH_COLUMNS
from croupier.tui.terminal import open_terminal

FORWARD_KEYS: Final = {"\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB", " ", ENTER, "n", "l"}
BACK_KEYS: Final = {"\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "p", "h"}
FIRST_KEYS: Final = {"\x1b[H", "\x1bOH", "\x1b[1~", "g"}
LAST_KEYS: Final = {"\x1b[F", "\x1bOF", "\x1b[4~", "G"}
LEAVE_KEYS: Final = {"q", END_OF_INPUT}
HINT: Final = "[Space/right] forward  [left] back  [Home] [End]  [q] leave"
MAX_PREVIOUS_STEPS: Final = 5


class ReplayScreen:
    """The current position in a replay."""

    def __init__(self, replay: GameReplay) -> None:
        self.position = 0
        self._replay = replay

    def press(self, key: str) -> bool:
        """Move to another step. Return False if the key quits."""
        last = len(self._replay.steps) - 1
        if key in FORWARD_KEYS:
            self.position = min(self.position + 1, last)
        elif key in BACK_KEYS:
            self.position = max(self.position - 1, 0)
        elif key in FIRST_KEYS:
            self.position = 0
        elif key in LAST_KEYS:
            self.position = last
        return key not in LEAVE_KEYS

    def draw(self) -> RenderableType:
        """Return the screen: the table after the current step, and the latest steps."""
        steps = self._replay.steps
        step = steps[self.position]
        past = [terminal_text(each.text) for each in steps[max(0, self.position - MAX_PREVIOUS_STEPS) : self.position]]
        above = [Text("\n".join(map(terminal_text, step.table_lines)))] if step.table_lines else []
        below = [
            Text(terminal_text(step.text), style="bold"),
            Text(f"Step {self.position + 1} of {len(steps)}   {HINT}", style="reverse"),
        ]
        return Constrain(SceneFrame(self._replay.title, above, past, below), SCENE_WIDTH_COLUMNS)


async def show_replay(replay: GameReplay) -> None:
    """Show a replay on the terminal until the person quits."""
    screen = ReplayScreen(replay)
    with open_terminal(screen.draw) as terminal:
        terminal.draw()
        while screen.press(await terminal.keys.get()):
            terminal.draw()


def replay_lines(replay: GameReplay) -> Iterator[str]:
    """Yield a replay as lines: its title, the numbered steps, and the table at the end."""
    yield replay.title
    for number, step in enumerate(replay.steps, start=1):
        yield f"{number:>4}  {step.text}"
    yield from replay.steps[-1].table_lines
