"""The matrix on a terminal: a table per room, with scores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import batched
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from croupier.conformance.matrix.cells import LOOKS, Cell
from croupier.conformance.matrix.chart import cell_label, legend
from croupier.conformance.matrix.standings import score
from croupier.conformance.matrix.submission import Submission
from croupier.core.text import printable

MIN_NAME_COLUMNS: Final = 20
"""The minimum width of the column with the names of servers; a longer word widens it."""

MIN_CELL_COLUMNS: Final = 3
"""The scores of the clients stand in the same columns as the cells."""

FRAME_COLUMNS: Final = 16
"""The columns of the terminal that the numbers and scores of the servers take."""


def grid(
    cells: Sequence[Cell], submissions: Sequence[Submission], rooms: Mapping[str, str], width: int
) -> Iterator[Table | Text]:
    """Yield the tables of all rooms (`rooms` maps names to titles), with as many clients in each as fit.

    `width` is that of the terminal. Clients have the same numbers as servers.
    """
    numbers = {each.id: str(number) for number, each in enumerate(submissions, start=1)}
    for room, title in rooms.items():
        own = [cell for cell in cells if cell.room == room]
        clients = [each for each in submissions if any(cell.client == each.id for cell in own)]
        widest = 2 + max(MIN_CELL_COLUMNS, *(len(cell_label(cell)) for cell in own), 0)
        words = [word for each in submissions for word in printable(each.name).split()]
        name = max(MIN_NAME_COLUMNS, min(max(map(cell_len, words), default=0), width // 2))
        most = max(1, (width - FRAME_COLUMNS - name) // widest)
        yield Text(f"{title}: servers (rows), clients (columns)", "bold")
        for part in batched(clients, most):
            yield _table(own, submissions, part, numbers, name)
    yield Text("; ".join(legend()), "dim")


def _table(
    cells: Sequence[Cell],
    submissions: Sequence[Submission],
    clients: Sequence[Submission],
    numbers: Mapping[str, str],
    name: int,
) -> Table:
    found = {(cell.server, cell.client): cell for cell in cells}
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("server", overflow="fold", max_width=name)
    table.add_column("%", justify="right", no_wrap=True)
    for client in clients:
        table.add_column(numbers[client.id], justify="center", no_wrap=True)
    for each in submissions:
        row = [_entry(found.get((each.id, client.id))) for client in clients]
        if any(row):
            table.add_row(numbers[each.id], Text(printable(each.name)), _percent(cells, each, "server"), *row)
    table.add_section()
    table.add_row("", "client %", "", *(_percent(cells, each, "client") for each in clients))
    return table


def _percent(cells: Sequence[Cell], each: Submission, role: str) -> str:
    percent = score(cells, each, role).percent
    return "" if percent is None else f"{percent:.0f}"


def _entry(cell: Cell | None) -> Text:
    return Text() if cell is None else Text(cell_label(cell), LOOKS[cell.finding.kind].style)
