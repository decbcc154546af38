"""A run of the tester: starts the program under test if necessary, runs the cases and returns a report."""

import asyncio
import shlex
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple

from croupier.conformance.case import Case, select
from croupier.conformance.diagnosis.cause import Dialect
from croupier.conformance.program import ProgramError, ProgramUnderTest, describe_exit, free_port
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.room import Room
from croupier.rooms import HOUSE_ROOMS
from croupier.version import __version__

type Role = Literal["server", "client"]

ROLES: Final[Sequence[Role]] = ("server", "client")

type OnResult = Callable[[Result | str], None]
"""Receives every result as soon as it is known, and sentences between them."""

DIALECT_THRESHOLD_CASES: Final = 3
"""Once this many cases have failed because of the same dialect, the rest is read in that dialect."""

START_TIMEOUT_SECONDS: Final = 10.0
"""Seconds a server may take to start, in addition to its answer timeout."""

MAX_STDERR_BYTES: Final = 4000
"""How much of the end of the program's standard error is reported."""

MAX_STACKED_DIALECTS: Final = 3
"""At most this many dialects are combined."""


class Suite(NamedTuple):
    """The module that tests a room in a role, and the default answer timeout in seconds."""

    module: str
    timeout: float


SUITES: Final[Mapping[tuple[str, Role], Suite]] = {
    **{(room, "server"): Suite("croupier.conformance.servers.server", 1.5) for room in HOUSE_ROOMS},
    **{(room, "client"): Suite("croupier.conformance.clients.client", 5.0) for room in HOUSE_ROOMS},
    ("holdem", "server"): Suite("croupier.conformance.holdem.server", 20.0),  # a turn takes up to 15 s
    ("holdem", "client"): Suite("croupier.conformance.holdem.client", 20.0),
    ("oldmaid", "server"): Suite("croupier.conformance.oldmaid.server", 1.5),
    ("oldmaid", "client"): Suite("croupier.conformance.oldmaid.client", 5.0),
}
"""The test suites by room and role."""


def suite_module(room: Room, role: Role) -> Any:
    """Import the module that tests a room in a role."""
    return import_module(SUITES[room.name, role].module)


def default_timeout(room: Room, role: Role) -> float:
    """The default answer timeout of a room in a role, in seconds."""
    return SUITES[room.name, role].timeout


def cases(room: Room, role: Role) -> tuple[Case, ...]:
    """Every case of a room for a role."""
    found: tuple[Case, ...] = getattr(suite_module(room, role), f"{role}_cases")(room)
    return found


def untestable(room: Room, role: Role) -> Mapping[str, str]:
    """The clauses of a room that cannot be tested in this role, each with the reason."""
    found: Mapping[str, str] = suite_module(room, role).untestable(room)
    return found


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to test, and how.

    A server is at `host` and `port`, or is started by `command` with a free `{port}` for each run. A client is started
    by `command` for each case. If `deck_flag` (`--deck {file}`) is given, it is appended to the command of a server to
    make it deal from a file: cases that did not come up by chance are then tried once more, each with the deck of its
    transcript. `known_options` are the options of a client, or the settings of the house that a client is tested with.
    `selection` selects the cases. `arguments` are the command line arguments after the selection; they are part of the
    command that repeats a case.
    """

    room: Room
    role: Role
    selection: str
    host: str = "127.0.0.1"
    port: int = 0
    command: str = ""
    deck_flag: str = ""
    known_options: Any = None
    strict: bool = False
    seed: int = 1
    timeout: float = 5.0
    max_failures: int | None = None
    arguments: Sequence[str] = field(default_factory=tuple)

    @property
    def target(self) -> str:
        """The tested command or address, for people."""
        return self.command or f"{self.host}:{self.port}"

    @property
    def repeat_template(self) -> str:
        """The command that repeats a case, with `{case}` in its place."""
        return f"croupier check {{case}} {shlex.join(self.arguments)}".rstrip()

    @property
    def cases(self) -> Sequence[Case]:
        """The selected cases. Raises ValueError if there are none."""
        return select(cases(self.room, self.role), self.selection)


class CheckRun:
    """Collects the results of a run and detects dialects: many failures with one cause."""

    def __init__(self, plan: Plan, on_result: OnResult) -> None:
        self.results: dict[str, Result] = {}
        self.active_dialect: Dialect | None = None
        self._dialect_count = 0
        self.dialect_found = asyncio.Event()
        self._plan = plan
        self.on_result = on_result
        self._first_failures: dict[str, Result] = {}
        self._results_by_cause: dict[str, list[Result]] = {}

    @property
    def dialect_arguments(self) -> Mapping[str, Dialect]:
        """The keyword argument for the detected dialect, if there is one."""
        return {} if self.active_dialect is None else {"detected_dialect": self.active_dialect}

    def add_result(self, result: Result) -> None:
        """Record the result of a case."""
        self.results[result.case] = result
        self.on_result(result)
        if result.outcome is not Outcome.FAIL or result.failure is None or self._dialect_count == MAX_STACKED_DIALECTS:
            return
        cause = result.failure.cause
        if cause is not None and cause.dialect is not None:
            self._results_by_cause.setdefault(cause.text, []).append(result)
            if len(self._results_by_cause[cause.text]) == DIALECT_THRESHOLD_CASES:
                self.dialect_found.set()

    def restart_in_dialect(self) -> str:
        """Start again in the detected dialect; return the sentence that reports it."""
        first = next(
            results[0] for results in self._results_by_cause.values() if len(results) == DIALECT_THRESHOLD_CASES
        )
        assert first.failure is not None and first.failure.cause is not None, "only failures with a cause are counted"  # noqa: PT018
        found: Dialect = first.failure.cause.dialect
        self.active_dialect = self.active_dialect + found if self.active_dialect else found
        self._dialect_count += 1
        self._first_failures[first.case] = first
        self._results_by_cause.clear()
        self.results.clear()
        self.dialect_found.clear()
        return f"the {self._plan.role} departs from the protocol all along: it {self.active_dialect.description}"

    def final_results(self, cases: Sequence[Case]) -> tuple[Result, ...]:
        """The results in the order of the cases; the first failure in a dialect stands for all of them."""
        known = {**self.results, **self._first_failures}
        return tuple(known[case.id] for case in cases if case.id in known)


async def check(plan: Plan, on_result: OnResult, started_at: float) -> Report:
    """Test a program; `started_at` is in seconds since 1970. Raises ConnectionError, ProgramError and ValueError.

    If many cases fail because of one dialect, the run starts again and reads what the program sends in that dialect, so
    that its other errors are found as well.
    """
    cases = plan.cases
    clock = asyncio.get_running_loop().time
    start = clock()
    run = CheckRun(plan, on_result)
    run_cases = _test_server if plan.role == "server" else _test_client
    sentence = ""
    while True:
        stderr, ended = await _run_until(run_cases(plan, cases, run), run.dialect_found)
        if ended:
            break
        sentence = run.restart_in_dialect()
        on_result(f"{sentence}; from here on it is read as what it means")
    return Report(
        room=plan.room.name,
        role=plan.role,
        target=plan.target,
        repeat_template=plan.repeat_template,
        version=__version__,
        seed=plan.seed,
        started_at=started_at,
        seconds=clock() - start,
        results=run.final_results(cases),
        dialect=sentence,
        stderr=stderr,
    )


async def _run_until(work: Coroutine[Any, Any, str], event: asyncio.Event) -> tuple[str, bool]:
    """Run a coroutine until it returns (its result, True) or until the event is set ("", False)."""
    task = asyncio.ensure_future(work)
    event_task = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, event_task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result(), True
        return "", False
    finally:
        for each in (task, event_task):
            each.cancel()
        await asyncio.wait({task, event_task})


async def _test_server(plan: Plan, cases: Sequence[Case], run: CheckRun) -> str:
    """Test a server, and start it if necessary. Returns its standard error."""
    if not plan.command:
        await _run_server_cases(plan, cases, run, plan.host, plan.port)
        return ""
    stderr = await _start_and_test_server(plan, cases, run, plan.command)
    if plan.deck_flag:
        with TemporaryDirectory() as folder:
            for case, deck in _skipped_with_decks(plan, cases, run):
                file = Path(folder) / f"{case.section}.txt"
                file.write_text(deck, encoding="ascii")
                try:
                    await _start_and_test_server(plan, [case], run, f"{plan.command} {plan.deck_flag}", file=file)
                except ProgramError as error:  # the results so far remain valid
                    run.on_result(str(error))
                    break
    return stderr


async def _start_and_test_server(plan: Plan, cases: Sequence[Case], run: CheckRun, command: str, **values: Path) -> str:
    """Start a server and test it. Returns its standard error."""
    port = await free_port(plan.host)
    async with await ProgramUnderTest.start(command, {"host": plan.host, "port": port, **values}) as program:
        await program.wait_listening(plan.host, port, plan.timeout + START_TIMEOUT_SECONDS)
        await _run_server_cases(plan, cases, run, plan.host, port)
        status = await program.wait_ended(0)
        await program.stop()
    stderr = _decode_stderr(program.stderr)
    return stderr if status is None else f"{stderr}\n(it has ended by itself: {describe_exit(status)})".strip()


def _skipped_with_decks(plan: Plan, cases: Sequence[Case], run: CheckRun) -> Sequence[tuple[Case, str]]:
    """Return the skipped cases whose transcript has a deck, and that deck with one card a line (ruling G5)."""
    decks = {
        transcript.name: transcript.head["deck"]
        for transcript in transcripts(plan.room.name)
        if "deck" in transcript.head
    }
    skipped = [case for case in cases if case.id in run.results and run.results[case.id].outcome is Outcome.SKIP]
    named = [(case, decks.get(case.id.rpartition("/")[2], "")) for case in skipped]
    return [(case, deck.replace(" / ", "\n\n").replace(" ", "\n") + "\n") for case, deck in named if deck]


async def _run_server_cases(plan: Plan, cases: Sequence[Case], run: CheckRun, host: str, port: int) -> None:
    await suite_module(plan.room, "server").check_server(
        plan.room,
        host,
        port,
        cases=cases,
        options=plan.known_options,
        strict=plan.strict,
        seed=plan.seed,
        timeout=plan.timeout,
        max_failures=plan.max_failures,
        on_result=run.add_result,
        **run.dialect_arguments,
    )


async def _test_client(plan: Plan, cases: Sequence[Case], run: CheckRun) -> str:
    """Test a client. Returns the last standard error."""
    stderr = b""

    def keep_stderr(data: bytes) -> None:
        nonlocal stderr
        stderr = data or stderr

    await suite_module(plan.room, "client").check_client(
        plan.room,
        plan.command,
        cases=cases,
        settings=plan.known_options,
        strict=plan.strict,
        seed=plan.seed,
        timeout=plan.timeout,
        max_failures=plan.max_failures,
        on_result=run.add_result,
        on_stderr=keep_stderr,
        **run.dialect_arguments,
    )
    return _decode_stderr(stderr)


def _decode_stderr(data: bytes) -> str:
    """Decode the end of the output of a program."""
    return data[-MAX_STDERR_BYTES:].decode(errors="backslashreplace").strip()
