"""`croupier arena`: let bots play each other, and say which one is better, how sure that is, and why."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Group, Parameter

from croupier.cli.options import check_minimum, check_positive
from croupier.cli.output import fail, print_error, print_json
from croupier.core.plural import format_count

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.arena.plan import Plan
    from croupier.arena.record import Record
    from croupier.arena.runner import Runner
    from croupier.arena.series import Series
    from croupier.arena.tournament import Tournament
    from croupier.web.arena_server import ArenaServer

PLAN = Group("Plan", sort_key=1)

DEFAULT_HANDS: Final = 10_000
MAX_UNTIL_SURE_HANDS: Final = 1_000_000
"""The hands of a pairing that stays undecided, unless --hands says otherwise."""


@dataclass(frozen=True)
class PlanOptions:
    """What is played, and how it is judged."""

    hands: Annotated[int | None, Parameter(name=("--hands", "-n"))] = None
    """Hands of every pairing, rounded up to a multiple of 200. [default: 10,000; with --until-sure at most
    1,000,000]"""

    until_sure: bool = False
    """End a pairing when its interval excludes 0; the interval stays valid."""

    duplicate: bool = False
    """Deal the same cards twice, with the seats exchanged; against a bank, to both bots."""

    adjust: bool = False
    """Remove luck from the results, without bias."""

    seed: int = 1
    """Seed of the deals and of the bots' randomness."""

    schedule: Literal["round-robin", "gauntlet", "swiss"] = "round-robin"
    """Who plays whom: all each other, the first bot all others, or bots with similar results."""

    answer_seconds: float = 10.0
    """Seconds that a program has for each of its messages."""

    def make_plan(self, room: str, bots: tuple[str, ...], *, leaks: bool = False) -> "Plan":
        """The plan of a tournament; `leaks` says whether they are asked for.

        Raises ValueError if it cannot be played, and OSError if a file cannot be read."""
        from croupier.arena.game import find_game
        from croupier.arena.plan import Plan, source_digest
        from croupier.arena.programs import check_programs
        from croupier.clients.contestants import parse_contestant
        from croupier.rooms import find_room

        check_minimum(2, hands=self.hands)
        check_positive(answer_seconds=self.answer_seconds)
        if len(bots) < 2:
            raise ValueError(f"found {format_count(len(bots), 'bot')}; allowed: two or more")
        game = find_game(room)
        contestants = [parse_contestant(find_room(room), bot) for bot in bots]
        hands = self.hands or (MAX_UNTIL_SURE_HANDS if self.until_sure else DEFAULT_HANDS)
        plan = Plan(
            room=room,
            bots=bots,
            pairs=-(-hands // 2),
            seed=self.seed,
            sources=tuple(map(source_digest, contestants)),
            duplicate=self.duplicate,
            adjust=game.baseline if self.adjust else None,
            until_sure=self.until_sure,
            leaks=leaks and game.estimates_leaks,
            schedule=self.schedule,
            answer_seconds=self.answer_seconds,
        )
        check_programs(plan, contestants)
        played_hands = 2 * plan.chunks * plan.chunk_pairs
        if played_hands != hands:
            print_error(f"--hands {hands:,} is rounded up to {played_hands:,}, because they are played in chunks")
        return plan


@dataclass(frozen=True)
class RunOptions:
    """How the plan is run, and what is printed."""

    jobs: int = 1
    """Number of processes that play."""

    cluster: str | None = None
    """Scheduler of a Dask cluster whose workers play instead: HOST:PORT or tls://HOST:PORT."""

    out: Path | None = None
    """Folder for the plan, all chunks of hands, and the results: a page, plots, and tables for other programs."""

    resume: bool = False
    """Go on with the tournament in the folder."""

    leaks: bool = False
    """Print what the choices of each bot cost it; against a bank, only with --adjust. In hold'em, this plays each hand
    again with other choices, and takes several times as long."""

    json: bool = False
    """Print the results as JSON."""

    watch: bool = False
    """Serve a page for a projector that shows the results while they are played, and stay until Ctrl-C."""

    watch_port: int = 0
    """Port of this page on 127.0.0.1; 0 picks a free one."""


def arena(
    room: str,
    /,
    *bots: str,
    plan: Annotated[PlanOptions, Parameter(name="*", group=PLAN)] = PlanOptions(),
    run: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),
) -> int:
    """Let bots play each other: which one is better, how sure that is, and why.

    The result of a pairing is what its first bot wins per hand, with a 95% interval. Without programs, the same command
    has the same result, on any number of processes or machines.

    Parameters
    ----------
    room:
        Room: kuhn, sevenhalf, blackjack or holdem. Against a bank each bot plays alone, and their wins are compared.
    bots:
        Two or more bots: built-in names (croupier play ROOM --bot help), FILE.py:CLASS, or programs that speak the
        room's protocol: a command with {host} and {port}, in hold'em also with {url}; or a server at which the other
        bot plays: HOST:PORT in Kuhn poker and hold'em, in hold'em also its URL.
    """
    from croupier.arena.cluster_worker import ClusterError
    from croupier.arena.record import Record

    with ExitStack() as stack:
        try:
            if run.resume and run.out is None:
                raise ValueError("found --resume without --out; allowed: both")
            if run.watch_port and not run.watch:
                raise ValueError("found --watch-port without --watch; allowed: both")
            made = plan.make_plan(room, bots, leaks=run.leaks)
            _check_libraries(run)
            runner = stack.enter_context(_make_runner(made, run))
            folder = run.out
            if folder is None and run.watch:  # the page is made of the record
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="croupier-arena-")))
            page = None
            if folder and run.watch:
                from croupier.web.arena_server import ArenaServer

                page = stack.enter_context(ArenaServer(made, folder, run.watch_port))
            record = Record(folder, made, resume=run.resume) if folder else None
        except ClusterError as error:
            return fail(error)
        if page is not None:
            _print_beside(run, f"The tournament is at {page.url}")
        status = _play(made, runner, record, run)
        if page is not None and status == 0:
            _keep_page(page, run)
        return status


def _make_runner(plan: "Plan", run: RunOptions) -> "AbstractContextManager[Runner]":
    """What plays the plan. Raises ValueError for options that cannot, and ClusterError."""
    from croupier.arena.programs import check_processes
    from croupier.arena.runner import ProcessRunner

    check_minimum(1, jobs=run.jobs)
    if run.cluster is None:
        if run.jobs > 1:
            check_processes(plan, f"--jobs {run.jobs}")
        return ProcessRunner(plan, run.jobs)
    if run.jobs > 1:
        raise ValueError("found --jobs with --cluster; allowed: one of them")
    check_processes(plan, "--cluster")
    from croupier.arena.cluster import ClusterRunner

    return ClusterRunner(plan, run.cluster)


def _check_libraries(options: RunOptions) -> None:
    """Raise ModuleNotFoundError now, and not after all hands, if a library of the extra `arena` is missing."""
    from importlib.util import find_spec

    for name in ("scipy.special", "choix", *(["matplotlib"] if options.out or options.watch else [])):
        if find_spec(name) is None:
            raise ModuleNotFoundError(name=name)


def _keep_page(page: "ArenaServer", options: RunOptions) -> None:
    """Wait for Ctrl-C, unless the page is lost."""
    import asyncio

    from croupier.net.stop_signals import wait_for_stop_signal

    if page.is_lost:
        print_error("the page of the tournament has failed; its results are above")
    else:
        _print_beside(options, "The page stays until you press Ctrl-C.")
        asyncio.run(wait_for_stop_signal())


def _print_beside(options: RunOptions, line: str) -> None:
    """Print a line at once, and not between the results as JSON."""
    print(line, file=sys.stderr if options.json else sys.stdout, flush=True)


def _play(plan: "Plan", runner: "Runner", record: "Record | None", options: RunOptions) -> int:
    from msgspec import to_builtins

    from croupier.arena.cluster_worker import ClusterError
    from croupier.arena.report.files import write_report
    from croupier.arena.report.summary import Report
    from croupier.arena.tournament import Tournament
    from croupier.cli.arena_report import print_results

    tournament = Tournament(plan, record.played, record.add) if record else Tournament(plan)
    advice = "run the same command with --resume to go on" if options.out else "add --out DIR to keep what was played"
    status = 0
    try:
        with show_progress(tournament) as show:
            for series in tournament.play(runner):
                show(series)
    except KeyboardInterrupt:
        status = 130
        print_error(f"the tournament was interrupted; {advice}")
    except ClusterError as error:
        status = 1
        print_error(f"{error}; {advice}")
    finally:
        if record:
            record.close()
    report = Report.of(tournament)
    result = report.result
    if record and status == 0:
        record.write_results(result)
        if options.out:
            write_report(options.out, report)
    if options.json:
        print_json(to_builtins(result))
    else:
        print_results(result, with_leaks=options.leaks)
    return status


@contextmanager
def show_progress(tournament: "Tournament", console: "Console | None" = None) -> Iterator[Callable[["Series"], None]]:
    """Show the pairings that are being played, with their intervals so far, if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    console = console or Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("hands"))
    tasks: dict[tuple[int, int], TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def show(series: "Series") -> None:
            if not console.is_terminal or not series.tallies:
                return
            if series.pairing not in tasks:
                tasks[series.pairing] = progress.add_task("", total=2 * tournament.plan.pairs)
            progress.update(
                tasks[series.pairing],
                description=series.headline(),
                completed=2 * len(series.tallies) * tournament.plan.chunk_pairs,
                visible=not series.is_over,
            )

        yield show
