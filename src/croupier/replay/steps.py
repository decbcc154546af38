"""Data of a replay: steps, each with a text and the table after it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from croupier.core.linear import table_content
from croupier.core.presentation import TableView, Text


class ReplayStep(NamedTuple):
    """One step of a game: what happens, and the table after it.

    `note` is a str in a record of another program. `table` is None where the record does not show the table. `actor` is
    the player who acts, "" if nobody does.
    """

    note: Text | str
    table: TableView | None = None
    actor: str = ""

    @property
    def text(self) -> str:
        """What happens, in English."""
        return str(self.note)


class GameReplay(NamedTuple):
    """The replay of one or several games; `players` are the players of a game that names them.

    `head` has lines that hold for all steps.
    """

    title: str
    steps: Sequence[ReplayStep]
    players: Sequence[str] = ()
    head: Sequence[str] = ()


def replay_lines(replay: GameReplay) -> Iterator[str]:
    """Yield a replay as lines: its title and head, the numbered steps, and the table at the end."""
    yield replay.title
    yield from replay.head
    for number, step in enumerate(replay.steps, start=1):
        yield f"{number:>4}  {step.text}"
    table = replay.steps[-1].table
    yield from () if table is None else map(str, table_content(table))
