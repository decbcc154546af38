"""The matrix on a terminal: a table per room, with scores."""

from collections.abc import Iterator, Sequence
from itertools import batched
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from croupier.conformance.matrix.cells import LOOKS, Cell
from croupier.conformance.matrix.chart import cell_label, legend
from croupier.conformance.matrix.standings import Results
from croupier.conformance.matrix.submission import Submission
from croupier.core.text import printable

MIN_NAME_COLUMNS: Final = 20
"""The minimum width of the column with the names of servers; a longer word widens it."""

MIN_CELL_COLUMNS: Final = 3
"""The scores of the clients stand in the same columns as the cells."""

FRAME_COLUMNS: Final = 16
"""The columns of the terminal that the numbers and scores of the servers take."""


def grid(results: Results, width: int) -> Iterator[Table | Text]:
    """Yield the tables of all rooms, with as many clients in each as fit. Clients have the same numbers as servers.

    `width` is that of the terminal.
    """
    submissions = results.submissions
    for room, title in results.titles.items():
        own = [cell for cell in results.cells if cell.room == room]
        clients = [each for each in submissions if any(cell.client == each.id for cell in own)]
        widest = 2 + max(MIN_CELL_COLUMNS, *(len(cell_label(cell)) for cell in own), 0)
        words = [word for each in submissions for word in printable(each.name).split()]
        name = max(MIN_NAME_COLUMNS, min(max(map(cell_len, words), default=0), width // 2))
        most = max(1, (width - FRAME_COLUMNS - name) // widest)
        yield Text(f"{title}: servers (rows), clients (columns)", "bold")
        for part in batched(clients, most):
            yield _table(results, room, part, name)
    yield Text("; ".join(legend()), "dim")


def _table(results: Results, room: str, clients: Sequence[Submission], name: int) -> Table:
    """The cells of some clients in a room; names take at most `name` columns."""
    found = {(cell.server, cell.client): cell for cell in results.cells if cell.room == room}
    numbers = {each.id: str(number) for number, each in enumerate(results.submissions, start=1)}

    def percent(each: Submission, role: str) -> str:
        found = results.score(each, role, room).percent
        return "" if found is None else f"{found:.0f}"

    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("server", overflow="fold", max_width=name)
    table.add_column("%", justify="right", no_wrap=True)
    for client in clients:
        table.add_column(numbers[client.id], justify="center", no_wrap=True)
    for each in results.submissions:
        row = [_entry(found.get((each.id, client.id))) for client in clients]
        if any(row):
            table.add_row(numbers[each.id], Text(printable(each.name)), percent(each, "server"), *row)
    table.add_section()
    table.add_row("", "client %", "", *(percent(each, "client") for each in clients))
    return table


def _entry(cell: Cell | None) -> Text:
    return Text() if cell is None else Text(cell_label(cell), LOOKS[cell.finding.kind].style)
