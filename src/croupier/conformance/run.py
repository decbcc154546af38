"""A run of the tester: starts the program under test if necessary, runs the cases and returns a report."""

import asyncio
import shlex
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from msgspec import structs

from croupier.conformance.case import Case, select
from croupier.conformance.diagnosis.cause import Cause, Dialect
from croupier.conformance.first_look import first_look
from croupier.conformance.program import ProgramError, ProgramUnderTest, free_port
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.conformance.shrink import Shrinker
from croupier.conformance.suite import Attempt, Bench, Config, Role, Suite, TargetGone, find_suite
from croupier.core.errors import FoundKind
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.version import __version__

type OnResult = Callable[[Result | str], None]
"""Receives every result as soon as it is known, and sentences between them."""

DIALECT_THRESHOLD_CASES: Final = 3
"""Once this many cases have failed because of the same dialect, the rest is read in that dialect."""

MAX_STACKED_DIALECTS: Final = 3
"""At most this many dialects are combined."""

START_TIMEOUT_SECONDS: Final = 10.0
"""Seconds a server may take to start, in addition to its answer timeout."""

MAX_RESTARTS: Final = 25
"""A server that has died this often is not started again."""

DEATH_SECONDS: Final = 0.1
"""How long a server may take to end after it has closed a connection without a reason."""

MAX_CONFIRMED_SILENCES: Final = 3
"""After this many silences that a second look has confirmed, others are believed at once."""

MAX_DIALOGUE_LINES: Final = 500
"""At most this many of the last messages of a case are kept."""

MAX_STDERR_BYTES: Final = 4000
"""How much of the end of the program's standard error is reported."""


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
    def suite(self) -> Suite:
        """The cases of the room for the role."""
        return find_suite(self.room, self.role)

    @property
    def cases(self) -> Sequence[Case]:
        """The selected cases, in the order in which they run. Raises ValueError if there are none."""
        return sorted(select(self.suite.cases(), self.selection), key=lambda case: case.rank)

    @property
    def config(self) -> Config:
        """What a bench is set up with."""
        return Config(
            command=self.command if self.role == "client" else "",
            known_options=self.known_options,
            strict=self.strict,
            seed=self.seed,
            timeout=self.timeout,
        )


class ServerProcess:
    """The server under test if its command was given, started again at another port whenever it dies.

    Another port, because the connections of the dead server may keep the old one busy. `address` is where it listens,
    and `restarts` counts the starts after the first.
    """

    def __init__(self, command: str, host: str, timeout: float, values: Mapping[str, Path]) -> None:
        self.address: Address = (host, 0)
        self.restarts = 0
        self._command = command
        self._timeout = timeout
        self._values = values
        self._program: ProgramUnderTest | None = None
        self._stderr = b""

    async def start(self) -> None:
        """Start the server, in place of the one before, and wait until it listens. Raises ProgramError, ValueError."""
        if self._program is not None:
            await self.stop()
            self.restarts += 1
        host, port = self.address = (self.address[0], await free_port(self.address[0]))
        self._program = await ProgramUnderTest.start(self._command, {"host": host, "port": port, **self._values})
        await self._program.wait_listening(host, port, self._timeout + START_TIMEOUT_SECONDS)

    async def end(self, seconds: float) -> str | None:
        """Wait at most `seconds` for its end. Returns how it has ended (`exit status 1`), None while it runs."""
        assert self._program is not None, "it was started"
        return None if await self._program.wait_ended(seconds) is None else self._program.end_description

    async def stop(self) -> None:
        """Stop the server."""
        if self._program is not None:
            await self._program.stop()
            self._stderr = (self._stderr + self._program.stderr)[-MAX_STDERR_BYTES:]
            self._program = None

    @property
    def stderr(self) -> bytes:
        """The end of what it has written to standard error, over all starts."""
        return (self._stderr + (self._program.stderr if self._program else b""))[-MAX_STDERR_BYTES:]


class CaseRunner:
    """Runs cases on a bench: retries, confirms and shortens them, and starts a server again that has died.

    `results` are by case id. The run ends after `max_failures` failures. `stopped_reason` says why it ended before all
    cases were run, empty if it did not. `stderr` is the last output of a client that has failed.
    """

    def __init__(
        self,
        bench: Bench,
        on_result: Callable[[Result], None] = lambda _: None,
        *,
        max_failures: int | None = None,
        server: ServerProcess | None = None,
    ) -> None:
        self.results: dict[str, Result] = {}
        self.stopped_reason = ""
        self.stderr = b""
        self._bench = bench
        self._on_result = on_result
        self._max_failures = max_failures
        self._server = server
        self._shrinker = Shrinker(bench)
        self._confirmed_silences = 0
        self._has_died = False
        self._clock = asyncio.get_running_loop().time

    @property
    def is_over(self) -> bool:
        """Whether no more cases are to be run."""
        return bool(self.stopped_reason) or self._has_failed_enough

    @property
    def _has_failed_enough(self) -> bool:
        failures = sum(not result.is_good for result in self.results.values())
        return self._max_failures is not None and failures >= self._max_failures

    async def run(self, cases: Sequence[Case]) -> None:
        """Run cases in this order. Raises ProgramError and ValueError if a program cannot be started."""
        waiting = deque(case for case in cases if not case.beside)
        beside = deque(case for case in cases if case.beside)
        running: dict[asyncio.Task[Result], Case] = {}
        try:
            while not self.is_over and (waiting or beside or running):
                self._start_due(waiting, beside, running)
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                finished = [(running.pop(task), task.result()) for task in done]
                if (end := await self._death(result for _, result in finished)) is None:
                    self._record(result for _, result in finished)
                else:
                    waiting.extendleft(await self._on_death(end, finished, running))
        finally:
            await _cancel(running)

    def _start_due(self, waiting: deque[Case], beside: deque[Case], running: dict[asyncio.Task[Result], Case]) -> None:
        """Start as many cases as may run at the same time. Cases beside others wait for the first results."""
        due: list[Case] = []
        lanes = 1 if self._has_died else self._bench.lanes
        occupied = sum(not case.beside for case in running.values())
        while waiting and occupied + len(due) < lanes:
            due.append(waiting.popleft())
        if (self.results and self._bench.can_run_beside) or not (due or running):
            due += beside
            beside.clear()
        for case in due:
            running[asyncio.create_task(self._run_case(case))] = case

    def _record(self, results: Iterable[Result]) -> None:
        for result in results:
            if self._has_failed_enough:
                return
            self.results[result.case] = result
            self._on_result(result)

    # A server that dies.

    async def _death(self, results: Iterable[Result]) -> str | None:
        """Return how the server has ended if it has, None if it runs or is not ours."""
        if self._server is None:
            return None
        is_suspicious = any(result.failure and result.failure.kind is FoundKind.CLOSED for result in results)
        return await self._server.end(DEATH_SECONDS if is_suspicious else 0.0)

    async def _on_death(
        self, end: str, finished: Sequence[tuple[Case, Result]], running: dict[asyncio.Task[Result], Case]
    ) -> Sequence[Case]:
        """Start the server again; return the cases that have to be run again, the last one first.

        If several cases were running, they are run again one by one to find the one that kills the server.
        """
        assert self._server is not None, "only our own server is known to have died"
        again: list[Case] = []
        if len(finished) == 1 and not running:
            self._record([_blame(*finished[0], end)])
        else:
            self._record(result for _, result in finished if result.failure is None)
            again = [case for case, result in finished if result.failure is not None] + [*running.values()]
        await _cancel(running)
        self._has_died = True
        if self._server.restarts == MAX_RESTARTS:
            self.stopped_reason = f"the server has ended {MAX_RESTARTS + 1} times; the other cases were not run"
        else:
            await self._server.start()
            await self._bench.open(self._server.address)
        return again[::-1]

    # One case.

    async def _run_case(self, case: Case) -> Result:
        started_at = self._clock()
        try:
            attempt = await self._decide(case, started_at)
        except TargetGone as error:
            failure = Failure(case.clause, "a server that accepts connections", str(error), kind=FoundKind.CLOSED)
            attempt = Attempt(Outcome.FAIL, failure=failure)
            if self._server is None:
                self.stopped_reason = (
                    f"the server accepts no connections since {case.id}; the other cases were not run: "
                    "start it again, or give its command with --server"
                )
        if attempt.failure is not None and attempt.stderr:
            self.stderr = attempt.stderr
        return Result(
            case.id,
            case.title,
            case.clause,
            attempt.outcome,
            attempt.note,
            attempt.failure,
            tuple(attempt.dialogue[-MAX_DIALOGUE_LINES:]),
            self._clock() - started_at,
            attempt.is_optional,
        )

    async def _decide(self, case: Case, started_at: float) -> Attempt:
        """Try a case until it has come up often enough, or has failed."""
        missed: list[Attempt] = []
        hits: list[Attempt] = []
        number = 0
        while len(hits) < case.hits and case.retries.allow(number, self._clock() - started_at):
            attempt = await self._bench.attempt(case, number)
            if attempt.is_silence:
                attempt = await self._look_again(case, attempt, number)
            number += 1
            if attempt.failure is not None:
                return await self._shrinker.shorten(case, await self._bench.confirm(case, attempt, number))
            (missed if attempt.outcome is Outcome.SKIP else hits).append(attempt)
        if hits:
            return next((hit for hit in hits if hit.outcome is not Outcome.PASS), hits[-1])
        return _explain_missed(missed)

    async def _look_again(self, case: Case, silent: Attempt, number: int) -> Attempt:
        """Try a case again with the full timeout: a slow program must not count as a silent one."""
        if self._confirmed_silences >= MAX_CONFIRMED_SILENCES:
            return silent
        again = await self._bench.attempt(case, number, is_patient=True)
        self._confirmed_silences += again.is_silence
        return silent if again.outcome is Outcome.SKIP else again


async def _cancel(tasks: dict[asyncio.Task[Result], Case]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tasks.clear()


def _blame(case: Case, result: Result, end: str) -> Result:
    """Return the result of the case at which the server has ended."""
    ended = f"the end of the server ({end})"
    found = result.failure or Failure(case.clause, "a server that goes on", ended)
    cause = Cause(f"it has ended ({end}): see what it has written to stderr")
    failure = structs.replace(found, actual=ended, cause=cause, kind=FoundKind.CLOSED)
    return structs.replace(result, outcome=Outcome.FAIL, failure=failure)


def _explain_missed(missed: Sequence[Attempt]) -> Attempt:
    """Return what to report of a case that has never come up: the program's refusal, or the most frequent reason."""
    refusals = {attempt.refusal for attempt in missed}
    last = missed[-1]
    if len(missed) > 1 and len(refusals) == 1 and last.refusal:
        return last._replace(outcome=Outcome.UNIMPLEMENTED, note=f"{last.refusal}, in each of {len(missed)} tries")
    reason, _ = Counter(attempt.note for attempt in missed).most_common(1)[0]
    return last._replace(note=f"{reason} (in {len(missed)} tries)" if len(missed) > 1 else reason)


class DialectSearch:
    """Collects the results of a run and detects dialects: many failures with one cause.

    `has_begun` is set once the server has been looked at for the first time.
    """

    def __init__(self, plan: Plan, on_result: OnResult) -> None:
        self.results: dict[str, Result] = {}
        self.dialect: Dialect | None = None
        self.found = asyncio.Event()
        self.has_begun = False
        self._plan = plan
        self._on_result = on_result
        self._dialect_count = 0
        self._first_failures: dict[str, Result] = {}
        self._results_by_cause: dict[str, list[Result]] = {}

    @property
    def max_failures(self) -> int | None:
        """How many failures may still come before the run ends."""
        limit = self._plan.max_failures
        return None if limit is None else max(1, limit - len(self._first_failures))

    def add_result(self, result: Result) -> None:
        """Record the result of a case."""
        self.results[result.case] = result
        self._on_result(result)
        if result.outcome is not Outcome.FAIL or result.failure is None or self._dialect_count == MAX_STACKED_DIALECTS:
            return
        cause = result.failure.cause
        if cause is not None and cause.dialect is not None:
            self._results_by_cause.setdefault(cause.text, []).append(result)
            if len(self._results_by_cause[cause.text]) == DIALECT_THRESHOLD_CASES:
                self.found.set()

    def restart(self) -> str:
        """Start again in the detected dialect; return the sentence that reports it."""
        counted = self._results_by_cause.values()
        first = next(results[0] for results in counted if len(results) >= DIALECT_THRESHOLD_CASES)
        assert first.failure is not None, "only failures are counted"
        assert first.failure.cause is not None, "only failures with a cause are counted"
        found: Dialect = first.failure.cause.dialect
        self.dialect = self.dialect + found if self.dialect else found
        self._dialect_count += 1
        self._first_failures[first.case] = first
        self._results_by_cause.clear()
        self.results.clear()
        self.found.clear()
        return f"the {self._plan.role} departs from the protocol all along: it {self.dialect.description}"

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
    search = DialectSearch(plan, on_result)
    sentence = ""
    while (end := await _run_until(_run_cases(plan, cases, search, plan.command), search.found)) is None:
        sentence = search.restart()
        on_result(f"{sentence}; from here on it is read as what it means")
    if plan.deck_flag:
        await _run_with_decks(plan, cases, search, on_result)
    if end.stopped_reason:
        on_result(end.stopped_reason)
    return Report(
        room=plan.room.name,
        role=plan.role,
        target=plan.target,
        repeat_template=plan.repeat_template,
        version=__version__,
        seed=plan.seed,
        started_at=started_at,
        seconds=clock() - start,
        results=search.final_results(cases),
        dialect=sentence,
        stderr=end.stderr,
        stopped_reason=end.stopped_reason,
    )


class RunEnd(NamedTuple):
    """How a run has ended: the standard error of the program, and why not all cases were run."""

    stderr: str
    stopped_reason: str


async def _run_until(work: Coroutine[Any, Any, RunEnd], event: asyncio.Event) -> RunEnd | None:
    """Run a coroutine until it returns, or until the event is set (then None)."""
    task = asyncio.ensure_future(work)
    event_task = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({task, event_task}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, event_task):
            each.cancel()
        await asyncio.wait({task, event_task})


async def _run_cases(plan: Plan, cases: Sequence[Case], search: DialectSearch, command: str, **values: Path) -> RunEnd:
    """Run cases once; a server is started by `command`, if there is one, with `values` for its placeholders."""
    async with AsyncExitStack() as stack:
        server: ServerProcess | None = None
        address = (plan.host, plan.port)
        if plan.role == "server" and command:
            server = ServerProcess(command, plan.host, plan.timeout, values)
            stack.push_async_callback(server.stop)
            await server.start()
            address = server.address
        if plan.role == "server" and not search.has_begun:
            search.has_begun = True
            if (trouble := await first_look(plan.room, *address)) is not None:
                raise ProgramError(trouble)
        bench = plan.suite.bench(replace(plan.config, dialect=search.dialect))
        stack.push_async_callback(bench.close)
        await bench.open(address)
        runner = CaseRunner(bench, search.add_result, max_failures=search.max_failures, server=server)
        await runner.run(cases)
        if server is None:
            return RunEnd(_decode_stderr(runner.stderr), runner.stopped_reason)
        end = await server.end(0)
        await server.stop()
        ended = "" if end is None else f"\n(it has ended by itself: {end})"
        return RunEnd(f"{_decode_stderr(server.stderr)}{ended}".strip(), runner.stopped_reason)


async def _run_with_decks(plan: Plan, cases: Sequence[Case], search: DialectSearch, on_result: OnResult) -> None:
    """Run each skipped case whose transcript has a deck at a server that deals from a file with this deck."""
    decks = {
        transcript.name: transcript.head["deck"]
        for transcript in transcripts(plan.room.name)
        if "deck" in transcript.head
    }
    skipped = [case for case in cases if case.id in search.results and search.results[case.id].outcome is Outcome.SKIP]
    with TemporaryDirectory() as folder:
        for case in skipped:
            deck = decks.get(case.id.rpartition("/")[2])
            if deck is None:
                continue
            file = Path(folder) / f"{case.section}.txt"
            file.write_text(deck.replace(" / ", "\n\n").replace(" ", "\n") + "\n", encoding="ascii")  # ruling G5
            try:
                await _run_cases(plan, [case], search, f"{plan.command} {plan.deck_flag}", file=file)
            except ProgramError as error:  # the results so far remain valid
                on_result(str(error))
                return


def _decode_stderr(data: bytes) -> str:
    """Decode the end of the output of a program."""
    return data[-MAX_STDERR_BYTES:].decode(errors="backslashreplace").strip()
