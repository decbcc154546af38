"""`croupier solve`: compute the value of a game and its optimal play."""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Group, Parameter
from rich.console import Console
from rich.padding import PaddingDimensions
from rich.progress import Progress
from rich.table import Table

from croupier.cli.output import use_utf8_output
from croupier.core.python_files import describe_error, load_object, split_python_file
from croupier.rooms.blackjack import solution as blackjack_solution
from croupier.rooms.kuhn import solution as kuhn_solution
from croupier.rooms.kuhn.rules import KUHN
from croupier.rooms.oldmaid.odds import solution as oldmaid_solution
from croupier.rooms.sevenhalf import solution as sevenhalf_solution
from croupier.strategy.best_response import Checkpoint, ValueBounds
from croupier.strategy.game_tree import GameTree
from croupier.strategy.solution import Grid, Solution, SolutionRecord, headline
from croupier.strategy.zero_sum import find_equilibrium, interior_point_checkpoints

app = App(name="solve")

METHOD = Group("Method", sort_key=1)
OUTPUT = Group("Output", sort_key=2)

RULES_NAME = "RULES"
"""The object in a rules file that is solved if no other is named."""

PROGRESS_DELAY_SECONDS = 1.0
"""The progress bar appears after this time."""

PADDINGS: Final[Sequence[PaddingDimensions]] = ((0, 1), (0, 1, 0, 0), (0, 0))
"""The padding of table cells to choose from: both sides, right side, none."""

UNLIMITED_WIDTH_COLUMNS: Final = 10_000
"""Wider than any table."""

PROGRESS_INTERVAL_SECONDS = 0.1


@dataclass(frozen=True)
class OutputOptions:
    """The format of the solution. The default is tables."""

    csv: bool = False
    """Print every decision as CSV, with the value of each move as a fraction and as a decimal."""

    json: bool = False
    """Print every decision and the value of the game as JSON."""


@dataclass(frozen=True)
class MethodOptions:
    """How the equilibrium of a game for two players is computed."""

    method: Literal["lp", "cfr+"] = "lp"
    """lp: a linear program, whose result is exact or nearly so. cfr+: regret minimization, which approaches it."""

    rounds: int = 1_000
    """Rounds of cfr+."""

    plot: Path | None = None
    """Draw to this file (.svg, .png or .pdf) how the bounds of the value approach each other."""


type OutputFlags = Annotated[OutputOptions, Parameter(name="*", group=OUTPUT)]
type MethodFlags = Annotated[MethodOptions, Parameter(name="*", group=METHOD)]


@app.command(name="kuhn")
def solve_kuhn(*, method: MethodFlags = MethodOptions(), output: OutputFlags = OutputOptions()) -> int:
    """Solve Kuhn poker: its value, and all optimal strategies of both seats (with cfr+ one strategy for each)."""

    def solve() -> Solution:
        if method.method == "lp" and method.plot is None:
            return kuhn_solution.solve()
        described = _solve_tree("Kuhn poker", GameTree(KUHN), method)
        return kuhn_solution.solve() if method.method == "lp" else described

    return _solve_and_print(solve, output)


@app.default
def solve_file(
    file: str | None = None, /, *, method: MethodFlags = MethodOptions(), output: OutputFlags = OutputOptions()
) -> int:
    """Solve a game for two players whose rules are in a Python file.

    Parameters
    ----------
    file:
        The Python file, which defines `RULES`, an object with the methods of `croupier.Rules`; or
        FILE.py:NAME for another name.
    """
    if file is None:
        from croupier.cli import app as croupier

        croupier.help_print([*app.name])
        return 0
    parts = split_python_file(file)
    if parts is None or parts[2] is not None:
        games = ", ".join(name for name in app if not name.startswith("-"))
        raise ValueError(f"found the game {file!r}; allowed: {games}, FILE.py")
    path, name, _ = parts
    rules: Any = load_object(path, name or RULES_NAME)
    try:
        tree = GameTree(rules)
    except Exception as error:  # whatever the code of the file raises
        raise ValueError(f"found the game {file!r}, which cannot be solved: {describe_error(error)}") from error
    return _solve_and_print(lambda: _solve_tree(path.name, tree, method), output)


@app.command(name="sevenhalf")
def solve_sevenhalf(*, max_bet: int = 1, output: OutputFlags = OutputOptions()) -> int:
    """Solve seven and a half: the optimal decision and the value at each total.

    Parameters
    ----------
    max_bet:
        Largest total bet, as a multiple of the starting bet.
    """
    return _solve_and_print(lambda: sevenhalf_solution.solve(max_bet, track_progress), output)


@app.command(name="blackjack")
def solve_blackjack(*, decks: int = 1, output: OutputFlags = OutputOptions()) -> int:
    """Solve blackjack: the optimal decision by total and bank card, and the hands that are exceptions.

    Parameters
    ----------
    decks:
        Number of decks in the shoe.
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
    """Solve Old Maid: how often each seat loses, with 2 to 8 players.

    Parameters
    ----------
    players:
        Number of players. [default: 2 to 8, one after the other]
    games:
        Number of games to simulate with more than four players. Up to four players the result is exact.
    seed:
        Seed for the simulation.
    """
    return _solve_and_print(lambda: oldmaid_solution.solve(players, games, seed, track_progress), output)


def _solve_tree(title: str, tree: GameTree, options: MethodOptions) -> Solution:
    """Solve a game with the chosen method, and draw the plot if one is asked for."""
    from croupier.strategy.rules_solution import describe_equilibrium

    checkpoints: list[Checkpoint] = []
    if options.method == "cfr+":
        from croupier.strategy.cfr_plus import solve_with_cfr_plus

        rounds = options.rounds
        equilibrium = solve_with_cfr_plus(tree, rounds, checkpoints.append, track_progress)
        solution = describe_equilibrium(title, tree, equilibrium, rounds=rounds)
    else:
        equilibrium = find_equilibrium(tree)
        solution = describe_equilibrium(title, tree, equilibrium)
    if options.plot is not None:
        from croupier.cli.convergence_plot import Convergence, plot_convergence

        if options.method == "cfr+":
            run = Convergence("CFR+", "rounds", checkpoints)
            equilibrium = find_equilibrium(tree)
        else:
            points = [*interior_point_checkpoints(tree)]
            run = Convergence("linear program", "iterations of the interior-point method", points)
        plot_convergence(title, run, equilibrium.value, options.plot)
    return solution


def _solve_and_print(solve: Callable[[], Solution], output: OutputOptions) -> int:
    if output.csv and output.json:
        raise ValueError("found --csv and --json; allowed: one of them")
    solved = solve()
    if output.csv or output.json:
        use_utf8_output()
    (print_solution_csv if output.csv else print_solution_json if output.json else print_solution_tables)(solved)
    return 0


def track_progress[T](portions: Sequence[T], console: Console | None = None) -> Iterator[T]:
    """Yield all `portions`. After `PROGRESS_DELAY_SECONDS` a progress bar appears on standard error."""
    console = console or Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("solving", total=len(portions), visible=False)
        next_update = perf_counter() + PROGRESS_DELAY_SECONDS
        for number, portion in enumerate(portions):
            yield portion
            if (now := perf_counter()) > next_update:
                next_update = now + PROGRESS_INTERVAL_SECONDS
                progress.update(task, completed=number, visible=True)


def print_solution_tables(solved: Solution) -> None:
    """Print a solution as tables."""
    console = Console(highlight=False)
    console.print(f"{headline(solved)}\n", soft_wrap=True)  # do not break a fraction of 90 digits
    for grid in solved.grids:
        console.print(fit_table(grid, console))
    for note in solved.notes:
        console.print(note, markup=False)


def fit_table(grid: Grid, console: Console) -> Table:
    """Return a table with the widest padding that fits the terminal."""
    unlimited = console.options.update(max_width=UNLIMITED_WIDTH_COLUMNS)
    tables = [_build_table(grid, padding) for padding in PADDINGS]
    return next(
        (each for each in tables if console.measure(each, options=unlimited).maximum <= console.width), tables[-1]
    )


def _build_table(grid: Grid, padding: PaddingDimensions) -> Table:
    table = Table(*grid.head, title=grid.title, title_justify="left", padding=padding)
    for row in grid.rows:
        table.add_row(*row)
    return table


def print_solution_csv(solved: Solution) -> None:
    """Print every decision as CSV. A fraction has two columns: exact and decimal."""
    writer = csv.DictWriter(sys.stdout, [*flatten_record(solved.records[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flatten_record, solved.records))


def print_solution_json(solved: Solution) -> None:
    """Print the value and every decision as JSON, one decision per line. See `exact_and_decimal` for fractions."""
    head: dict[str, object] = {
        "game": solved.title,
        "settings": dict(solved.settings),
        "value": _value_as_json(solved.value),
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


def _value_as_json(value: Fraction | ValueBounds | None) -> object:
    """A value as JSON: without an exact one the decimal is the middle of the proved bounds `low` and `high`."""
    if isinstance(value, ValueBounds):
        low, high = value.as_floats()
        return {"exact": None, "decimal": float(value.middle), "low": low, "high": high}
    return None if value is None else exact_and_decimal(value)


def flatten_record(record: SolutionRecord) -> dict[str, object]:
    """Return a record as a CSV row: every fraction, or None in its place, gets a second column NAME_decimal."""
    row: dict[str, object] = {}
    for name, value in record.items():
        row[name] = value
        if value is None or isinstance(value, Fraction):
            row[f"{name}_decimal"] = value if value is None else float(value)
    return row


def exact_and_decimal(number: Fraction) -> dict[str, str | float]:
    """Return a fraction as an exact string and as a float.

    >>> exact_and_decimal(Fraction(-1, 4))
    {'exact': '-1/4', 'decimal': -0.25}
    """
    return {"exact": str(number), "decimal": float(number)}
