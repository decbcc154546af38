"""`croupier solve`: what a game is worth, and how to play it perfectly."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Annotated, Final

from cyclopts import App, Group, Parameter
from rich.console import Console
from rich.padding import PaddingDimensions
from rich.progress import Progress
from rich.table import Table

from croupier.cli.output import fail, use_utf8_output
from croupier.rooms.blackjack import solution as blackjack_solution
from croupier.rooms.kuhn import solution as kuhn_solution
from croupier.rooms.oldmaid.odds import solution as oldmaid_solution
from croupier.rooms.sevenhalf import solution as sevenhalf_solution
from croupier.strategy.solution import Grid, Solution, SolutionRecord, headline

app = App(name="solve", help="What a game is worth, and how to play it perfectly.")

OUTPUT = Group("Output", sort_key=1)

PROGRESS_DELAY_SECONDS = 1.0
"""How many seconds pass before somebody is told how far it has come."""

PADDINGS: Final[Sequence[PaddingDimensions]] = ((0, 1), (0, 1, 0, 0), (0, 0))
"""The air around the cells of a table, from much to none: both sides, one side, none."""

UNLIMITED_WIDTH_COLUMNS: Final = 10_000
"""The columns of a terminal on which every table has the width that it would like to have."""

PROGRESS_INTERVAL_SECONDS = 0.1
"""How many seconds pass until he is told again."""


@dataclass(frozen=True)
class OutputOptions:
    """How the solution is printed: as tables for people, unless one of these is given."""

    csv: bool = False
    """Print every decision as CSV, with the worth of every move, exactly and as a decimal."""

    json: bool = False
    """Print the same as JSON, with the value of the game."""


type OutputFlags = Annotated[OutputOptions, Parameter(name="*", group=OUTPUT)]


@app.command(name="kuhn")
def solve_kuhn(*, output: OutputFlags = OutputOptions()) -> int:
    """Kuhn poker: the value, and all optimal strategies of both seats."""
    return _solve_and_print(kuhn_solution.solve, output)


@app.command(name="sevenhalf")
def solve_sevenhalf(*, max_bet: int = 1, output: OutputFlags = OutputOptions()) -> int:
    """Seven and a half: what to do by total, and what every total is worth.

    Parameters
    ----------
    max_bet:
        The largest total bet, in starting bets.
    """
    return _solve_and_print(lambda: sevenhalf_solution.solve(max_bet, track_progress), output)


@app.command(name="blackjack")
def solve_blackjack(*, decks: int = 1, output: OutputFlags = OutputOptions()) -> int:
    """Blackjack: what to do by total and the bank's card, and the hands that are exceptions.

    Parameters
    ----------
    decks:
        How many decks are in the shoe.
    """
    return _solve_and_print(lambda: blackjack_solution.solve(decks, track_progress), output)


@app.command(name="oldmaid")
def solve_oldmaid(
    *,
    players: int | None = None,
    games: int = oldmaid_solution.DEFAULT_SAMPLED_GAMES,
    seed: int = 1,
    output: OutputFlags = OutputOptions(),
) -> int:
    """Old Maid: how often each seat loses, with 2 to 8 players.

    Parameters
    ----------
    players:
        How many play; if it is not given, every number of them.
    games:
        How many games are played with more than four; up to four it is reckoned without playing.
    seed:
        The number that these games' luck is made from.
    """
    return _solve_and_print(lambda: oldmaid_solution.solve(players, games, seed, track_progress), output)


def _solve_and_print(solve: Callable[[], Solution], output: OutputOptions) -> int:
    """Solve a game and print it; the exit status."""
    if output.csv and output.json:
        return fail("found --csv and --json; allowed: one of them", 2)
    try:
        solved = solve()
    except ValueError as error:
        return fail(error)
    except ModuleNotFoundError as error:
        return fail(f"found no {error.name}, which solves it; pip install 'croupier[solve]' installs it")
    if output.csv or output.json:
        use_utf8_output()
    (print_solution_csv if output.csv else print_solution_json if output.json else print_solution_tables)(solved)
    return 0


def track_progress[T](portions: Sequence[T], console: Console | None = None) -> Iterator[T]:
    """All of these; when it takes long, a bar on standard error shows how far it has come."""
    console = console or Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("solving", total=len(portions), visible=False)
        told = perf_counter() + PROGRESS_DELAY_SECONDS
        for number, portion in enumerate(portions):
            yield portion
            if (now := perf_counter()) > told:
                told = now + PROGRESS_INTERVAL_SECONDS
                progress.update(task, completed=number, visible=True)


def print_solution_tables(solved: Solution) -> None:
    """Print a solution for people."""
    console = Console(highlight=False)
    console.print(f"{headline(solved)}\n", soft_wrap=True)  # a fraction of 90 digits is one word
    for grid in solved.grids:
        console.print(fit_table(grid, console))
    for note in solved.notes:
        console.print(note, markup=False)


def fit_table(grid: Grid, console: Console) -> Table:
    """A table with as much air as the terminal has room for."""
    anywhere = console.options.update(max_width=UNLIMITED_WIDTH_COLUMNS)
    tables = [_build_table(grid, padding) for padding in PADDINGS]
    return next(
        (each for each in tables if console.measure(each, options=anywhere).maximum <= console.width), tables[-1]
    )


def _build_table(grid: Grid, padding: PaddingDimensions) -> Table:
    table = Table(*grid.head, title=grid.title, title_justify="left", padding=padding)
    for row in grid.rows:
        table.add_row(*row)
    return table


def print_solution_csv(solved: Solution) -> None:
    """Print every decision; a fraction has two columns."""
    writer = csv.DictWriter(sys.stdout, [*flatten_record(solved.records[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flatten_record, solved.records))


def print_solution_json(solved: Solution) -> None:
    """Print the value and every decision, one a line; a fraction is an object with both ways to write it."""
    head: dict[str, object] = {
        "game": solved.title,
        "settings": dict(solved.settings),
        "value": None if solved.value is None else exact_and_decimal(solved.value),
        "unit": solved.unit,
        "decisions": [],
    }
    lines = (
        json.dumps(
            {name: exact_and_decimal(value) if isinstance(value, Fraction) else value for name, value in record.items()}
        )
        for record in solved.records
    )
    sys.stdout.write(f"{json.dumps(head)[:-2]}\n{',\n'.join(lines)}\n]}}\n")


def flatten_record(record: SolutionRecord) -> dict[str, object]:
    """A record with two columns for every fraction, also where there is none."""
    row: dict[str, object] = {}
    for name, value in record.items():
        row[name] = value
        if value is None or isinstance(value, Fraction):
            row[f"{name}_decimal"] = value if value is None else float(value)
    return row


def exact_and_decimal(number: Fraction) -> dict[str, str | float]:
    """A number exactly and as a decimal."""
    return {"exact": str(number), "decimal": float(number)}
