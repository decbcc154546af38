"""`croupier matrix`: a class, in which every client plays at every server."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from croupier.cli.output import fail, show

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.conformance.matrix.cells import Cell
    from croupier.conformance.matrix.matrix import Plan


def matrix(
    folder: Path,
    /,
    *,
    room: str | None = None,
    games: int = 3,
    jobs: int | None = None,
    timeout: float = 10.0,
    output: int = 1 << 20,
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
    output:
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

    from croupier.cli.tap import house_room, options
    from croupier.conformance.matrix.matrix import Plan
    from croupier.conformance.matrix.submission import reference, submissions
    from croupier.rooms import HOUSES

    console = Console(highlight=False)
    try:
        for name, found in (("games", games), ("jobs", 1 if jobs is None else jobs), ("output", output)):
            if found < 1:
                raise ValueError(f"found --{name} {found}; allowed: 1 or more")
        if not timeout > 0:
            raise ValueError(f"found --timeout {timeout:g}; allowed: more than 0")
        known = {name: str(value) for name, value in (("dialect", dialect), ("decks", decks)) if value is not None}
        if known and room is None:
            raise ValueError(f"found --{next(iter(known))} without --room; allowed: both")
        handed_in = submissions(folder, out)
        played = [each.commands.keys() for each in handed_in]
        rooms = [house_room(room)] if room else [HOUSES[each] for each in HOUSES if any(each in one for one in played)]
        if not rooms:
            raise ValueError(f"found no submission for any of the rooms; allowed: {', '.join(HOUSES)}")
        plan = Plan(
            rooms=rooms,
            submissions=handed_in if no_reference else (*handed_in, reference()),
            out=out,
            conversations=games,
            jobs=jobs or os.cpu_count() or 1,
            seconds=timeout,
            output=output,
            own={each.name: options(each, known) for each in rooms},
            strict=strict,
            fresh=fresh,
        )
        return _play(plan, console)
    except (ValueError, OSError) as error:
        return fail(error, 2)


def _play(plan: "Plan", console: "Console") -> int:
    """Play, and write down what came of it; the exit status."""
    import asyncio

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from croupier.conformance.matrix.grid import grid
    from croupier.conformance.matrix.matrix import Matrix, write

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("cells", total=plan.cells)

        def finished(cell: "Cell", before: bool) -> None:
            progress.advance(bar)
            if not before and not console.is_terminal:
                show(f"{cell.room}: {cell.client} at {cell.server}: {cell.finding}")

        played = Matrix(plan, finished)
        whole = asyncio.run(played.play())  # it starts programs in a third of the time that uvloop takes
    cells = played.in_order()
    write(plan, cells, whole=whole)
    for part in grid(cells, plan.submissions, {room.name: room.title for room in plan.rooms}, console.width):
        console.print(part)
    left = plan.cells - len(cells)
    state = "" if whole else f"; left are {left:,}: the same command goes on with them"
    show(f"{len(cells):,} of {plan.cells:,} cells are in {plan.out}{state}")
    return 0 if whole else 130
