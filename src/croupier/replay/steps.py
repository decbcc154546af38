"""Data of a replay: steps, each with a text and the table after it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from croupier.core.presentation import TableView, Text


class ReplayStep(NamedTuple):
    """One step of a game: what happens, the lines that show the table after it, and the table as people see it.

    `note` is a str in a record of another program. `table` is None where the record does not show the table. `actor` is
    the player who acts, "" if nobody does.
    """

    note: Text | str
    table_lines: Sequence[str] = ()
    table: TableView | None = None
    actor: str = ""

    @property
    def text(self) -> str:
        """What happens, in English."""
        return str(self.note)


class GameReplay(NamedTuple):
    """The replay of one or several games; `players` are the players of a game that names them."""

    title: str
    steps: Sequence[ReplayStep]
    players: Sequence[str] = ()


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns; numbers are right-aligned.

    >>> align_columns([["player", "chips"], ["ann", "90"]])
    ['player  chips', 'ann        90']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        lines.append("  ".join(cell.rjust(width) if cell.isdecimal() else cell.ljust(width) for cell, width in cells))
    return [line.rstrip() for line in lines]


def replay_lines(replay: GameReplay) -> Iterator[str]:
    """Yield a replay as lines: its title, the numbered steps, and the table at the end."""
    yield replay.title
    for number, step in enumerate(replay.steps, start=1):
        yield f"{number:>4}  {step.text}"
    yield from replay.steps[-1].table_lines
