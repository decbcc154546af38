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
from croupier.conformance.diagnosis.causes import dialect
from croupier.conformance.program import Program, ProgramError, ending, free_port
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.room import HouseRoom, Room
from croupier.rooms import HOUSES
from croupier.version import __version__

type Role = Literal["server", "client"]

ROLES: Final[Sequence[Role]] = ("server", "client")

type Say = Callable[[Result | str], None]
"""Hears every result as it comes, and sentences between them."""

ENOUGH: Final = 3
"""When so many cases have failed for the same dialect, the rest is read in it."""

STARTING: Final = 10.0
"""So many seconds a server may take to start, besides its time for an answer."""

TOLD: Final = 4000
"""So many bytes of what a program has written are told, the last ones."""

DIALECTS: Final = 3
"""So many dialects are found on top of each other at most."""


class Trial(NamedTuple):
    """The module that tries programs, and how many seconds they have for an answer unless told otherwise."""

    module: str
    patience: float


TRIED: Final[Mapping[tuple[str, Role], Trial]] = {
    **{(room, "server"): Trial("croupier.conformance.servers.server", 1.5) for room in HOUSES},
    **{(room, "client"): Trial("croupier.conformance.clients.client", 5.0) for room in HOUSES},
    ("holdem", "server"): Trial("croupier.conformance.holdem.server", 20.0),  # a turn takes up to 15 s
    ("holdem", "client"): Trial("croupier.conformance.holdem.client", 20.0),
    ("oldmaid", "server"): Trial("croupier.conformance.oldmaid.server", 1.5),
    ("oldmaid", "client"): Trial("croupier.conformance.oldmaid.client", 5.0),
}
"""What tries the programs of a room, by their role."""


class Spelling(Protocol):
    """A way to spell a protocol otherwise, of whatever kind the room has: several are one, too."""

    @property
    def told(self) -> str:
        """It in words behind "it"."""
        ...

    def __add__(self, other: Any) -> "Spelling": ...


def module(room: Room, role: Role) -> Any:
    """What tries the programs of a room."""
    return import_module(TRIED[room.name, role].module)


def patience(room: Room, role: Role) -> float:
    """How many seconds a program has for an answer unless told otherwise."""
    return TRIED[room.name, role].patience


def cases(room: Room, role: Role) -> tuple[Case, ...]:
    """Every case of a room for a role."""
    found: tuple[Case, ...] = getattr(module(room, role), f"{role}_cases")(room)
    return found


def untestable(room: Room, role: Role) -> Mapping[str, str]:
    """The clauses of a room that no program of this role can be tested with, each with the reason."""
    found: Mapping[str, str] = module(room, role).untestable(room)
    return found


def spelling(room: Room, role: Role, cause: str) -> Spelling | None:
    """The spelling that a cause names, if all that the program says can be read by it."""
    if isinstance(room, HouseRoom):
        return dialect(room, cause)
    known = getattr(module(room, role), "dialect", None)  # clients of hold'em have none
    found: Spelling | None = known(cause) if known is not None else None
    return found


@dataclass(frozen=True, kw_only=True)
class Check:
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
    own: Any = None
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
    def repeat(self) -> str:
        """The command that repeats a case, `{case}` in its place."""
        return f"croupier check {{case}} {shlex.join(self.arguments)}".rstrip()

    @property
    def cases(self) -> Sequence[Case]:
        """The cases that are selected. Raises ValueError where there are none."""
        return select(cases(self.room, self.role), self.selection)


class Run:
    """The results of a check as they come. It watches for dialects: failures of many cases that have one cause."""

    def __init__(self, check: Check, say: Say) -> None:
        self.results: dict[str, Result] = {}
        self.spelt: Spelling | None = None
        self._dialects = 0
        self.found = asyncio.Event()
        self._check = check
        self.say = say
        self._first: dict[str, Result] = {}
        self._named: dict[str, list[Result]] = {}

    @property
    def reading(self) -> Mapping[str, Spelling]:
        """How the program is read, if it speaks a dialect."""
        return {} if self.spelt is None else {"spelling": self.spelt}

    def told(self, result: Result) -> None:
        """A case is decided."""
        self.results[result.case] = result
        self.say(result)
        if result.outcome is not Outcome.FAIL or result.failure is None or self._dialects == DIALECTS:
            return
        if spelling(self._check.room, self._check.role, result.failure.cause) is not None:
            self._named.setdefault(result.failure.cause, []).append(result)
            if len(self._named[result.failure.cause]) == ENOUGH:
                self.found.set()

    def dialect(self) -> str:
        """Begin again in the dialect that has been found: the sentence that says so."""
        cause, (first, *_) = next((c, r) for c, r in self._named.items() if len(r) == ENOUGH)
        found = spelling(self._check.room, self._check.role, cause)
        assert found is not None, "it was counted because it has one"
        self.spelt = self.spelt + found if self.spelt else found
        self._dialects += 1
        self._first[first.case] = first
        self._named.clear()
        self.results.clear()
        self.found.clear()
        return f"the {self._check.role} departs from the protocol all along: it {self.spelt.told}"

    def final(self, cases: Sequence[Case]) -> tuple[Result, ...]:
        """The results in the order of the cases; of a dialect the first failure stands for all."""
        known = {**self.results, **self._first}
        return tuple(known[case.id] for case in cases if case.id in known)


async def check(plan: Check, say: Say, begun: float) -> Report:
    """Test a program; `begun` is the time of day. Raises ConnectionError, ProgramError and ValueError.

    Where many cases fail for one dialect it begins again, and what the program says is read in that dialect: so what
    else is wrong is found, too.
    """
    cases = plan.cases
    clock = asyncio.get_running_loop().time
    start = clock()
    run = Run(plan, say)
    trial = _server if plan.role == "server" else _client
    sentence = ""
    while True:
        stderr, ended = await _until(trial(plan, cases, run), run.found)
        if ended:
            break
        sentence = run.dialect()
        say(f"{sentence}; from here on it is read as what it means")
    return Report(
        room=plan.room.name,
        role=plan.role,
        target=plan.target,
        repeat=plan.repeat,
        version=__version__,
        seed=plan.seed,
        begun=begun,
        seconds=clock() - start,
        results=run.final(cases),
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


async def _server(plan: Check, cases: Sequence[Case], run: Run) -> str:
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
                    run.say(str(error))
                    break
    return said


async def _started(plan: Check, cases: Sequence[Case], run: Run, command: str, **values: Path) -> str:
    """Start a server and try it; what it has written to stderr."""
    port = await free_port(plan.host)
    async with await Program.start(command, {"host": plan.host, "port": port, **values}) as program:
        await program.listening(plan.host, port, plan.timeout + STARTING)
        await _tried(plan, cases, run, plan.host, port)
        status = await program.ended(0)
        await program.stop()
    said = _text(program.stderr)
    return said if status is None else f"{said}\n(it has ended by itself: {ending(status)})".strip()


def _laid_out(plan: Check, cases: Sequence[Case], run: Run) -> Sequence[tuple[Case, str]]:
    """The cases that luck has not brought up and the deck that does, one card a line as G5 has it."""
    decks = {paper.name: paper.head["deck"] for paper in transcripts(plan.room.name) if "deck" in paper.head}
    skipped = [case for case in cases if case.id in run.results and run.results[case.id].outcome is Outcome.SKIP]
    named = [(case, decks.get(case.id.rpartition("/")[2], "")) for case in skipped]
    return [(case, deck.replace(" / ", "\n\n").replace(" ", "\n") + "\n") for case, deck in named if deck]


async def _tried(plan: Check, cases: Sequence[Case], run: Run, host: str, port: int) -> None:
    await module(plan.room, "server").check_server(
        plan.room,
        host,
        port,
        cases=cases,
        options=plan.own,
        strict=plan.strict,
        seed=plan.seed,
        timeout=plan.timeout,
        max_failures=plan.max_failures,
        told=run.told,
        **run.reading,
    )


async def _client(plan: Check, cases: Sequence[Case], run: Run) -> str:
    """Try a client; what it has written to stderr last."""
    said = b""

    def wrote(data: bytes) -> None:
        nonlocal said
        said = data or said

    await module(plan.room, "client").check_client(
        plan.room,
        plan.command,
        cases=cases,
        settings=plan.own,
        strict=plan.strict,
        seed=plan.seed,
        timeout=plan.timeout,
        max_failures=plan.max_failures,
        told=run.told,
        stderr=wrote,
        **run.reading,
    )
    return _text(said)


def _text(data: bytes) -> str:
    """The end of what a program has written."""
    return data[-TOLD:].decode(errors="backslashreplace").strip()
