"""`croupier matrix`: test every client of a class against every server."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from croupier.cli.containment import ContainmentOptions, report_missing_sandbox
from croupier.cli.options import build_options, check_minimum, check_positive, command_line
from croupier.cli.output import INDENT, fail, print_line, print_now
from croupier.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.conformance.matrix.cells import Cell
    from croupier.conformance.matrix.matrix import Matrix, MatrixPlan
    from croupier.web.class_view import ClassPrivacy


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
    seed: int = 1,
    weights: str = "",
    points: float = 100.0,
    visibility: Literal["visible", "hidden", "after_due_date", "after_published"] = "visible",
    fresh: bool = False,
    no_reference: bool = False,
    watch: bool = False,
    watch_port: int = 0,
    anonymous: bool = False,
    contain: Annotated[ContainmentOptions, Parameter(name="*")] = ContainmentOptions(),
) -> int:
    """Test every client of a class against every server, and report which side broke which clause.

    Each submission is a folder that contains a submission.toml. Finished cells are saved: an interrupted run continues
    where it stopped, and a later run repeats only what has changed.

    Parameters
    ----------
    folder:
        Folder that contains the submissions.
    room:
        Run this room only: kuhn, sevenhalf or blackjack. [default: every room with a submission]
    games:
        Number of conversations per cell.
    jobs:
        Number of servers to run in parallel. [default: the number of processors]
    timeout:
        Seconds for a server to start listening, and for a client to finish one conversation.
    max_output_bytes:
        Maximum output of a program, in bytes.
    out:
        Folder for the results: matrix.html, matrix.json, matrix.csv (Moodle) and gradescope/*.json.
    strict:
        Fail on deviations that the protocol tolerates.
    dialect:
        Protocol dialect, in rooms that have several.
    decks:
        Number of decks the house shuffles together, in rooms where it varies.
    seed:
        Seed of the luck of croupier's own server and client, and {seed} in the commands of submissions.
    weights:
        Weights of rooms, roles, and roles in a room, such as client=2,kuhn=0.5,kuhn.server=3; 1 for all others.
    points:
        Points in Gradescope for a submission that plays well everywhere.
    visibility:
        Who sees the Gradescope tests against programs of other students.
    fresh:
        Ignore saved results and run every cell again.
    no_reference:
        Leave out croupier's own server and client.
    watch:
        Serve a page for a projector that shows the matrix while it is played, and stay until Ctrl-C.
    watch_port:
        Port of this page on 127.0.0.1; 0 picks a free one.
    anonymous:
        Show numbers on this page in place of names; also without this flag unless the visibility is visible.
    """
    import asyncio

    from rich.console import Console

    from croupier.conformance.containment.policy import contained
    from croupier.conformance.matrix.matrix import MatrixPlan
    from croupier.conformance.matrix.programs import PairingTerms
    from croupier.conformance.matrix.standings import parse_grading
    from croupier.conformance.matrix.submission import describe_duplicates, load_submissions, reference_submission
    from croupier.rooms import HOUSE_ROOMS, ROOMS
    from croupier.web.class_view import ClassPrivacy

    console = Console(highlight=False)
    try:
        check_minimum(1, games=games, jobs=jobs, max_output_bytes=max_output_bytes)
        check_positive(timeout=timeout, points=points)
        if room is not None and room not in HOUSE_ROOMS:
            found_room = f"{room}, whose conversations cannot be relayed" if room in ROOMS else f"the room {room!r}"
            raise ValueError(f"found {found_room}; allowed: {', '.join(HOUSE_ROOMS)}")
        known = {"dialect": dialect, "decks": decks}
        if room is None and (lost := [*command_line(known)]):
            raise ValueError(f"found {lost[0]} without --room; allowed: both")
        submissions = load_submissions(folder, out)
        submitted_rooms = [each.commands.keys() | each.room_faults.keys() for each in submissions]
        rooms = (
            [HOUSE_ROOMS[room]]
            if room
            else [HOUSE_ROOMS[each] for each in HOUSE_ROOMS if any(each in names for names in submitted_rooms)]
        )
        if not watch and (watch_port or anonymous):
            raise ValueError(f"found --{'watch-port' if watch_port else 'anonymous'} without --watch; allowed: both")
        if not rooms:
            raise ValueError(f"no submission has a program for any of these rooms: {', '.join(HOUSE_ROOMS)}")
        for sentence in describe_duplicates(submissions):
            print_line(printable(sentence))
        plan = MatrixPlan(
            terms=[
                PairingTerms(
                    room=each,
                    conversations=games,
                    timeout_seconds=timeout,
                    max_output_bytes=max_output_bytes,
                    known_options=build_options([each.options], known, each),
                    strict=strict,
                    seed=seed,
                )
                for each in rooms
            ],
            submissions=submissions if no_reference else (*submissions, reference_submission()),
            output_folder=out,
            parallel_servers=jobs or os.cpu_count() or 1,
            grading=parse_grading(weights, points, visibility),
            is_fresh=fresh,
        )
        is_visible = visibility == "visible"
        page = (watch_port, ClassPrivacy(anonymous or not is_visible, not is_visible)) if watch else None
        with contained(contain.containment(folder, out)):
            is_complete = asyncio.run(
                _run_matrix(plan, page, console)
            )  # uvloop starts programs three times more slowly
    except (ValueError, OSError) as error:
        return fail(error, 2)
    return 0 if is_complete else 130


async def _run_matrix(plan: "MatrixPlan", page: "tuple[int, ClassPrivacy] | None", console: "Console") -> bool:
    """Play a matrix, write its results, and serve its page at a port of loopback, if it has one.

    Returns whether it is complete.
    """
    from croupier.conformance.containment.policy import current_containment

    if current_containment().is_sandboxed:
        await report_missing_sandbox()
    if page is None:
        return await _play(plan, plan, console, lambda _: None)

    from croupier.net.stop_signals import wait_for_stop_signal
    from croupier.web.class_server import serve_class, shuffle_students

    port, privacy = page
    shown = shuffle_students(plan) if privacy.is_anonymous else plan
    async with serve_class(shown, privacy, port) as (pages, url):
        print_now(f"The class is at {url}")
        if privacy.is_anonymous:
            for number, each in enumerate(shown.submissions, start=1):
                print_now(printable(f"{number:>3} is {each.name} ({each.id})"))
        is_complete = await _play(plan, shown, console, pages.note)
        pages.end()
        if is_complete:
            print_now("The page stays until you press Ctrl-C.")
            await wait_for_stop_signal()
        return is_complete


async def _play(
    plan: "MatrixPlan", order: "MatrixPlan", console: "Console", on_change: "Callable[[Matrix], None]"
) -> bool:
    """Play a matrix in the order of a plan, with its progress on the terminal, and write and print its results.

    Returns whether it is complete.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    from croupier.conformance.matrix.cells import CellKind
    from croupier.conformance.matrix.grid import grid
    from croupier.conformance.matrix.matrix import Matrix, write_results
    from croupier.conformance.report.terminal import print_parts

    now = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), now)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=plan.cells)

        unusable: set[tuple[str, str, str]] = set()  # rooms, submissions and reasons

        def on_cell(cell: "Cell", is_cached: bool) -> None:
            progress.advance(bar)
            finding = cell.finding
            if finding.kind is CellKind.UNUSABLE:  # for the same reason in all of its cells
                submission = cell.server if "server" in finding.blame else cell.client
                if (cell.room, submission, str(finding)) not in unusable:
                    unusable.add((cell.room, submission, str(finding)))
                    first, *more = f"{cell.room}: {submission} {finding.kind}: {finding}".splitlines()
                    for line in (first, *(f"{INDENT}{each}" for each in more)):
                        print_line(line)
            elif not is_cached and not console.is_terminal:
                print_line(f"{cell.room}: {cell.client} at {cell.server}: {finding}")

        def show_change(matrix: Matrix) -> None:
            progress.update(bar, description=_activity(matrix))
            on_change(matrix)

        run = Matrix(order, on_cell, show_change)
        is_complete = await run.play()
    results = plan.results(run.cells, is_complete=is_complete)
    write_results(results, plan.output_folder)
    print_parts(console, grid(results, console.width))
    remaining = plan.cells - len(run.cells)
    state = "" if is_complete else f"; {remaining:,} remain: run the same command to continue"
    print_line(f"{len(run.cells):,} of {plan.cells:,} cells are in {plan.output_folder}{state}")
    return is_complete


def _activity(matrix: "Matrix") -> str:
    """What a matrix builds or plays now."""
    if matrix.building:
        return printable(f"building {', '.join(matrix.building)}")
    return printable(", ".join(f"{client} at {server}" for _, server, client in matrix.running))
