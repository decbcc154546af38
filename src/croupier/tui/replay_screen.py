"""Shows a replay on the screen of a terminal."""

import asyncio
from shutil import get_terminal_size
from typing import Final

from croupier.core.presentation import TableView, text
from croupier.replay.steps import GameReplay
from croupier.tui.encoding import terminal_text
from croupier.tui.renderer import Line, plain_lines, styled_line, styled_lines, table_lines
from croupier.tui.screen import Screen
from croupier.tui.table_keys import DOWN, ENTER, LEAVE_KEYS, UP
from croupier.tui.texts import money_text

FORWARD_KEYS: Final = {"right", DOWN, " ", ENTER, "n", "l"}
BACK_KEYS: Final = {"left", UP, "p", "h"}
FIRST_KEYS: Final = {"home", "g"}
LAST_KEYS: Final = {"end", "G"}
HINT: Final = text("[Space/right] forward  [left] back  [Home] [End]  [q] leave")
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
        return key != "q" and key not in LEAVE_KEYS

    def draw(self, columns: int, rows: int) -> list[Line]:
        """Return the screen: the table after the current step, and the latest steps."""
        steps = self._replay.steps
        step = steps[self.position]
        past = steps[max(0, self.position - MAX_PREVIOUS_STEPS) : self.position]
        number = text("Step {number} of {count}", number=self.position + 1, count=len(steps))
        position = f"{terminal_text(number)}   {terminal_text(HINT)}"
        below = [
            *styled_lines("news", step.note, columns),
            *styled_lines("keys", position, columns),
        ]
        above = [
            *(styled_line("quiet", line, columns) for line in self._replay.head),
            *([] if step.table is None else _table_lines(step.table, columns)),
            *(styled_line("quiet", each.note, columns) for each in past),
        ]
        title = styled_line("title", f" {terminal_text(self._replay.title)} ", columns)
        return [title, *above[: max(0, rows - len(below) - 1)], *below][-rows:]


def _table_lines(view: TableView, columns: int) -> list[Line]:
    below = (money_text(view), view.status)
    return [
        *table_lines(view, columns, is_drawn=False),
        *(styled_line("", line, columns) for line in below if line is not None),
    ]


async def show_replay(replay: GameReplay) -> None:
    """Show a replay on the terminal until the person quits, and print the last step."""
    replay_screen = ReplayScreen(replay)
    has_left = asyncio.Event()

    def press(key: str) -> None:
        if not replay_screen.press(key):
            has_left.set()

    async with Screen(replay_screen.draw, press):
        await has_left.wait()
    for line in plain_lines(replay_screen.draw(*get_terminal_size())):
        print(line)
