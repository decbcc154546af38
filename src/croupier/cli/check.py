"""`croupier check`: which clause of its protocol does a server or a client break?"""

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Group, Parameter

from croupier.cli.output import fail
from croupier.core.plural import format_count

if TYPE_CHECKING:
    from rich.console import Console

    from croupier.conformance.results import Report
    from croupier.conformance.run import OnResult, Plan, Role
    from croupier.core.room import Room

TARGET = Group("What is tested", sort_key=1)
CASES = Group("Cases", sort_key=2)
ROOM = Group("Room", sort_key=3)
OUTPUT = Group("Output", sort_key=4)

EXIT_NOT_TESTED: Final = 2
"""The exit status when nothing could be tested."""

EXIT_TERMINATED: Final = 128 + signal.SIGTERM
"""The exit status when somebody has ended it."""

DEFAULT_SEED: Final = 1


def check(
    selection: Annotated[str, Parameter(name="ROOM", group=TARGET)],
    target: Annotated[str | None, Parameter(name="HOST:PORT", group=TARGET)] = None,
    /,
    *,
    server: Annotated[str | None, Parameter(group=TARGET)] = None,
    client: Annotated[str | None, Parameter(group=TARGET)] = None,
    deck_flag: Annotated[str | None, Parameter(group=TARGET, allow_leading_hyphen=True)] = None,
    list_cases: Annotated[bool, Parameter(name="--list", group=CASES)] = False,
    strict: Annotated[bool, Parameter(group=CASES)] = False,
    seed: Annotated[int, Parameter(group=CASES)] = DEFAULT_SEED,
    timeout: Annotated[float | None, Parameter(group=CASES)] = None,
    max_failures: Annotated[int | None, Parameter(group=CASES)] = None,
    dialect: Annotated[str | None, Parameter(group=ROOM)] = None,
    decks: Annotated[int | None, Parameter(group=ROOM)] = None,
    bet: Annotated[int | None, Parameter(group=ROOM)] = None,
    report: Annotated[list[str] | None, Parameter(group=OUTPUT, consume_multiple=True)] = None,
    quiet: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> int:
    """Test a server or a client: which clause of its protocol does it break?

    Exit status 0: no case has failed; 1: some have; 2: nothing could be tested.

    Parameters
    ----------
    selection:
        The room, and with it which cases: kuhn, kuhn/4, kuhn/4.3, or the whole id of one.
    target:
        The server to test. [default: this machine, the room's port]
    server:
        Start this server, test it, and stop it: 'java -jar mine.jar -p {port}'.
    client:
        Test this client, which is started for every case: 'mine -s {host} -p {port}'.
    deck_flag:
        How --server is told a file of cards to deal from: '--deck {file}'. It shows what luck does not bring up.
    list_cases:
        List the cases, and the clauses that no case can test.
    strict:
        Take for wrong what the protocol only tolerates.
    seed:
        Fixes the luck of the tester.
    timeout:
        So many seconds an answer may take. [default: the room's own]
    max_failures:
        Stop when so many cases have failed.
    dialect:
        The dialect that is spoken, where the room has some.
    decks:
        How many decks the house shuffles together, where it may be more than one.
    bet:
        The bet, where the room has one to set.
    report:
        Write reports: html=FILE, junit=FILE, tap=FILE, json=FILE, gradescope=FILE, md=FILE; as many as are wanted.
    quiet:
        Print nothing but what came of it.
    """
    from rich.console import Console

    from croupier.conformance.program import ProgramError
    from croupier.conformance.report.terminal import print_parts, terminal
    from croupier.conformance.run import Plan, default_timeout

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # the words stand beside the signs for terminals without Unicode, too
    console = Console(highlight=False)
    known = {name: value for name, value in (("dialect", dialect), ("decks", decks), ("bet", bet)) if value is not None}
    try:
        room = room_of_selection(selection)
        if list_cases:
            return print_cases(console, room, selection)
        files = parse_reports(report or [])
        role, where = resolve_target(room, target, server, client, deck_flag)
        own = build_options([room.settings] if role == "client" else [room.options, room.settings], known, room)
        check_limits(timeout, max_failures)
        set_here = {"seed": seed, "timeout": timeout}
        given = [
            *([target] if target else []),
            *command_line_flags({"server": server, "client": client, "deck-flag": deck_flag, **set_here, **known}),
            *(["--strict"] if strict else []),
        ]
        plan = Plan(
            room=room,
            role=role,
            selection=selection,
            **where,
            known_options=own,
            strict=strict,
            seed=seed,
            timeout=default_timeout(room, role) if timeout is None else timeout,
            max_failures=max_failures,
            arguments=given,
        )
        found = run_tests(console, plan, quiet=quiet)
        print_parts(console, terminal(found)[-2 if quiet else 0 :])
        for path, text in files:
            path.write_text(text(found), encoding="utf-8")
    except asyncio.CancelledError:
        return EXIT_TERMINATED
    except (ValueError, OSError, ProgramError) as error:
        return fail(error, EXIT_NOT_TESTED, keep="\n\t")  # a program's own complaint has lines
    return found.exit_status


def room_of_selection(selection: str) -> "Room":
    """The room of a selection. Raises ValueError."""
    from croupier.rooms import ROOMS

    name = selection.partition("/")[0]
    if name not in ROOMS:
        raise ValueError(f"found the room {name!r}; allowed: {', '.join(ROOMS)}")
    return ROOMS[name]


def resolve_target(
    room: "Room", target: str | None, server: str | None, client: str | None, deck_flag: str | None
) -> tuple["Role", Mapping[str, Any]]:
    """The role of the program under test, and where it is. Raises ValueError."""
    from croupier.cli.play import ConnectionOptions, parse_address
    from croupier.rooms import HOUSE_ROOMS

    given = [name for name, value in (("HOST:PORT", target), ("--server", server), ("--client", client)) if value]
    if len(given) > 1:
        raise ValueError(f"found {' and '.join(given)}; allowed: one of them")
    if deck_flag and (server is None or "{file}" not in deck_flag or room.name not in HOUSE_ROOMS):
        allowed = f"with --server, and {{file}} in it, in {', '.join(HOUSE_ROOMS)}"
        raise ValueError(f"found --deck-flag {deck_flag!r}; allowed: {allowed}")
    if client is not None:
        return "client", {"command": client}
    if server is not None:
        return "server", {"command": server, "deck_flag": deck_flag or ""}
    host, port = parse_address(target, ConnectionOptions())
    return "server", {"host": host, "port": room.port if port is None else port}


def build_options(kinds: Sequence[type[Any]], values: Mapping[str, Any], room: "Room") -> Any:
    """The settings of a house or the options of a client: the first kind that has all that is known.

    None where nothing is known. Raises ValueError.
    """
    from msgspec import ValidationError, convert

    if not values:
        return None
    kind = next((kind for kind in kinds if values.keys() <= _field_names(kind)), kinds[0])
    for name, value in values.items():
        if name not in _field_names(kind):
            raise ValueError(f"found --{name} {value}; allowed: nothing of the kind in {room.title}")
    try:
        return convert(dict(values), kind, strict=False)
    except ValidationError as error:
        raise ValueError(f"found {values}: {error}") from None


def _field_names(kind: type[Any]) -> set[str]:
    return {each.name for each in fields(kind)}


def check_limits(timeout: float | None, max_failures: int | None) -> None:
    """Raises ValueError on limits that make no sense."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"found --timeout {timeout:g}; allowed: more than 0")
    if max_failures is not None and max_failures < 1:
        raise ValueError(f"found --max-failures {max_failures}; allowed: 1 or more")


def command_line_flags(values: Mapping[str, object]) -> Iterator[str]:
    """What is set, as words of a command line."""
    for name, value in values.items():
        if value is not None:
            yield from (f"--{name}", str(value))


def parse_reports(specs: Sequence[str]) -> list[tuple[Path, Callable[["Report"], str]]]:
    """The files to write, and what makes them. Raises ValueError before anything is tested that could not be kept."""
    from croupier.conformance.report.reports import REPORT_FORMATS

    found = []
    for each in specs:
        kind, equals, name = each.partition("=")
        if kind not in REPORT_FORMATS or not equals or not name:
            raise ValueError(f"found --report {each}; allowed: KIND=FILE, KIND one of {', '.join(REPORT_FORMATS)}")
        path = Path(name)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise ValueError(f"found --report {each}; allowed: a file in a folder that is there")
        found.append((path, REPORT_FORMATS[kind]))
    return found


def run_tests(console: "Console", plan: "Plan", *, quiet: bool) -> "Report":
    """Test the program, and tell of every case as it is decided."""
    from croupier.conformance.run import check as checked
    from croupier.net.event_loop import run

    async def main() -> "Report":
        this = asyncio.current_task()
        assert this is not None, "who runs this is a task"
        with suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
        return await checked(plan, say, time.time())

    with show_progress(console, len(plan.cases), quiet=quiet) as say:
        return asyncio.run(main()) if plan.command else run(main())  # uvloop takes twice as long to start a program


@contextmanager
def show_progress(console: "Console", cases: int, *, quiet: bool) -> Iterator["OnResult"]:
    """Lines for whoever reads them later, and a bar that shows how far it has come for whoever looks on."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.text import Text

    from croupier.conformance.report.terminal import result_line
    from croupier.conformance.results import Outcome, Result

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("cases", total=cases)

        def say(news: Result | str) -> None:
            if isinstance(news, str):
                bar.reset(task)
                if not quiet:
                    console.print(Text(news, "bold"))
                return
            bar.advance(task)
            if not quiet and (news.outcome is not Outcome.PASS or not console.is_terminal):
                console.print(result_line(news), soft_wrap=True)

        yield say


def print_cases(console: "Console", room: "Room", selection: str) -> int:
    """Print the cases of both roles; the exit status."""
    from rich.text import Text

    from croupier.conformance.case import Case, make_case_id, select
    from croupier.conformance.run import ROLES, cases, untestable

    for role in ROLES:
        found = select(cases(room, role), selection)
        console.print(Text(f"{role}: {format_count(len(found), 'case')}", "bold"))
        for case in found:
            console.print(Text(f"  {case.id}  {case.title}"), soft_wrap=True)
        missing = {
            clause: why
            for clause, why in untestable(room, role).items()
            if Case(id=make_case_id(room.name, clause, ""), title=why, clause=clause).is_within(selection)
        }
        if missing:
            console.print(Text(f"{role}: what no case can test", "bold"))
        for clause, why in missing.items():
            console.print(Text(f"  {clause}  {why}"), soft_wrap=True)
    return 0
