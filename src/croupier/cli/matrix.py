"""`croupier matrix`: a class, in which every client plays at every server."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.output import fail, print_line

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.conformance.matrix.cells import Cell
    from croupier.conformance.matrix.matrix import MatrixPlan


def matrix(
    folder: Path,
    /,
    *,
    room: str | None = None,
    games: int = 3,
    jobs: int | None = None,
    timeout: float = 10.0,
    max_output_bytes: int = 1 << 20,
    out: Path = Path("matrix"),
    strict: bool = False,
    dialect: str | None = None,
    decks: int | None = None,
    fresh: bool = False,
    no_reference: bool = False,
) -> int:
    """Let every client of a class play at every server, and tell who broke which clause.

    Each submission is a folder with a submission.toml in it. What is finished is kept: the same command goes on where
    it was interrupted, and plays what has changed anew.

    Parameters
    ----------
    folder:
        The folder with the submissions.
    room:
        Play this game alone: kuhn, sevenhalf or blackjack. Without it all that the submissions have.
    games:
        How many conversations are held in a cell.
    jobs:
        How many servers play at the same time. [default: as many as there are processors]
    timeout:
        So many seconds a server has to listen, and a client for one conversation.
    max_output_bytes:
        A program that writes more than so many bytes writes too much.
    out:
        Where the results are kept: matrix.html, matrix.json, matrix.csv for Moodle, gradescope/*.json.
    strict:
        Judge without tolerances.
    dialect:
        The dialect that is spoken, where the room has some.
    decks:
        How many decks a house shuffles together, where it may be more than one.
    fresh:
        Forget what was kept, and play everything.
    no_reference:
        Leave out our own house and client.
    """
    from rich.console import Console

    from croupier.cli.tap import find_house_room, parse_options
    from croupier.conformance.matrix.matrix import MatrixPlan
    from croupier.conformance.matrix.submission import load_submissions, reference_submission
    from croupier.rooms import HOUSE_ROOMS

    console = Console(highlight=False)
    try:
        for name, found in (("games", games), ("jobs", 1 if jobs is None else jobs), ("output", max_output_bytes)):
            if found < 1:
                raise ValueError(f"found --{name} {found}; allowed: 1 or more")
        if not timeout > 0:
            raise ValueError(f"found --timeout {timeout:g}; allowed: more than 0")
        known = {name: str(value) for name, value in (("dialect", dialect), ("decks", decks)) if value is not None}
        if known and room is None:
            raise ValueError(f"found --{next(iter(known))} without --room; allowed: both")
        handed_in = load_submissions(folder, out)
        played = [each.commands.keys() for each in handed_in]
        rooms = (
            [find_house_room(room)]
            if room
            else [HOUSE_ROOMS[each] for each in HOUSE_ROOMS if any(each in one for one in played)]
        )
        if not rooms:
            raise ValueError(f"found no submission for any of the rooms; allowed: {', '.join(HOUSE_ROOMS)}")
        plan = MatrixPlan(
            rooms=rooms,
            submissions=handed_in if no_reference else (*handed_in, reference_submission()),
            output_folder=out,
            conversations=games,
            parallel_servers=jobs or os.cpu_count() or 1,
            timeout_seconds=timeout,
            max_output_bytes=max_output_bytes,
            known_options={each.name: parse_options(each, known) for each in rooms},
            strict=strict,
            is_fresh=fresh,
        )
        return _run_matrix(plan, console)
    except (ValueError, OSError) as error:
        return fail(error, 2)


def _run_matrix(plan: "MatrixPlan", console: "Console") -> int:
    """Play, and write down what came of it; the exit status."""
    import asyncio

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from croupier.conformance.matrix.grid import grid
    from croupier.conformance.matrix.matrix import Matrix, write_results

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("cells", total=plan.cells)

        def finished(cell: "Cell", before: bool) -> None:
            progress.advance(bar)
            if not before and not console.is_terminal:
                print_line(f"{cell.room}: {cell.client} at {cell.server}: {cell.finding}")

        played = Matrix(plan, finished)
        whole = asyncio.run(played.play())  # it starts programs in a third of the time that uvloop takes
    cells = played.ordered_cells()
    write_results(plan, cells, is_complete=whole)
    for part in grid(cells, plan.submissions, {room.name: room.title for room in plan.rooms}, console.width):
        console.print(part)
    left = plan.cells - len(cells)
    state = "" if whole else f"; left are {left:,}: the same command goes on with them"
    print_line(f"{len(cells):,} of {plan.cells:,} cells are in {plan.output_folder}{state}")
    return 0 if whole else 130
