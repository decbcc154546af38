"""A run of the tester: starts the program under test if necessary, runs the cases and returns a report."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from msgspec import structs

from croupier.conformance.case import Case
from croupier.conformance.case_runner import CaseRunner
from croupier.conformance.diagnosis.cause import CONJUNCTION, Cause, Dialect, dialect_cause
from croupier.conformance.diagnosis.layouts import dialects
from croupier.conformance.first_look import first_look, first_look_at_client
from croupier.conformance.plan import Plan
from croupier.conformance.program import ProgramError
from croupier.conformance.resources import transcripts
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.conformance.server_process import MAX_STDERR_BYTES, START_TIMEOUT_SECONDS, ServerProcess
from croupier.conformance.starts import find_same_deal, started_server
from croupier.conformance.suite import FAIR_DEAL_SLUG, Config
from croupier.conformance.timeouts import wait_first
from croupier.core.transcript import deck_file
from croupier.version import __version__

type OnResult = Callable[[Result | str], None]
"""Receives every result as soon as it is known, and sentences between them."""

DIALECT_THRESHOLD_CASES: Final = 3
"""Once this many cases have failed because of the same dialect, the rest is read in that dialect."""

MAX_STACKED_DIALECTS: Final = 3
"""At most this many dialects are combined."""

MIN_DOUBT_RESULTS: Final = 8
MIN_DOUBT_SHARE: Final = 1 / 3
"""A given dialect is in doubt once this share of the results are no passes, of at least this many.

So is the default one, of a client, once this share are failures or have not come up.
"""

MAX_PROBED_MISSES: Final = 6
MAX_PROBED_PASSES: Final = 3
"""How many cases of either kind are run without a dialect that is in doubt."""

INTERRUPTED: Final = "the run was interrupted; the other cases were not run"

SAMPLED_CASES: Final = 8
"""About this many cases show whether a program also reads the dialect of the room that it sends."""


class DialectSearch:
    """Collects the results of a run and detects dialects: many failures with one cause.

    A dialect is given up if many failures show messages that are not in it. `plan` says how the cases run that are
    left: in a dialect of the room, once the program is known to speak it. `has_begun` is set once the program has
    been looked at for the first time; it `was_silent` if it did not answer then, and the `greeting` is what it sent
    unasked. `learned` is what the last bench has learned. `doubts_dialect`: so few cases have passed that the program
    may not speak the dialect of the plan. Results are passed on to `on_result`.
    """

    def __init__(self, plan: Plan, on_result: OnResult) -> None:
        self.results: dict[str, Result] = {}
        self.dialect: Dialect | None = None
        self.found = asyncio.Event()
        self.has_begun = False
        self.was_silent = False
        self.greeting = b""
        self.learned: Any = None
        self.doubts_dialect = False
        self.on_result = on_result
        self.plan = plan
        self.spoken_dialect: Dialect | None = None
        self._dialect_count = 0
        self._first_failures: dict[str, Result] = {}
        self._failures_by_dialect: dict[tuple[Dialect, ...], list[Result]] = {}
        self._refuted: list[Dialect] = []
        self._refuted_dialects: set[Dialect] = set()
        self._other_dialects = _spoken_dialects(plan)
        self._may_doubt = bool(plan.given_dialect or self._other_dialects)

    @property
    def max_failures(self) -> int | None:
        """How many failures may still come before the run ends."""
        limit = self.plan.max_failures
        return None if limit is None else max(1, limit - len(self._first_failures))

    def config(self, plan: Plan) -> Config:
        """Return the configuration of a bench for a plan, with what has been learned so far."""
        return replace(
            plan.config,
            dialect=self.dialect,
            learned=self.learned,
            was_silent=self.was_silent,
            greeting=self.greeting,
        )

    @property
    def sentence(self) -> str:
        """The sentence that reports the detected dialect, empty if there is none."""
        found = [each.description for each in (self.spoken_dialect, self.dialect) if each is not None]
        if not found:
            return ""
        return f"the {self.plan.role} departs from the protocol all along: it {CONJUNCTION.join(found)}"

    def add_result(self, result: Result) -> None:
        """Record the result of a case."""
        self.results[result.case] = result
        self.on_result(result)
        self._look_at_dialect()
        cause = result.failure.cause if result.outcome is Outcome.FAIL and result.failure is not None else None
        if cause is None:
            return
        if (refuted := self._refuted_dialect(cause)) is not None:
            self._refuted.append(refuted)
            if len(self._refuted) == DIALECT_THRESHOLD_CASES:
                self.found.set()
        elif (
            cause.dialect is not None
            and cause.dialect not in self._refuted_dialects
            and self._dialect_count < MAX_STACKED_DIALECTS
        ):
            failures = self._failures_by_dialect.setdefault(cause.dialect.parts, [])
            failures.append(result)
            if len(failures) == _threshold(cause.dialect):
                self.found.set()

    def _refuted_dialect(self, cause: Cause) -> Dialect | None:
        """The part of the detected dialect in which a message that was read in it has to be read once more."""
        again: Dialect | None = cause.dialect or cause.partial_dialect
        return again if self.dialect is not None and again in self.dialect.parts else None

    @property
    def _missed(self) -> Sequence[str]:
        """The cases that have not passed, although they apply to the program."""
        return [
            result.case for result in self.results.values() if result.applies and result.outcome is not Outcome.PASS
        ]

    def _look_at_dialect(self) -> None:
        """Doubt the dialect of the plan, once, if few cases have passed in it."""
        count, missed = len(self.results), self._missed
        if not self.plan.given_dialect:
            missed = [case for case in missed if self.results[case].outcome is not Outcome.CHOICE]
        if self._may_doubt and count >= MIN_DOUBT_RESULTS and len(missed) >= MIN_DOUBT_SHARE * count:
            self._may_doubt = False
            self.doubts_dialect = True
            self.found.set()

    async def _speaks_default(self, cases: Sequence[Case]) -> bool:
        """Whether cases pass in the default dialect that do not pass in the given one, and all those that do."""
        passed = [result.case for result in self.results.values() if result.outcome is Outcome.PASS]
        missed = self._missed[:MAX_PROBED_MISSES]
        probed = {*missed, *passed[:MAX_PROBED_PASSES]}
        outcomes = await self._outcomes("", [case for case in cases if case.id in probed])
        return (
            outcomes[Outcome.FAIL] == 0
            and outcomes[Outcome.PASS] >= len(probed) - len(missed) + DIALECT_THRESHOLD_CASES
        )

    async def _speaks(self, found: Dialect, cases: Sequence[Case]) -> bool:
        """Whether more of a sample of the cases pass, strictly or not, in a dialect than if it is only read."""
        left = [case for case in cases if case.id not in self.results]
        if len(left) >= SAMPLED_CASES:
            simpler = left[: len(left) // 2]  # the others may take long
        else:
            simpler = [case for case in cases if case.id in self._missed]
        sample = simpler[:: len(simpler) // SAMPLED_CASES + 1]
        spoken = await self._outcomes(found.option, sample)
        read = await self._outcomes(self.plan.given_dialect, sample, found)
        return sum(spoken[each] - read[each] for each in (Outcome.PASS, Outcome.NON_STRICT)) > 0

    async def _outcomes(self, dialect: str, cases: Sequence[Case], reading: Dialect | None = None) -> Counter[Outcome]:
        """Count what comes of cases in a dialect of the room, the default one if it is empty.

        What the program sends may be in another dialect, `reading`.
        """
        plan = self.plan.in_dialect(dialect)
        probe = DialectSearch(plan, lambda _: None)
        probe.dialect = reading
        probe.has_begun = True
        await _run_cases(plan, cases, probe, plan.command)
        return Counter(result.outcome for result in probe.results.values() if result.applies)

    async def resolve_doubt(self, cases: Sequence[Case]) -> "RunEnd | None":
        """Find out whether the program speaks the dialect of the plan.

        Return the end of the run if it does not speak the given one. If it speaks another one, it is tested with that.
        """
        self.doubts_dialect = False
        self.found.clear()
        if not self.plan.given_dialect:
            for other in self._other_dialects:
                if await self._speaks(other, cases):
                    self._blame_dialect(other)
                    self.on_result(self._start_again_in(other))
                    break
            return None
        if not await self._speaks_default(cases):
            return None
        given = self.plan.given_dialect
        cause = Cause(f"it does not speak the dialect {given}: the same messages pass without --dialect {given}")
        for case, result in self.results.items():
            if result.failure is not None:
                failure = structs.replace(result.failure, cause=cause)
                self.results[case] = structs.replace(result, failure=failure)
        return RunEnd("", f"the {self.plan.role} does not speak the dialect {given}: test it without --dialect {given}")

    async def restart(self, cases: Sequence[Case]) -> str:
        """Start again in the detected dialect, or without one that was refuted; return the sentence that reports it."""
        if len(self._refuted) == DIALECT_THRESHOLD_CASES:
            self._refuted_dialects.update(self._refuted)
            self.dialect = None
            self._dialect_count = 0
            self._first_failures.clear()
            self._forget_results()
            return f"the {self.plan.role} sends only a part of its messages so; from here on they are read as they are"
        counted = self._failures_by_dialect.items()
        first = next(results[0] for parts, results in counted if len(results) >= _threshold(parts[0]))
        assert first.failure is not None, "only failures are counted"
        assert first.failure.cause is not None, "only failures with a cause are counted"
        found: Dialect = first.failure.cause.dialect
        self._first_failures[first.case] = first
        if found.option and await self._speaks(found, cases):
            return self._start_again_in(found)
        if self.dialect is not None:
            found = self.dialect + found
            failure = structs.replace(first.failure, cause=dialect_cause(found.parts))
            self._first_failures[first.case] = structs.replace(first, failure=failure)
        self.dialect = found
        self._dialect_count += 1
        self._forget_results()
        return f"{self.sentence}; from here on it is read as what it means"

    def _blame_dialect(self, spoken: Any) -> None:
        """Let one of the cases that have not passed fail because of the dialect that the program speaks."""
        result = self.results[self._missed[0]]
        clause = f"{self.plan.room.name}-{spoken.section}"
        found = Failure(clause, f"a {self.plan.role} that plays", f"one that plays with --dialect {spoken.option} only")
        failure = found.explained(dialect_cause([spoken]))
        failed = structs.replace(result, outcome=Outcome.FAIL, reason="", try_count=1, failure=failure)
        self._first_failures[result.case] = failed

    def _start_again_in(self, spoken: Dialect) -> str:
        """Start again in a dialect of the room, which the program speaks; return the sentence that reports it."""
        self.plan, self.spoken_dialect = self.plan.in_dialect(spoken.option), spoken
        self._forget_results()
        return f"{self.sentence}; from here on it is tested with --dialect {spoken.option}"

    def _forget_results(self) -> None:
        self._refuted.clear()
        self._failures_by_dialect.clear()
        self.results.clear()
        self.found.clear()

    def final_results(self, cases: Sequence[Case]) -> tuple[Result, ...]:
        """The results in the order of the cases; the first failure in a dialect stands for all of them."""
        known = {**self.results, **self._first_failures}
        return tuple(known[case.id] for case in cases if case.id in known)


def _threshold(dialect: Dialect) -> int:
    """How many cases have to fail because of a dialect; one if it is the greeting that the first look has seen."""
    return 1 if dialect.greeting else DIALECT_THRESHOLD_CASES


def _spoken_dialects(plan: Plan) -> Sequence[Any]:
    """The dialects of the room that a client may speak untold, and so cannot begin to play.

    A server shows by its messages which one it speaks.
    """
    if plan.role == "server" or plan.given_dialect:
        return ()
    return [*(each for each in dialects(plan.room.name) if each.option), *plan.suite.spoken_dialects]


async def check(plan: Plan, on_result: OnResult, started_at: float, interrupted: asyncio.Event | None = None) -> Report:
    """Test a program; `started_at` is in seconds since 1970. Raises ConnectionError, ProgramError and ValueError.

    If many cases fail because of one dialect, the run starts again and reads what the program sends in that dialect, so
    that its other errors are found as well. Once `interrupted` is set, it ends with the results that there are.
    """
    interrupted = interrupted or asyncio.Event()
    cases = plan.cases
    clock = asyncio.get_running_loop().time
    start = clock()
    search = DialectSearch(plan, on_result)
    end: RunEnd | None = None
    while end is None:
        left = [case for case in cases if case.id not in search.results]
        end = await _run_until(_run_cases(search.plan, left, search, plan.command), search.found, interrupted)
        if end is None and interrupted.is_set():
            end = RunEnd("", INTERRUPTED)
        elif end is None and search.doubts_dialect:
            end = await search.resolve_doubt(cases)
        elif end is None:
            on_result(await search.restart(cases))
    if plan.deck_flag and not end.stopped_reason:
        await _run_until(_run_with_decks(search.plan, cases, search, on_result), interrupted)
        if interrupted.is_set():
            end = RunEnd(end.stderr, INTERRUPTED)
    if plan.role == "server" and plan.command and not end.stopped_reason:
        await _run_until(_judge_starts(search), interrupted)
    if end.stopped_reason:
        on_result(end.stopped_reason)
    return structs.replace(
        _report(plan, started_at, search.final_results(cases)),
        seconds=clock() - start,
        dialect=search.sentence,
        spoken_dialect="" if search.spoken_dialect is None else search.spoken_dialect.option,
        stderr=end.stderr,
        stopped_reason=end.stopped_reason,
    )


def untested(plan: Plan, reason: str, started_at: float) -> Report:
    """Return the report about a program that cannot be tested for a reason: all cases are skipped."""
    results = (Result(case.id, case.title, case.clause, Outcome.SKIP, "nothing could be tested") for case in plan.cases)
    return structs.replace(_report(plan, started_at, tuple(results)), stopped_reason=" ".join(reason.split()))


def _report(plan: Plan, started_at: float, results: tuple[Result, ...]) -> Report:
    return Report(
        room=plan.room.name,
        role=plan.role,
        target=plan.target,
        repeat_template=plan.repeat_template,
        version=__version__,
        seed=plan.seed,
        started_at=started_at,
        seconds=0.0,
        results=results,
    )


class RunEnd(NamedTuple):
    """How a run has ended: the standard error of the program, and why not all cases were run."""

    stderr: str
    stopped_reason: str


async def _run_until[T](work: Coroutine[Any, Any, T], *events: asyncio.Event) -> T | None:
    """Run a coroutine until it returns, or until one of the events is set (then None)."""
    task = asyncio.ensure_future(work)
    done = await wait_first(task, *(event.wait() for event in events))
    return task.result() if task in done else None


async def _run_cases(plan: Plan, cases: Sequence[Case], search: DialectSearch, command: str, **values: Path) -> RunEnd:
    """Run cases once; a server is started by `command`, if there is one, with `values` for its placeholders."""
    async with AsyncExitStack() as stack:
        server: ServerProcess | None = None
        if plan.role == "server" and command:
            server = await stack.enter_async_context(started_server(plan, command, **values))
        if not search.has_begun:
            search.was_silent, search.greeting = await _look_first(plan, server, search.on_result)
            search.has_begun = True
        bench = plan.suite.bench(replace(search.config(plan), deals_deck=bool(values), server=server))
        stack.push_async_callback(bench.close)
        await bench.open((plan.host, plan.port) if server is None else server.address)
        runner = CaseRunner(bench, search.add_result, max_failures=search.max_failures, server=server)
        await runner.run(cases)
        search.learned = bench.learned
        if server is None:
            return RunEnd(_decode_stderr(runner.stderr), runner.stopped_reason)
        end = server.program.end_description
        await server.close()
        ended = f"\n(it has ended by itself: {end})" if end else ""
        return RunEnd(f"{_decode_stderr(server.stderr)}{ended}".strip(), runner.stopped_reason)


async def _look_first(plan: Plan, server: ServerProcess | None, on_notice: Callable[[str], None]) -> tuple[bool, bytes]:
    """Look at the program before its cases; return whether it is a silent server, and with what it greets a client.

    Raises ProgramError if no case can be run.
    """
    if plan.role == "client":
        seconds = plan.timeout + START_TIMEOUT_SECONDS
        await first_look_at_client(plan.command, plan.suite.placeholders, seconds)
        return False, b""
    address = (plan.host, plan.port) if server is None else server.address
    notices: list[str] = []
    found = await first_look(plan.room, *address, plan.ssl, on_notice=notices.append, is_ours=server is not None)
    for notice in notices:
        on_notice(notice)
    if found.trouble is not None and server is not None and await server.has_ended():
        program = server.program
        raise ProgramError(f"{found.trouble} It has ended ({program.end_description}){program.stderr_excerpt()}")
    if found.trouble is not None:
        raise ProgramError(found.trouble)
    if server is not None:
        await server.restart()  # the look may have been its only client, or have changed something
    return bool(notices), found.greeting


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
            file.write_text(deck_file(deck) + "\n", encoding="ascii")
            try:
                await _run_cases(plan, [case], search, f"{plan.command} {plan.deck_flag}", file=file)
            except ProgramError as error:  # the results so far remain valid
                on_result(str(error))
                return


async def _judge_starts(search: DialectSearch) -> None:
    """Let the case about fair deals fail if it has passed and the server deals the same cards after each start."""
    passed = (result for result in search.results.values() if result.outcome is Outcome.PASS)
    result = next((result for result in passed if result.case.endswith(f"/{FAIR_DEAL_SLUG}")), None)
    if result is None:
        return
    failure = await find_same_deal(search.plan, search.config(search.plan), result.clause)
    if failure is not None:
        search.add_result(structs.replace(result, outcome=Outcome.FAIL, failure=failure, dialogue=()))


def _decode_stderr(data: bytes) -> str:
    """Decode the end of the output of a program."""
    return data[-MAX_STDERR_BYTES:].decode(errors="backslashreplace").strip()
