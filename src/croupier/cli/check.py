"""`croupier check`: test whether a server or a client conforms to its protocol."""

import asyncio
import signal
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Group, Parameter

from croupier.cli.containment import ContainmentOptions, report_missing_sandbox
from croupier.cli.options import build_options, changed_options, check_minimum, check_positive, command_line
from croupier.cli.output import fail
from croupier.clients.tls import TlsOptions
from croupier.core.plural import format_count

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.conformance.plan import Plan
    from croupier.conformance.results import Report
    from croupier.conformance.run import OnResult
    from croupier.conformance.suite import Role
    from croupier.core.room import Room

TARGET = Group("Target", sort_key=1)
CASES = Group("Cases", sort_key=2)
ROOM = Group("Room", sort_key=3)
PROGRAMS = Group("Programs", sort_key=4)
OUTPUT = Group("Output", sort_key=5)

EXIT_NOT_TESTED: Final = 2
"""Exit status if no case could be run."""

EXIT_TERMINATED: Final = 128 + signal.SIGTERM
"""Exit status after SIGTERM."""


def check(
    selection: Annotated[str, Parameter(name="ROOM", group=TARGET)],
    target: Annotated[str | None, Parameter(name="HOST:PORT", group=TARGET)] = None,
    /,
    *,
    server: Annotated[str | None, Parameter(group=TARGET)] = None,
    client: Annotated[str | None, Parameter(group=TARGET)] = None,
    deck_flag: Annotated[str | None, Parameter(group=TARGET, allow_leading_hyphen=True)] = None,
    tls: Annotated[TlsOptions, Parameter(name="*", group=TARGET)] = TlsOptions(),
    list_cases: Annotated[bool, Parameter(name="--list", group=CASES)] = False,
    strict: Annotated[bool, Parameter(group=CASES)] = False,
    seed: Annotated[int, Parameter(group=CASES)] = 1,
    timeout: Annotated[float | None, Parameter(group=CASES)] = None,
    max_failures: Annotated[int | None, Parameter(group=CASES)] = None,
    dialect: Annotated[str | None, Parameter(group=ROOM)] = None,
    decks: Annotated[int | None, Parameter(group=ROOM)] = None,
    bet: Annotated[int | None, Parameter(group=ROOM)] = None,
    coins: Annotated[int | None, Parameter(group=ROOM)] = None,
    contain: Annotated[ContainmentOptions, Parameter(name="*", group=PROGRAMS)] = ContainmentOptions(),
    report: Annotated[list[str] | None, Parameter(group=OUTPUT, consume_multiple=True)] = None,
    show_all: Annotated[bool, Parameter(name="--all", group=OUTPUT)] = False,
    quiet: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> int:
    """Test whether a server or a client conforms to its protocol. Each failure names the clause it breaks.

    Exit status: 0 if no case failed, 1 if any failed, 2 if nothing could be tested.

    Parameters
    ----------
    selection:
        Room or cases to test: a room (kuhn), a section (kuhn/4), a clause (kuhn/4.3) or a full case id.
    target:
        Address of a running server; in hold'em also its URL. [default: 127.0.0.1, the room's port]
    server:
        Command that starts the server, for example 'java -jar mine.jar -p {port}'. It is stopped after the test.
    client:
        Command that starts the client, for example 'mine -s {host} -p {port}'. It is run once per case.
        Also filled in: {url}, {user}, {password} and {game} for a hold'em bot, {nick} for an Old Maid player.
    deck_flag:
        Flag that makes --server deal from a file, for example '--deck {file}'. Reaches cases that random deals miss.
    list_cases:
        List the cases, and the clauses that no case can test.
    strict:
        Fail on deviations that the protocol tolerates.
    seed:
        Seed for the tester's randomness.
    timeout:
        Seconds to wait for an answer. [default: depends on the room]
    max_failures:
        Stop after this number of failed cases.
    dialect:
        Protocol dialect, in rooms that have several.
    decks:
        Number of decks the house shuffles together, in rooms where it varies.
    bet:
        Bet, in rooms where it is configurable.
    coins:
        Coins in the purse of a new client, in Kuhn poker.
    report:
        Write a report: html=FILE, junit=FILE, tap=FILE, json=FILE, gradescope=FILE or md=FILE. Can be repeated.
    show_all:
        Show every failure and every note, not only the likeliest causes.
    quiet:
        Print only the result.
    """
    from rich.console import Console

    from croupier.conformance.containment.policy import contained
    from croupier.conformance.plan import Plan
    from croupier.conformance.program import ProgramError
    from croupier.conformance.report.terminal import print_parts, terminal
    from croupier.conformance.run import INTERRUPTED, untested
    from croupier.conformance.suite import find_suite
    from croupier.rooms import find_room

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # symbols may be lost: words repeat them
    console = Console(highlight=False)
    known = {"dialect": dialect, "decks": decks, "bet": bet, "coins": coins}
    try:
        room = find_room(selection.partition("/")[0])
        if list_cases:
            return print_cases(console, room, selection)
        files = parse_reports(report or [])
        role, where = resolve_target(room, target, server, client, tls)
        check_deck_flag(room, server, deck_flag)
        options = build_options([room.settings] if role == "client" else [room.options, room.settings], known, room)
        check_positive(timeout=timeout)
        check_minimum(1, max_failures=max_failures)
        check_minimum(0, coins=coins)
        settings = {"deck_flag": deck_flag, "seed": seed, "timeout": timeout, **known, "strict": strict}
        given = [
            *([target] if target else []),
            *command_line({"server": server, "client": client, **settings}),
            *changed_options(tls),
            *changed_options(contain),
        ]
        plan = Plan(
            room=room,
            role=role,
            selection=selection,
            **where,
            deck_flag=deck_flag or "",
            known_options=options,
            strict=strict,
            seed=seed,
            timeout=find_suite(room, role).timeout if timeout is None else timeout,
            max_failures=max_failures,
            arguments=given,
        )
        begun = time.time()
        try:
            with contained(contain.containment()):
                results = run_tests(console, plan, begun, quiet=quiet, show_all=show_all)
        except (ConnectionError, ProgramError) as error:
            for path, text in files:
                path.write_text(text(untested(plan, str(error), begun)), encoding="utf-8")
            raise
        print_parts(console, terminal(results, is_complete=show_all)[-2 if quiet else 0 :])
        for path, text in files:
            path.write_text(text(results), encoding="utf-8")
    except asyncio.CancelledError:
        return EXIT_TERMINATED
    except (ValueError, OSError, ProgramError) as error:
        return fail(error, EXIT_NOT_TESTED, keep="\n\t")  # a ProgramError may quote several lines
    if results.stopped_reason == INTERRUPTED:
        raise KeyboardInterrupt
    return results.exit_status


def resolve_target(
    room: "Room", target: str | None, server: str | None, client: str | None, tls: TlsOptions
) -> tuple["Role", Mapping[str, Any]]:
    """Return the role of the program under test and the `Plan` arguments that locate it.

    Raises ValueError if the flags contradict each other.
    """
    from croupier.clients.server_url import room_address

    given = [name for name, value in (("HOST:PORT", target), ("--server", server), ("--client", client)) if value]
    if len(given) > 1:
        raise ValueError(f"found {' and '.join(given)}; allowed: one of them")
    check_tls(room, "server" if client is None else "client", tls)
    check_address_in_command(room, server, client)
    if client is not None:
        return "client", {"command": client}
    if server is not None:
        return "server", {"command": server, "ssl": tls.ssl_context()}
    (host, port), is_https = room_address(room, target or "")
    context = tls.ssl_context()
    if context is not None and target and target.startswith("http:"):
        raise ValueError(f"found {target} and {' '.join(changed_options(tls))}; allowed: an https URL, or HOST:PORT")
    if context is None and is_https:
        context = ssl.create_default_context()
    return "server", {"host": host, "port": port, "ssl": context}


def check_address_in_command(room: "Room", server: str | None, client: str | None) -> None:
    """Raise ValueError if the command of a program under test has no place for the address that the tester chooses."""
    from croupier.conformance.suite import find_suite

    if server is not None and "{port}" not in server:
        raise ValueError(f"found --server {server!r}; allowed: a command with {{port}} in it")
    places = [f"{{{name}}}" for name in ("port", "url") if name in find_suite(room, "client").placeholders]
    if client is not None and not any(place in client for place in places):
        raise ValueError(f"found --client {client!r}; allowed: a command with {' or '.join(places)} in it")


def check_deck_flag(room: "Room", server: str | None, deck_flag: str | None) -> None:
    """Raise ValueError if there is a flag for decks that the server under test cannot be given."""
    from croupier.rooms import HOUSE_ROOMS

    rooms = [*HOUSE_ROOMS, "holdem"]
    if deck_flag and (server is None or "{file}" not in deck_flag or room.name not in rooms):
        allowed = f"a value that contains {{file}}, together with --server, in {', '.join(rooms)}"
        raise ValueError(f"found --deck-flag {deck_flag!r}; allowed: {allowed}")


def check_tls(room: "Room", role: "Role", tls: TlsOptions) -> None:
    """Raise ValueError if there are options of TLS where the tester does not speak it."""
    from croupier.rooms.oldmaid import ROOM as OLDMAID

    if (given := [*changed_options(tls)]) and (role == "client" or room is OLDMAID):
        raise ValueError(f"found {' '.join(given)}; allowed: tests of servers, except in {OLDMAID.title}")


def parse_reports(specs: Sequence[str]) -> list[tuple[Path, Callable[["Report"], str]]]:
    """Parse KIND=FILE specifications to paths and report functions. Raises ValueError, and OSError for no path.

    Folders are checked here, so that a long test run does not end without its report.
    """
    from croupier.conformance.report.reports import REPORT_FORMATS

    reports = []
    for each in specs:
        kind, equals, name = each.partition("=")
        if kind not in REPORT_FORMATS or not equals or not name:
            raise ValueError(f"found --report {each}; allowed: KIND=FILE, KIND one of {', '.join(REPORT_FORMATS)}")
        path = Path(name)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise ValueError(f"found --report {each}; allowed: a file in an existing folder")
        reports.append((path, REPORT_FORMATS[kind]))
    return reports


def run_tests(console: "Console", plan: "Plan", begun: float, *, quiet: bool, show_all: bool) -> "Report":
    """Run the tests and print each result as it arrives. `begun` is in seconds since 1970.

    The first Ctrl-C ends them with the results that there are, the second one at once.
    """
    from croupier.conformance.containment.policy import current_containment
    from croupier.conformance.run import check as run_plan
    from croupier.net.event_loop import run

    async def main() -> "Report":
        this, loop, interrupted = asyncio.current_task(), asyncio.get_running_loop(), asyncio.Event()
        assert this is not None, "asyncio.run() runs a task"

        def interrupt() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            interrupted.set()

        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(signal.SIGTERM, this.cancel)
            loop.add_signal_handler(signal.SIGINT, interrupt)
        if plan.command and not quiet and current_containment().is_sandboxed:
            await report_missing_sandbox()
        return await run_plan(plan, on_result, begun, interrupted)

    with show_progress(console, len(plan.cases), quiet=quiet, show_all=show_all) as on_result:
        return asyncio.run(main()) if plan.command else run(main())  # uvloop starts programs more slowly


@contextmanager
def show_progress(console: "Console", cases: int, *, quiet: bool, show_all: bool) -> Iterator["OnResult"]:
    """Print results, and on a terminal a progress bar. Yields the callback that receives them.

    A terminal shows the first failure on each clause, with `show_all` every result.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.text import Text

    from croupier.conformance.report.summary import broken_clause
    from croupier.conformance.report.terminal import result_line
    from croupier.conformance.results import Outcome, Result

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("cases", total=cases)
        broken: set[str] = set()
        outcomes: dict[str, Outcome] = {}

        def on_result(result: Result | str) -> None:
            if isinstance(result, str):
                outcomes.clear()
                bar.reset(task)
                if not quiet:
                    console.print(Text(result, "bold"))
                return
            is_known = outcomes.get(result.case) is result.outcome
            outcomes[result.case] = result.outcome
            bar.update(task, completed=len(outcomes))
            if is_known:
                return
            is_new = not result.is_good and broken_clause(result) not in broken
            if is_new:
                broken.add(broken_clause(result))
            if not quiet and (is_new or show_all or not console.is_terminal):
                console.print(result_line(result), soft_wrap=True)

        yield on_result


def print_cases(console: "Console", room: "Room", selection: str) -> int:
    """Print the cases of both roles and return the exit status."""
    from rich.text import Text

    from croupier.conformance.case import Case, select
    from croupier.conformance.suite import ROLES, find_suite

    for role in ROLES:
        suite = find_suite(room, role)
        selected = select(suite.cases, selection)
        console.print(Text(f"{role}: {format_count(len(selected), 'case')}", "bold"))
        for case in selected:
            console.print(Text(f"  {case.id}  {case.title}"), soft_wrap=True)
        missing = {
            clause: why
            for clause, why in suite.untestable.items()
            if Case(clause=clause, slug="", title=why).is_within(selection)
        }
        if missing:
            console.print(Text(f"{role}: clauses that cannot be tested", "bold"))
        for clause, why in missing.items():
            console.print(Text(f"  {clause}  {why}"), soft_wrap=True)
    return 0
