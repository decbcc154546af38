"""A run of the tester: the program is started if it has to be, tried case by case, and what was found is a report."""

import asyncio
import shlex
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple, Protocol

from croupier.conformance.case import Case, select
from croupier.conformance.diagnosis.causes import dialect_of_cause
from croupier.conformance.program import ProgramError, ProgramUnderTest, describe_exit, free_port
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.room import HouseRoom, Room
from croupier.rooms import HOUSE_ROOMS
from croupier.version import __version__

type Role = Literal["server", "client"]

ROLES: Final[Sequence[Role]] = ("server", "client")

type OnResult = Callable[[Result | str], None]
"""Hears every result as it comes, and sentences between them."""

DIALECT_THRESHOLD_CASES: Final = 3
"""When so many cases have failed for the same dialect, the rest is read in it."""

START_TIMEOUT_SECONDS: Final = 10.0
"""So many seconds a server may take to start, besides its time for an answer."""

MAX_STDERR_BYTES: Final = 4000
"""So many bytes of what a program has written are told, the last ones."""

MAX_STACKED_DIALECTS: Final = 3
"""So many dialects are found on top of each other at most."""


class Suite(NamedTuple):
    """The module that tries programs, and how many seconds they have for an answer unless told otherwise."""

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
"""What tries the programs of a room, by their role."""


class Dialect(Protocol):
    """A way to spell a protocol otherwise, of whatever kind the room has: several are one, too."""

    @property
    def description(self) -> str:
        """It in words behind "it"."""
        ...

    def __add__(self, other: Any) -> "Dialect": ...


def suite_module(room: Room, role: Role) -> Any:
    """What tries the programs of a room."""
    return import_module(SUITES[room.name, role].module)


def default_timeout(room: Room, role: Role) -> float:
    """How many seconds a program has for an answer unless told otherwise."""
    return SUITES[room.name, role].timeout


def cases(room: Room, role: Role) -> tuple[Case, ...]:
    """Every case of a room for a role."""
    found: tuple[Case, ...] = getattr(suite_module(room, role), f"{role}_cases")(room)
    return found


def untestable(room: Room, role: Role) -> Mapping[str, str]:
    """The clauses of a room that no program of this role can be tested with, each with the reason."""
    found: Mapping[str, str] = suite_module(room, role).untestable(room)
    return found


def dialect_from_cause(room: Room, role: Role, cause: str) -> Dialect | None:
    """The spelling that a cause names, if all that the program says can be read by it."""
    if isinstance(room, HouseRoom):
        return dialect_of_cause(room, cause)
    known = getattr(suite_module(room, role), "dialect", None)  # clients of hold'em have none
    found: Dialect | None = known(cause) if known is not None else None
    return found


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be tested, and how.

    A server is at `host` and `port`, or is started by `command` with a free `{port}` for each run. A client is started
    by `command` for each case. With `deck_flag` (`--deck {file}`) behind its command a server deals from a file: then
    the cases that luck has not brought up are tried once more, each with the deck of its transcript. `own` are the
    options of a client, or the settings of the house that a client is tested with. `selection` says which cases,
    `arguments` is the command line behind them, for the line that repeats a case.
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
        """What is tested, for people."""
        return self.command or f"{self.host}:{self.port}"

    @property
    def repeat_template(self) -> str:
        """The command that repeats a case, `{case}` in its place."""
        return f"croupier check {{case}} {shlex.join(self.arguments)}".rstrip()

    @property
    def cases(self) -> Sequence[Case]:
        """The cases that are selected. Raises ValueError where there are none."""
        return select(cases(self.room, self.role), self.selection)


class CheckRun:
    """The results of a check as they come. It watches for dialects: failures of many cases that have one cause."""

    def __init__(self, plan: Plan, on_result: OnResult) -> None:
        self.results: dict[str, Result] = {}
        self.active_dialect: Dialect | None = None
        self._dialects = 0
        self.dialect_found = asyncio.Event()
        self._check = plan
        self.on_result = on_result
        self._first: dict[str, Result] = {}
        self._named: dict[str, list[Result]] = {}

    @property
    def dialect_arguments(self) -> Mapping[str, Dialect]:
        """How the program is read, if it speaks a dialect."""
        return {} if self.active_dialect is None else {"detected_dialect": self.active_dialect}

    def add_result(self, result: Result) -> None:
        """A case is decided."""
        self.results[result.case] = result
        self.on_result(result)
        if result.outcome is not Outcome.FAIL or result.failure is None or self._dialects == MAX_STACKED_DIALECTS:
            return
        if dialect_from_cause(self._check.room, self._check.role, result.failure.cause) is not None:
            self._named.setdefault(result.failure.cause, []).append(result)
            if len(self._named[result.failure.cause]) == DIALECT_THRESHOLD_CASES:
                self.dialect_found.set()

    def restart_in_dialect(self) -> str:
        """Begin again in the dialect that has been found: the sentence that says so."""
        cause, (first, *_) = next((c, r) for c, r in self._named.items() if len(r) == DIALECT_THRESHOLD_CASES)
        found = dialect_from_cause(self._check.room, self._check.role, cause)
        assert found is not None, "it was counted because it has one"
        self.active_dialect = self.active_dialect + found if self.active_dialect else found
        self._dialects += 1
        self._first[first.case] = first
        self._named.clear()
        self.results.clear()
        self.dialect_found.clear()
        return f"the {self._check.role} departs from the protocol all along: it {self.active_dialect.description}"

    def final_results(self, cases: Sequence[Case]) -> tuple[Result, ...]:
        """The results in the order of the cases; of a dialect the first failure stands for all."""
        known = {**self.results, **self._first}
        return tuple(known[case.id] for case in cases if case.id in known)


async def check(plan: Plan, on_result: OnResult, started_at: float) -> Report:
    """Test a program; `begun` is the time of day. Raises ConnectionError, ProgramError and ValueError.

    Where many cases fail for one dialect it begins again, and what the program says is read in that dialect: so what
    else is wrong is found, too.
    """
    cases = plan.cases
    clock = asyncio.get_running_loop().time
    start = clock()
    run = CheckRun(plan, on_result)
    trial = _server if plan.role == "server" else _client
    sentence = ""
    while True:
        stderr, ended = await _until(trial(plan, cases, run), run.dialect_found)
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


async def _until(work: Coroutine[Any, Any, str], event: asyncio.Event) -> tuple[str, bool]:
    """What the work answers, and that it has ended; or that it was ended by an event."""
    task = asyncio.ensure_future(work)
    bell = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, bell}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result(), True
        return "", False
    finally:
        for each in (task, bell):
            each.cancel()
        await asyncio.wait({task, bell})


async def _server(plan: Plan, cases: Sequence[Case], run: CheckRun) -> str:
    """Try a server, and start it if it has to be; what it has written to stderr."""
    if not plan.command:
        await _tried(plan, cases, run, plan.host, plan.port)
        return ""
    said = await _started(plan, cases, run, plan.command)
    if plan.deck_flag:
        with TemporaryDirectory() as folder:
            for case, deck in _laid_out(plan, cases, run):
                file = Path(folder) / f"{case.section}.txt"
                file.write_text(deck, encoding="ascii")
                try:
                    await _started(plan, [case], run, f"{plan.command} {plan.deck_flag}", file=file)
                except ProgramError as error:  # what luck has brought up is known all the same
                    run.on_result(str(error))
                    break
    return said


async def _started(plan: Plan, cases: Sequence[Case], run: CheckRun, command: str, **values: Path) -> str:
    """Start a server and try it; what it has written to stderr."""
    port = await free_port(plan.host)
    async with await ProgramUnderTest.start(command, {"host": plan.host, "port": port, **values}) as program:
        await program.wait_listening(plan.host, port, plan.timeout + START_TIMEOUT_SECONDS)
        await _tried(plan, cases, run, plan.host, port)
        status = await program.wait_ended(0)
        await program.stop()
    said = _text(program.stderr)
    return said if status is None else f"{said}\n(it has ended by itself: {describe_exit(status)})".strip()


def _laid_out(plan: Plan, cases: Sequence[Case], run: CheckRun) -> Sequence[tuple[Case, str]]:
    """The cases that luck has not brought up and the deck that does, one card a line as G5 has it."""
    decks = {paper.name: paper.head["deck"] for paper in transcripts(plan.room.name) if "deck" in paper.head}
    skipped = [case for case in cases if case.id in run.results and run.results[case.id].outcome is Outcome.SKIP]
    named = [(case, decks.get(case.id.rpartition("/")[2], "")) for case in skipped]
    return [(case, deck.replace(" / ", "\n\n").replace(" ", "\n") + "\n") for case, deck in named if deck]


async def _tried(plan: Plan, cases: Sequence[Case], run: CheckRun, host: str, port: int) -> None:
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


async def _client(plan: Plan, cases: Sequence[Case], run: CheckRun) -> str:
    """Try a client; what it has written to stderr last."""
    said = b""

    def wrote(data: bytes) -> None:
        nonlocal said
        said = data or said

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
        on_stderr=wrote,
        **run.dialect_arguments,
    )
    return _text(said)


def _text(data: bytes) -> str:
    """The end of what a program has written."""
    return data[-MAX_STDERR_BYTES:].decode(errors="backslashreplace").strip()
