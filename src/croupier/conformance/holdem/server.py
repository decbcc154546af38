"""Tests a hold'em server: runs each case with users of the tester and judges the responses."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from random import Random
from time import monotonic
from typing import Any, Final

from croupier.conformance.case import Case, make_case_id
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.holdem.cases import ROOM, CaseSpec, HoldemServerCase, transcript_cases
from croupier.conformance.holdem.causes import likely_cause
from croupier.conformance.holdem.context import NOBODY, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, Deviation, NotReached, worst_deviation
from croupier.conformance.holdem.dialects import HttpDialect
from croupier.conformance.holdem.endpoint import TURN_SECONDS, ServerUnderTest
from croupier.conformance.holdem.framing import FRAMING_CASES
from croupier.conformance.holdem.handwritten import HANDWRITTEN_CASES, TURN_TIMEOUT_CASE, server_time
from croupier.conformance.holdem.http_client import ResponseError, ResponseTimeout, SentRequest
from croupier.conformance.holdem.multi_hand import HSPE_GO_CASES, MULTI_HAND_CASES
from croupier.conformance.holdem.schema import seconds_left
from croupier.conformance.holdem.shrink import MAX_SHOWN_LINES, excerpt
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.holdem.walks import WALK_CLAUSES, WalkRunner
from croupier.conformance.results import Failure, Outcome, Result
from croupier.rooms.holdem.rules import Stakes
from croupier.rooms.holdem.wire import ACTION_FOLD, Dialect

ANSWER_TIMEOUT_SECONDS: Final = 2.0
LAST_ANSWER_TIMEOUT_SECONDS: Final = 8.0
"""Timeout of a response, and the longer one when a case is tried for the last time."""

MAX_RETRY_WAIT_SECONDS: Final = 60.0
"""Total time that retries with the longer timeout may waste before there are no more of them."""

FIRST_ANSWER_TIMEOUT_SECONDS: Final = 0.6
SILENT_SERVER_TIMEOUT_SECONDS: Final = 0.05
"""Timeouts of the first response before and in the first case, and after the server has stayed silent.

The second applies if no response arrives within `LAST_ANSWER_TIMEOUT_SECONDS` either.
"""

MAX_LEARNING_ATTEMPTS: Final = 2


def server_cases(room: Any = None) -> tuple[HoldemServerCase, ...]:  # noqa: ARG001 -- the interface of all rooms
    """Return all cases for servers, in the order of their clauses."""
    handwritten = [_case_from_spec(spec) for spec in (*FRAMING_CASES, *HANDWRITTEN_CASES)]
    handwritten += [_case_from_spec(spec, counted=True) for spec in MULTI_HAND_CASES]
    handwritten += [_case_from_spec(spec, dialect="hspe-go") for spec in HSPE_GO_CASES]
    slow = _case_from_spec(TURN_TIMEOUT_CASE, timeout=TURN_SECONDS)
    walked = [
        HoldemServerCase(
            id=make_case_id(ROOM, name, "played"),
            title=title,
            clause=name,
            play=_play_nothing,
            clauses=(name,),
            is_from_walks=True,
        )
        for name, title in WALK_CLAUSES.items()
    ]
    return tuple(sorted((*transcript_cases(), *handwritten, slow, *walked), key=_sort_key))


def _sort_key(case: Case) -> tuple[int, int, str]:
    section, number = case.section.split(".")
    return int(section), int(number), case.id


def _case_from_spec(
    spec: CaseSpec,
    *,
    timeout: float = 0.0,
    dialect: Dialect | None = None,
    counted: bool = False,
) -> HoldemServerCase:
    clause, slug, title, play, more = spec
    return HoldemServerCase(
        id=make_case_id(ROOM, clause, slug),
        title=title,
        clause=clause,
        play=play,
        clauses=(clause, *more),
        wait_seconds=timeout,
        dialect=dialect,
        needs_usual_stakes=counted,
    )


async def _play_nothing(context: HoldemContext) -> None:
    """Cases from walks have no conversation of their own."""


def untestable(room: Any) -> Mapping[str, str]:  # noqa: ARG001 -- the interface of all rooms
    """Return the clauses that no case for servers tests, each with the reason."""
    return UNTESTABLE


async def check_server(
    room: Any,  # noqa: ARG001 -- the interface of all rooms
    host: str,
    port: int,
    *,
    cases: Sequence[Case],
    options: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float = 30.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    detected_dialect: HttpDialect | None = None,
) -> tuple[Result, ...]:
    """Run cases against a server one after another; the one that waits for a turn to expire runs concurrently.

    `options.dialect` is the dialect of the server. A case may take `timeout` seconds. `on_result` receives each result
    as soon as it is known. The results are in the order of `cases`; after `max_failures` failures no more cases start.
    Responses are read by `detected_dialect` if there is one.

    Raises ConnectionError if the server does not accept connections.
    """
    dialect: Dialect = getattr(options, "dialect", "readme")
    if detected_dialect is not None and detected_dialect.dialect is not None:
        dialect = detected_dialect.dialect
    server = ServerUnderTest(host, port, dialect, min(ANSWER_TIMEOUT_SECONDS, timeout / 2), detected_dialect)
    await _require_reachable(server)
    run = HoldemServerRun(server, Random(seed), strict=strict, timeout=timeout, on_result=on_result)  # noqa: S311 -- it has to be repeatable
    return await run.run([case for case in cases if isinstance(case, HoldemServerCase)], max_failures)


async def _require_reachable(server: ServerUnderTest) -> None:
    """Connect once. Raises ConnectionError if the server does not accept connections."""
    client = server.new_client()
    try:
        await client.send(b"")
    except OSError as error:
        raise ConnectionError(f"found nobody at {client.host} ({error}); allowed: a server that listens") from None
    finally:
        await client.close()


class HoldemServerRun:
    """One run of the cases for servers."""

    def __init__(
        self,
        server: ServerUnderTest,
        rng: Random,
        *,
        strict: bool,
        timeout: float,
        on_result: Callable[[Result], None],
    ) -> None:
        self.server = server
        self.walks = WalkRunner(server, rng, timeout)
        self._strict = strict
        self._timeout = timeout
        self._on_result = on_result
        self._has_learned = False
        self._waited_seconds = 0.0

    async def run(self, cases: Sequence[HoldemServerCase], max_failures: int | None) -> tuple[Result, ...]:
        """Run the cases and return their results."""
        results: dict[str, Result] = {}
        concurrent: list[asyncio.Task[Result]] = []
        first_answer = asyncio.create_task(self._await_first_answer())
        await asyncio.wait({first_answer}, timeout=FIRST_ANSWER_TIMEOUT_SECONDS)
        if not self.server.has_answered:
            self.server.timeout = min(FIRST_ANSWER_TIMEOUT_SECONDS, self._timeout / 2)
        scripted = [case for case in cases if not case.wait_seconds and not case.is_from_walks]
        first = [case for case in scripted if case.needs_empty_game]
        rest = [case for case in scripted if not case.needs_empty_game] + [case for case in cases if case.is_from_walks]
        slow = [case for case in cases if case.wait_seconds]
        try:
            for number, case in enumerate((*first, *rest, *slow)):
                if (
                    number == len(first) and self.server.can_open_games
                ):  # the waiting case has its game, so that an empty one may go
                    concurrent += [asyncio.create_task(self._run_and_report(case)) for case in slow]
                if case in slow and concurrent:
                    continue
                result = await self._run_and_report(case)
                results[result.case] = result
                if max_failures is not None and _count_failures(results.values()) >= max_failures:
                    break
                if not (self.server.has_answered or result.is_good):
                    if await first_answer:  # the server is only slow to start
                        results[result.case] = await self._run_and_report(case)
                    else:
                        self.server.timeout = min(SILENT_SERVER_TIMEOUT_SECONDS, self._timeout / 2)
            else:
                results |= {result.case: result for result in await asyncio.gather(*concurrent)}
        finally:
            for task in (first_answer, *concurrent):
                task.cancel()
            await asyncio.gather(first_answer, *concurrent, return_exceptions=True)
        results |= {task.result().case: task.result() for task in concurrent if task.done() and not task.cancelled()}
        return tuple(results[case.id] for case in cases if case.id in results)

    async def _await_first_answer(self) -> bool:
        """Wait until the server sends its first response; return whether it did."""
        client = self.server.new_client()
        try:
            await client.request(
                SentRequest("GET", "/games/"), timeout=min(LAST_ANSWER_TIMEOUT_SECONDS, self._timeout / 2)
            )
        except ResponseTimeout:
            return self.server.has_answered
        except (ResponseError, OSError):  # any bytes count as a response
            pass
        finally:
            client.abort()
        self.server.has_answered = True
        return True

    async def _learn_stakes(self) -> None:
        """Learn the blinds and stacks, and whether games can be opened, so that games can run side by side."""
        self._has_learned = True
        self.server.timeout = min(ANSWER_TIMEOUT_SECONDS, self._timeout / 2)
        for _ in range(MAX_LEARNING_ATTEMPTS):
            context = HoldemContext(self.server)
            self.server.can_open_games = True
            try:
                game = await context.seat("ann", "bob")
                with suppress(CaseAborted):
                    await self._observe_first_hand(context, game)
            except (CaseAborted, NotReached, OSError):
                self.server.can_open_games = False
            finally:
                await self._close_context(context)
            if not context.has_timed_out:
                break

    async def _observe_first_hand(self, context: HoldemContext, game: str) -> None:
        """Read the first hand of a game and end it. Raises CaseAborted and OSError."""
        server = self.server
        response = await context.request(NOBODY, "GET", f"/games/{game}")
        context.require_success(response, "holdem-5.2", 200)
        game_state = context.require_game(response)
        bets = sorted(one.bet_so_far for one in game_state.table)
        if len(bets) == 2 and 0 < bets[0] < bets[1]:
            server.stakes = Stakes(bets[0], bets[1])
            server.stack = max(one.wealth + one.bet_so_far for one in game_state.table)
        left = seconds_left(game_state.turn.expiry, server_time(response))
        server.turn_seconds = left if left is not None and left > 1 else TURN_SECONDS
        if role := context.role_to_act(game_state):
            await context.act(role, game, {"action": ACTION_FOLD})
        await context.list_games()

    async def _run_and_report(self, case: HoldemServerCase) -> Result:
        result = await self._run_case(case)
        self._on_result(result)
        return result

    async def _run_case(self, case: HoldemServerCase) -> Result:
        began = monotonic()
        if case.dialect is not None and case.dialect != self.server.dialect:
            return _skipped_result(case, f"it is about dialect {case.dialect}")
        if case.needs_usual_stakes and not self.server.has_usual_stakes:
            here = f"{self.server.stakes.small_blind}/{self.server.stakes.big_blind} and {self.server.stack}"
            return _skipped_result(case, f"it is about blinds of 10/20 and 10000 chips; here are {here}")
        if case.is_from_walks:
            return await self._run_walk_case(case)
        if self.server.has_answered and not self._has_learned:
            await self._learn_stakes()
        context, deviations, reason = await self._attempt(case)
        if context.has_timed_out and self.server.has_answered and self._waited_seconds < MAX_RETRY_WAIT_SECONDS:
            if not self._has_learned:
                await self._learn_stakes()
            started = monotonic()
            self.server.timeout = min(LAST_ANSWER_TIMEOUT_SECONDS, self._timeout / 2)
            context, deviations, reason = await self._attempt(case)
            if context.has_timed_out:  # otherwise the server is slow: keep the longer timeout
                self._waited_seconds += monotonic() - started
                self.server.timeout = min(ANSWER_TIMEOUT_SECONDS, self._timeout / 2)
        elif context.turn_may_have_expired and deviations and not case.wait_seconds:
            context, deviations, reason = await self._attempt(case)
        if context.turn_may_have_expired and not context.has_timed_out and not case.wait_seconds:
            deviations, reason = [], "its answers take so long that turns may have ended by themselves"
        worst = worst_deviation(deviations, preferred=case.clauses[:1])
        lines = (
            context.lines[max(0, worst.line_count - MAX_SHOWN_LINES) : worst.line_count] if worst is not None else ()
        )
        return self._build_result(case, lines, worst, reason, began)

    async def _run_walk_case(self, case: HoldemServerCase) -> Result:
        """Return the finding of the walks about a clause, with the shortest dialogue found."""
        began = monotonic()
        traces, reason = await self.walks.find_traces(case.clause)
        worst = worst_deviation([trace.deviation for trace in traces], preferred=case.clauses)
        if worst is None:
            return self._build_result(case, (), None, reason, began)
        trace = next(trace for trace in traces if trace.deviation is worst)
        if worst.outcome is Outcome.FAIL:
            trace = await self.walks.shrink(trace)
        return self._build_result(case, excerpt(trace.lines), trace.deviation, "", began)

    async def _attempt(self, case: HoldemServerCase) -> tuple[HoldemContext, Sequence[Deviation], str]:
        """Run a case once; return its context, the deviations that count, and why it was not reached ("" if it was)."""
        context = HoldemContext(self.server, self._timeout)
        reason = ""
        is_aborted = False
        recorded: list[Deviation] = []
        try:
            async with asyncio.timeout(self._timeout):
                await case.play(context)
        except CaseAborted:
            is_aborted = True
        except NotReached as error:
            reason = str(error)
        except TimeoutError:
            reason = f"it takes longer than the timeout of {self._timeout:g} s"
        except OSError as error:
            context.add_deviation("holdem-1.8", "a server that goes on", f"none: {error}", Outcome.FAIL)
            is_aborted = True
        finally:
            recorded += context.deviations  # deviations while leaving do not belong to the case
            await self._close_context(context)
        deviations = [deviation for deviation in recorded if deviation.clause in case.clauses]
        if is_aborted and not deviations:
            deviations = [deviation for deviation in recorded if deviation.line_count == recorded[-1].line_count]
        return (
            context,
            [_as_choice(deviation) for deviation in deviations] if case.failure_is_choice else deviations,
            reason,
        )

    async def _close_context(self, context: HoldemContext) -> None:
        try:
            async with asyncio.timeout(self.server.timeout):
                await context.close()
        except (TimeoutError, CaseAborted, OSError):
            pass

    def _build_result(
        self, case: HoldemServerCase, lines: Sequence[DialogueLine], worst: Deviation | None, reason: str, began: float
    ) -> Result:
        """Build the result of a case from its worst deviation, or from the reason why it was not judged."""
        seconds = monotonic() - began
        if worst is None and reason:
            return _skipped_result(case, reason, seconds)
        if worst is None:
            return Result(case.id, case.title, case.clause, Outcome.PASS, seconds=seconds)
        outcome = worst.outcome
        if self.server.features.lacks(worst, lines):
            outcome = Outcome.UNIMPLEMENTED
        elif outcome is Outcome.NON_STRICT and self._strict:
            outcome = Outcome.FAIL
        failure = None
        if outcome is Outcome.FAIL or worst.outcome is Outcome.FAIL:
            failure = Failure(worst.clause, worst.expected, worst.actual, worst.wanted, worst.got, self._cause(worst))
        return Result(
            case.id,
            case.title,
            case.clause,
            outcome,
            "" if failure else f"expected {worst.expected}; found {worst.actual}",
            failure,
            tuple(lines),
            seconds,
            is_optional=worst.outcome is Outcome.CHOICE,
        )

    def _cause(self, deviation: Deviation) -> Cause | None:
        return likely_cause(deviation, is_hspe_go=self.server.features.is_hspe_go and self.server.dialect == "readme")


def _as_choice(deviation: Deviation) -> Deviation:
    """Turn a failure into an implementation choice."""
    if deviation.outcome is not Outcome.FAIL or deviation.clause == "holdem-1.8":
        return deviation
    lines = deviation.line_count
    return Deviation(deviation.clause, Outcome.CHOICE, deviation.expected, deviation.actual, line_count=lines)


def _skipped_result(case: HoldemServerCase, reason: str, seconds: float = 0.0) -> Result:
    return Result(case.id, case.title, case.clause, Outcome.SKIP, reason, seconds=seconds)


def _count_failures(results: Iterable[Result]) -> int:
    return sum(not result.is_good for result in results)
