"""The runner of cases: retries, confirms and shortens them on a bench, and restarts a server that dies."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import structs

from croupier.conformance.case import Case
from croupier.conformance.crowd import CROWD_CAUSE, Crowd
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.pairs import PairedExperiments
from croupier.conformance.program import error_suffix
from croupier.conformance.results import CLAUSE_FAILURES_ALONE, Failure, Outcome, Result
from croupier.conformance.server_process import ServerProcess
from croupier.conformance.shrink import Shrinker
from croupier.conformance.suite import Attempt, Bench, TargetGone, inapplicable
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE
from croupier.net.event_loop import cancel_all, run_together

MAX_ENDS: Final = 25
"""A server that has died more often is not started again; an end that only shows which case is to blame is not counted.
"""

LATE_END_SECONDS: Final = 0.3
MAX_LATE_CASES: Final = 3
"""A case may end the server at most this long after it has finished, and while at most this many others run."""

MAX_CONFIRMED_SILENCES: Final = 3
"""After this many silences that a second look has confirmed, others are believed at once."""

MUTE_RESULTS: Final = 12
OTHER_RESULTS: Final = 2
"""A program is mute if it reacts to nothing in the first cases, which fail but for a few that require nothing."""

MAX_RESETS: Final = 4
"""After this many tries that the server has ended with a reset, what is missing is believed not to have been sent."""

RESET_CAUSE: Final = Cause(
    "it resets the connection, which loses what it has sent last: it closes it with input that it has not read",
    is_guess=True,
)

ALONE_SECONDS: Final = 20.0
"""After this time, no more failures are run alone."""

COMPANY: Final = 3
"""This many copies of a case run at once, to see what fails only beside others."""

ONCE: Final = " once, and not when this case was tried again"

MAX_DIALOGUE_LINES: Final = 500
"""At most this many of the last messages of a case are kept."""


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
        self._is_mute = False
        self._ends = 0
        self._crowd = Crowd(bench.crowd_clause)
        self._last_finished: deque[Case] = deque(maxlen=MAX_LATE_CASES)
        self._suspects: set[str] = set()  # the cases that may have ended the server
        self._otherwise: Result | None = None  # what to report if none of them ends it again
        self._clock = asyncio.get_running_loop().time

    @property
    def is_over(self) -> bool:
        """Whether no more cases are to be run."""
        return bool(self.stopped_reason) or self._has_failed_enough

    @property
    def _ends_with_clients(self) -> bool:
        """Whether the server ends whenever a client leaves. Then it is started again for each client."""
        return self._server is not None and self._server.leaving_cause is not None

    @property
    def _has_failed_enough(self) -> bool:
        if self._max_failures is None:
            return False
        return sum(not result.is_good for result in self.results.values()) >= self._max_failures

    async def run(self, cases: Sequence[Case]) -> None:
        """Run cases in this order. Raises ProgramError and ValueError if a program cannot be started."""
        waiting = deque(case for case in cases if not case.beside)
        beside = deque(case for case in cases if case.beside)
        running: dict[asyncio.Task[Result], Case] = {}
        try:
            while not self.is_over and (waiting or beside or running):
                self._start_due(waiting, beside, running)
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                finished = [(running.pop(task), task.result()) for task in [*running] if task in done]  # in their order
                is_last = not (waiting or beside or running)
                if (end := await self._death([result for _, result in finished], is_last=is_last)) is None:
                    again = [case for case, _ in finished if self._crowd.has_to_run_again(case)]
                    self._record(result for case, result in finished if case not in again)
                    self._last_finished.extend(case for case, _ in finished if case not in again)
                    waiting.extendleft(again[::-1])
                else:
                    waiting.extendleft(await self._on_death(end, finished, running))
                while waiting and not self._suspects and waiting[0].id in self.results:
                    waiting.popleft()  # others were found to have ended the server
            if not self.stopped_reason and (waiting or beside or running):
                self.stopped_reason = "as many cases have failed as --max-failures allows; the others were not run"
        finally:
            await cancel_all(*running)
        if not self._ends_with_clients and (self._is_mute or not self.stopped_reason):
            await self._run_failures_alone(cases[1:])

    def _start_due(self, waiting: deque[Case], beside: deque[Case], running: dict[asyncio.Task[Result], Case]) -> None:
        """Start as many cases as may run at the same time. Cases beside others wait for the first results."""
        if self._ends_with_clients:
            due = [] if running else [self._next_alone(waiting or beside)]
        else:
            due = self._due(waiting, beside, running)
        for case in due:
            running[asyncio.create_task(self._run_case(case))] = case
        self._crowd.start(due, running.values())

    def _next_alone(self, waiting: deque[Case]) -> Case:
        """Take the next case at a server that ends with each client: first what shows that, for a start may be slow."""
        assert self._server is not None, "only our own server is known to end"
        assert self._server.leaving_cause is not None, "it ends with each client"
        clause = self._server.leaving_cause.clause
        case = next((case for case in waiting if case.clause == clause), waiting[0])
        waiting.remove(case)
        return case

    def _due(
        self, waiting: deque[Case], beside: deque[Case], running: Mapping[asyncio.Task[Result], Case]
    ) -> list[Case]:
        """Take the cases that are to be started now."""
        due: list[Case] = []
        lanes = 1 if self._ends or self._suspects or self._crowd.is_disturbing else self._bench.lanes
        occupants = [case for case in running.values() if not case.beside]
        while waiting and len(occupants) < lanes:
            if occupants and (self._crowd.runs_alone(occupants[-1]) or self._crowd.runs_alone(waiting[0])):
                break
            occupants.append(waiting.popleft())
            due.append(occupants[-1])
        if self.results and self._bench.can_run_beside:
            due += beside
            beside.clear()
        elif beside and not (due or running):
            due.append(beside.popleft())
        return due

    def _record(self, results: Iterable[Result]) -> None:
        for result in results:
            if self._has_failed_enough:
                return
            self._crowd.finish(result.case, result.failure)
            self._report(result)
            if result.case in self._suspects:
                self._suspects.remove(result.case)
                if not self._suspects and result.failure is None and self._otherwise is not None:
                    self._report(self._otherwise)
        self._stop_if_mute()

    def _report(self, result: Result) -> None:
        self.results[result.case] = result
        self._on_result(result)

    def _stop_if_mute(self) -> None:
        judged = [result for result in self.results.values() if result.outcome in {Outcome.PASS, Outcome.FAIL}]
        mute = sum(result.outcome is Outcome.FAIL and not self._has_reacted(result) for result in judged)
        if mute >= MUTE_RESULTS and len(judged) - mute <= OTHER_RESULTS and not self.stopped_reason:
            self._is_mute = True
            done = "the server has answered" if self._bench.program_side == HOUSE else "the client has reacted to"
            self.stopped_reason = f"{done} nothing in {mute} cases; the others were not run"

    def _has_reacted(self, result: Result) -> bool:
        """Whether the program has sent anything after a message of the tester."""
        sides = [line.side for line in result.dialogue if line.data.strip()]  # a line end is no message
        return any(first != second == self._bench.program_side for first, second in pairwise(sides))

    # A server that dies.

    async def _death(self, results: Sequence[Result], *, is_last: bool) -> str | None:
        """Return how the server has ended if it has, None if it runs or is not ours; `is_last`: no case is left."""
        if self._server is None or self._ends_with_clients:
            return None
        if is_last or any(result.case in self._suspects for result in results):
            await self._server.has_ended(LATE_END_SECONDS)
        elif any(result.failure and result.failure.kind is FoundKind.CLOSED for result in results):
            await self._server.has_ended()
        else:
            await self._server.program.wait_ended(0.0)
        return self._server.program.end_description or None

    async def _on_death(
        self, end: str, finished: Sequence[tuple[Case, Result]], running: dict[asyncio.Task[Result], Case]
    ) -> Sequence[Case]:
        """Start the server again; return the cases that have to be run again, the last one first.

        Those that were running, or had finished just before, are run again one by one to find the one that ends it. If
        it may be none of them, they are run again, too. If the server ends whenever a client leaves, no case is to
        blame.
        """
        assert self._server is not None, "only our own server is known to have died"
        is_doubtful = self._bench.may_have_ended_server
        again = [*(case for case, _ in finished), *running.values()]
        was_suspect = again[0].id in self._suspects  # then it was alone
        late = [] if was_suspect else [*self._last_finished][::-1]
        error = error_suffix(self._server.program.stderr)
        is_alone = len(again) == 1
        otherwise = _blame(*finished[0], end, error, ONCE) if is_alone else self._blame_crowd(finished[0][1], end)
        self._last_finished.clear()
        await cancel_all(*running)
        running.clear()
        if not (self._ends or was_suspect):
            self._server.leaving_cause = await self._bench.find_leaving_cause()
        if self._ends_with_clients:
            return again[::-1]
        if is_alone and not late and not is_doubtful:
            self._suspects.clear()
            self._record([_blame(*finished[0], end, error)])
            again = []
        again += late
        if self._ends == MAX_ENDS and not is_doubtful:
            self.stopped_reason = f"the server has ended more than {MAX_ENDS} times; the other cases were not run"
            return ()
        self._ends += not (is_doubtful or (was_suspect and is_alone and self._otherwise is not None))
        self._suspects = {case.id for case in again}
        self._otherwise = otherwise if again and not is_doubtful else None
        await self._server.restart()
        await self._bench.open(self._server.address)
        return again[::-1]

    def _blame_crowd(self, result: Result, end: str) -> Result | None:
        """Return the result if only several cases at once have ended the server, None if there is no clause for it."""
        if not self._crowd.clause:
            return None
        cause = Cause(f"it has ended ({end}) while several cases ran, and alone none of them ends it")
        ended = f"the end of the server ({end})"
        failure = Failure(self._crowd.clause, "a server that goes on", ended, kind=FoundKind.CLOSED)
        return structs.replace(result, outcome=Outcome.FAIL, failure=failure.explained(cause), dialogue=())

    # Failures that other cases bring about.

    async def _run_failures_alone(self, cases: Sequence[Case]) -> None:
        """Find out which failures without a cause come only beside other cases, or only after them.

        Some of each clause are enough until one has shown that the server mixes up games; then it is asked of them all.
        """
        stops_at = self._clock() + ALONE_SECONDS
        counts: Counter[str] = Counter()
        in_company = PairedExperiments(ALONE_SECONDS)
        due, passed_over = deque(cases), deque[Case]()
        while due and self._clock() < stops_at:
            case = due.popleft()
            result = self.results.get(case.id)
            if result is None or result.failure is None:
                continue
            failure = result.failure
            if failure.cause is not None and not failure.cause.is_guess:
                continue
            if not (self._server or self._crowd.was_crowded(case)):
                continue
            if counts[failure.clause] == CLAUSE_FAILURES_ALONE and not in_company.is_known:
                passed_over.append(case)
                continue
            counts[failure.clause] += 1
            try:
                await self._run_failure_alone(case, result, failure, in_company)
            except TargetGone:
                continue
            if in_company.is_known:
                due.extendleft(reversed(passed_over))
                passed_over.clear()

    async def _run_failure_alone(
        self, case: Case, result: Result, failure: Failure, in_company: PairedExperiments
    ) -> None:
        """Report a failure again if the case passes alone, with the cause if it fails in company, or after a start."""
        again = await self._bench.attempt(case, 0)
        if again.failure is not None:
            if again.failure.clause == failure.clause and await self._passes_after_start(case):
                failure = structs.replace(failure, cause=None)
                self._report(structs.replace(result, failure=failure, passes_alone=True))
        elif self._crowd.was_crowded(case) and await self._fails_in_company(case, failure.clause, in_company):
            self._report(structs.replace(result, failure=failure.explained(CROWD_CAUSE), passes_alone=True))

    async def _passes_after_start(self, case: Case) -> bool:
        """Whether a case passes twice at a server that has just started."""
        if self._server is None:
            return False
        for _ in range(2):
            await self._server.restart()
            await self._bench.open(self._server.address)
            if (await self._bench.attempt(case, 0)).outcome is not Outcome.PASS:
                return False
        return True

    async def _fails_in_company(self, case: Case, clause: str, experiments: PairedExperiments) -> bool:
        """Whether a case breaks the clause only as long as it runs several times at once."""

        async def passes(pair: int) -> bool:
            return (await self._bench.attempt(case, COMPANY * pair)).outcome is Outcome.PASS

        async def fails(pair: int) -> bool:
            found = await run_together(*(self._bench.attempt(case, COMPANY * pair + copy) for copy in range(COMPANY)))
            return any(attempt.failure is not None and attempt.failure.clause == clause for attempt in found)

        return await experiments.show_cause(passes, fails, is_common=True)

    # One case.

    async def _run_case(self, case: Case) -> Result:
        started_at = self._clock()
        attempts: list[Attempt] = []
        try:
            attempt = await self._decide(case, started_at, attempts)
        except TargetGone as error:
            attempt = _last_before_gone(case, attempts, error)
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
            attempt.applies,
            attempt.try_count,
        )

    async def _decide(self, case: Case, started_at: float, attempts: list[Attempt]) -> Attempt:
        """Try a case until it has come up often enough, or has failed; add the attempts to `attempts`."""
        if case.dialect not in {"", self._bench.dialect}:
            return inapplicable(f"only in the dialect {case.dialect}")
        missed: list[Attempt] = []
        hits: list[Attempt] = []
        number = 0
        while len(hits) < case.hits and case.retries.allow(number, self._clock() - started_at):
            attempt = await self._bench.attempt(case, number)
            attempts.append(attempt)
            if attempt.is_silence:
                attempt = await self._look_again(case, attempt, number)
            for _ in range(MAX_RESETS - 1):
                if attempt.was_reset:
                    attempt = await self._bench.attempt(case, number)
            number += 1
            if attempt.failure is not None:
                if self._crowd.is_doubtful(case, attempt.failure):
                    return attempt
                attempts.append(await self._bench.confirm(case, attempt, number))
                attempts.append(await self._shrinker.shorten(case, attempts[-1]))
                explained = await self._bench.explain(case, attempts[-1])
                if attempt.was_reset and explained.failure is not None and explained.failure.cause is None:
                    return explained.blamed(explained.failure.clause, RESET_CAUSE)
                return explained
            (missed if attempt.outcome is Outcome.SKIP else hits).append(attempt)
            if attempt.is_final:
                break
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


def _blame(case: Case, result: Result, end: str, error: str, when: str = "") -> Result:
    """Return the result of the case at which the server has ended; `error` is what its standard error says of that.

    A client that has said nothing has not made it end: then the case is about an earlier one.
    """
    ended = f"the end of the server ({end}{error})"
    found = result.failure if any(line.side == CLIENT for line in result.dialogue) else None
    found = found or Failure(case.clause, "a server that goes on", ended)
    cause = Cause(f"it has ended ({end}){when}")
    failure = structs.replace(found, actual=ended, cause=cause, kind=FoundKind.CLOSED)
    return structs.replace(result, outcome=Outcome.FAIL, failure=failure)


def _last_before_gone(case: Case, attempts: Sequence[Attempt], error: TargetGone) -> Attempt:
    """Return what to report of a case during which the server went: its last attempt, with what was said then."""
    if attempts and attempts[-1].failure is not None:
        return attempts[-1]
    clause = error.clause or case.clause
    failure = Failure(clause, "a server that accepts connections", str(error), kind=FoundKind.CLOSED)
    dialogue = error.dialogue or (attempts[-1].dialogue if attempts else ())
    return Attempt(Outcome.FAIL, failure=failure, dialogue=dialogue)


def _explain_missed(missed: Sequence[Attempt]) -> Attempt:
    """Return what to report of a case that has never come up: the program's refusal, or the most frequent reason."""
    last = missed[-1]
    if len(missed) > 1 and last.refused and {attempt.refused for attempt in missed} == {last.refused}:
        note = f"the server refuses {last.refused}, in each of {len(missed)} tries"
        return last._replace(outcome=Outcome.UNIMPLEMENTED, note=note)
    reason, _ = Counter(attempt.note for attempt in missed).most_common(1)[0]
    return last._replace(note=reason, try_count=len(missed))
