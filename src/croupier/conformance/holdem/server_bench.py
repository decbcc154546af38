"""The bench of hold'em servers: tries cases with users of the tester and judges the responses."""

import asyncio
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.deviations import NotReached, make_attempt
from croupier.conformance.diagnosis.cause import MUTE_CAUSE, Cause
from croupier.conformance.holdem.cases import FIRST_RANK, HoldemServerCase
from croupier.conformance.holdem.causes import likely_cause
from croupier.conformance.holdem.context import PAUSE_POLL_SECONDS, HoldemContext
from croupier.conformance.holdem.deviations import CaseAborted, HttpDeviation, OtherSettings, worst_deviation
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.http_client import ResponseError
from croupier.conformance.holdem.learning import learn_settings
from croupier.conformance.holdem.operations import operation_name
from croupier.conformance.holdem.refereed_games import MIN_PLAYERS
from croupier.conformance.holdem.replay_tables import CLAUSES_BY_OPERATION
from croupier.conformance.holdem.steps import WalkStep
from croupier.conformance.holdem.table_settings import TableSettings
from croupier.conformance.holdem.walk import DeviationTrace
from croupier.conformance.holdem.walks import WalkRunner
from croupier.conformance.parallel import count_parallel
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt, Bench, Config, TargetGone, inapplicable
from croupier.core.errors import FoundKind
from croupier.core.session import Address
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.net.addresses import format_address
from croupier.rooms.holdem.wire import ACTION_FOLD

CASE_TIMEOUT_SECONDS: Final = 20.0
"""The time limit of a case in addition to the timeout of an answer: a turn takes up to 15 seconds."""

MAX_LANES: Final = 8
CLIENTS_OF_A_CASE: Final = 4
"""How many cases may run at once at a slow server, and how many connections most of them need."""

SERIAL_TRIALS: Final = 2
MIN_SERIAL_SECONDS: Final = 1.0
"""How often, and for how long, a request has to wait until another connection is closed."""

SERIAL: Final = Cause("it serves one connection after the other: a second one is answered once the first is closed")

MAX_LEARNING_ATTEMPTS: Final = 2
"""A server that has ended this often while its settings were learned has the usual ones."""

TAIL_LENGTHS: Final = (1, 2, 3, 4, 6, 9, 13, 18, 25, 45)
"""The numbers of last steps that are tried alone."""

FEW_PLAYERS: Final = 3
"""The number of players to try besides two, if the walk had more."""

CALL_STEP: Final = WalkStep("act", chips="call")
FOLD_STEP: Final = WalkStep("act", action=ACTION_FOLD)
RAISE_STEP: Final = WalkStep("act", chips="smallest raise")
ALL_IN_STEP: Final = WalkStep("act", chips="everything")
USUAL_SCRIPTS: Final[Sequence[Sequence[WalkStep]]] = (
    (),
    (FOLD_STEP,),
    (CALL_STEP,),
    (RAISE_STEP,),
    (ALL_IN_STEP, CALL_STEP),
    (ALL_IN_STEP, FOLD_STEP),
    (CALL_STEP, CALL_STEP),
    (RAISE_STEP, CALL_STEP),
    (RAISE_STEP, RAISE_STEP),
    (FOLD_STEP, FOLD_STEP),
)
"""Short scripts for two players, in which many faults show."""


class HoldemServerBench(Bench):
    """Tries cases on a server, and remembers what it has learned about its games."""

    replay_tries = 2
    crowd_clause = "holdem-3.8"

    def __init__(self, config: Config) -> None:
        self._config = config
        self._process = config.server
        self._server = ServerUnderTest(("", 0), config)
        self.dialect = self._server.dialect
        self._has_learned = config.deals_deck  # a hand to learn from would take the deck
        if config.deals_deck and config.learned is None:  # it may pause: wait for its hands
            self._server.settings = TableSettings(pause_seconds=PAUSE_POLL_SECONDS)
        self._may_pause = True  # until no hand has begun for which a case waited
        self._learning_count = 0
        self._has_ended_while_learning = False
        self._case_id = ""  # the case that was tried last
        self._doubtful_case_id = ""  # the case after which the server has ended first
        self._retried_case_id = ""  # the last case at which it has ended
        self._is_serial: bool | None = None
        self._lanes: int | None = None  # at a slow server, None if that is not known
        self._case_timeout = CASE_TIMEOUT_SECONDS + config.timeout
        self._walks = WalkRunner(self._server, Random(config.seed), self._case_timeout)  # noqa: S311 -- it has to be repeatable

    @property
    def learned(self) -> TableSettings | None:
        """The settings of the server's tables, None if they are not known."""
        return self._server.settings if self._has_learned else None

    @property
    def lanes(self) -> int:
        """How many cases may run at once: several at a slow server that opens games, and serves their players."""
        return self._lanes if self._lanes is not None and self._server.is_shareable else 1

    @property
    def can_run_beside(self) -> bool:
        """Whether the server opens more games for cases that wait."""
        return self._has_learned and self._server.can_open_games

    async def open(self, address: Address) -> None:
        """See `Bench.open`."""
        self._server.open(address)
        self._has_ended_while_learning = False
        self._keep_players()
        client = self._server.new_client()
        try:
            await client.send(b"")
        except OSError as error:
            raise ConnectionError(f"no server at {format_address(address)}: {error}") from None
        finally:
            await client.close()

    @property
    def may_have_ended_server(self) -> bool:
        """See `Bench.may_have_ended_server`: players leave after a case or stay, and others play for the settings."""
        is_first_end = self._case_id != self._retried_case_id
        has_left_or_stays = is_first_end if self._server.players_stay else bool(self._server.lines_before_end)
        return has_left_or_stays or self._has_ended_while_learning

    def _keep_players(self) -> None:
        """Let the players stay once the server has ended when they left; not if it has ended in the same case again."""
        if self._server.players_stay and self._case_id == self._doubtful_case_id:
            self._server.players_stay, self._server.lines_before_end = False, ()
        elif self._server.lines_before_end and not self._server.players_stay:
            self._server.players_stay, self._doubtful_case_id = True, self._case_id
        self._retried_case_id = self._case_id

    async def attempt(self, case: HoldemServerCase, number: int, *, is_patient: bool = False) -> Attempt:  # noqa: ARG002 -- the server alone has luck
        """See `Bench.attempt`."""
        self._case_id = case.id
        if case.needs_luck and not self._config.deals_deck:
            await self._learn()  # for the bench with the deck of the case
            return inapplicable("the cards decide it: --deck-flag has the server deal them")
        if self._lanes is None and self._has_learned and self._server.is_shareable:
            self._lanes = await count_parallel(MAX_LANES, lambda cases: self._server.serves(cases * CLIENTS_OF_A_CASE))
        try:
            if case.play is None:
                return await self._attempt_walks(case)
            return await self._attempt_play(case, is_patient=is_patient)
        except OtherSettings as error:
            return inapplicable(str(error))

    async def _attempt_play(self, case: HoldemServerCase, *, is_patient: bool) -> Attempt:
        """Return the attempt of a case that is played. Raises OtherSettings."""
        server = self._server
        if server.answer_timeout.has_answered:
            await self._learn()
        server.timeout = server.answer_timeout.for_try(is_patient=is_patient)
        context, deviations, reason = await self._converse(case)
        may_find_more = case.rank > FIRST_RANK and (bool(deviations) or not case.beside)
        if may_find_more and not self._has_learned and server.answer_timeout.has_answered:
            await self._learn()  # a referee can find out more, as in the run that this case repeats
            context, deviations, reason = await self._converse(case)
        may_pause = self._may_pause and context.has_seen_idle_table and not server.settings.pause_seconds
        if may_pause and (deviations or reason):
            context, deviations, reason = await self._converse_with_pauses(case) or (context, deviations, reason)
        if context.turn_may_have_expired and not context.has_timed_out and not case.beside:
            return Attempt(Outcome.SKIP, "its responses take so long that turns may have expired")
        worst = worst_deviation(deviations, preferred=case.clauses[:1])
        if worst is None:
            outcome = Outcome.SKIP if reason else Outcome.PASS
            return Attempt(outcome, reason, dialogue=context.lines, was_reset=context.was_reset)
        attempt = self._judge(worst, context.lines[: worst.line_count])
        return attempt._replace(was_reset=context.was_reset and worst.kind is FoundKind.CLOSED)

    async def replay(self, case: HoldemServerCase, steps: Sequence[WalkStep]) -> Attempt:
        """See `Bench.replay`: the steps are those of a walk."""
        return self._judge_traces(case, await self._walks.replay(steps)) or Attempt(Outcome.PASS)

    def short_starts(self, attempt: Attempt) -> Iterable[Sequence[WalkStep]]:
        """The last steps of a walk, or a usual script, with as few players as possible."""
        players, *steps = attempt.steps
        tails = [steps[-many:] for many in TAIL_LENGTHS if many < len(steps)]
        sizes = sorted({MIN_PLAYERS, min(FEW_PLAYERS, players.seat_offset), players.seat_offset})
        yield from ([WalkStep("seat", size), *tail] for tail in tails[:2] for size in sizes)
        yield from ([WalkStep("seat", MIN_PLAYERS), *script] for script in USUAL_SCRIPTS if len(script) < len(steps))
        yield from ([WalkStep("seat", size), *tail] for tail in tails[2:] for size in sizes)

    async def explain(self, case: HoldemServerCase, attempt: Attempt) -> Attempt:  # noqa: ARG002 -- any request shows it
        """See `Bench.explain`: of a silence, whether it comes from the number of connections."""
        attempt = attempt.explained_if_silent(MUTE_CAUSE, has_answered=self._server.answer_timeout.has_answered)
        if attempt.failure is None or attempt.failure.cause is not None or not attempt.is_silence:
            return attempt
        if self._is_serial is None:
            self._is_serial = all([await self._answers_after_close() for _ in range(SERIAL_TRIALS)])
        return attempt.blamed(attempt.failure.clause, SERIAL) if self._is_serial else attempt

    async def _answers_after_close(self) -> bool:
        """Whether a request is answered only once another connection is closed."""
        first, second = self._server.new_client(), self._server.new_client()
        seconds = self._server.answer_timeout.reduced(MIN_SERIAL_SECONDS)
        request = SentRequest("GET", "/games/")
        waiting: asyncio.Task[ReceivedResponse] | None = None
        try:
            await first.request(request, timeout=seconds)
            waiting = asyncio.create_task(second.request(request, timeout=2 * seconds))
            await asyncio.wait({waiting}, timeout=seconds)
            was_answered = waiting.done()
            await first.close()
            await waiting
        except (OSError, ResponseError):
            return False
        finally:
            if waiting is not None:
                waiting.cancel()
            await first.close()
            await second.close()
        return not was_answered

    async def first_cards(self) -> Sequence[str]:
        """See `Bench.first_cards`."""
        try:
            await self._learn()
            return await self._walks.first_cards()
        except OtherSettings:
            return ()

    # Trying a case.

    async def _learn(self) -> None:
        """Learn the settings of the tables, once. Raises TargetGone if the server ends, but for the last time."""
        if self._has_learned:
            return
        self._learning_count += 1
        end = ""
        try:
            await learn_settings(self._server)
        except ConnectionRefusedError as error:
            end = str(error)
        if self._process is not None and await self._process.has_ended():
            end = self._process.program.end_description
        self._has_learned = not end or self._learning_count == MAX_LEARNING_ATTEMPTS
        if end:  # it learns when the server runs again
            self._has_ended_while_learning = True
            raise TargetGone(end)

    async def _attempt_walks(self, case: HoldemServerCase) -> Attempt:
        """Return the finding of the walks about a clause, or about the cards that were dealt in them.

        Raises OtherSettings.
        """
        await self._learn()
        if case.judges_deals:
            return await self._walks.judge_deals()
        traces, reason = await self._walks.find_traces(case.clause)
        return self._judge_traces(case, traces) or Attempt(Outcome.SKIP if reason else Outcome.PASS, reason)

    def _judge_traces(self, case: HoldemServerCase, traces: Sequence[DeviationTrace]) -> Attempt | None:
        """Return the attempt of the worst deviation in walks, None if there is none."""
        worst = worst_deviation([trace.deviation for trace in traces], preferred=case.clauses)
        if worst is None:
            return None
        trace = next(trace for trace in traces if trace.deviation is worst)
        return self._judge(worst, trace.lines)._replace(steps=trace.steps)

    async def _converse(self, case: HoldemServerCase) -> tuple[HoldemContext, Sequence[HttpDeviation], str]:
        """Run a case; return its context, the deviations that count, and why it was not reached ("" if it was).

        Raises OtherSettings.
        """
        assert case.play is not None, "a case from walks is not played"
        await self._server.make_room()
        context = HoldemContext(self._server, self._case_timeout, is_refereed=self._has_learned and not case.beside)
        reason = ""
        is_aborted = False
        recorded: list[HttpDeviation] = []
        try:
            async with asyncio.timeout(self._case_timeout):
                await case.play(context)
        except CaseAborted:
            is_aborted = True
        except NotReached as error:
            reason = str(error)
        except TimeoutError:
            reason = f"it takes longer than {self._case_timeout:g} s"
        except ConnectionRefusedError as error:
            raise self._server.gone(error, context.lines) from None
        except OSError as error:
            context.add_deviation(
                "holdem-1.8", "a server that keeps running", f"none: {error}", Outcome.FAIL, kind=FoundKind.CLOSED
            )
            is_aborted = True
        finally:
            if is_aborted:
                await self._server.within_timeout(context.play_on())
            recorded += context.deviations  # deviations while leaving do not belong to the case
            await self._server.within_timeout(context.close())
        deviations = [deviation for deviation in recorded if deviation.clause in case.clauses]
        if is_aborted and not recorded:
            reason = "the server has reset the connection in the middle of a response"
        elif is_aborted and not deviations:
            deviations = [deviation for deviation in recorded if deviation.line_count == recorded[-1].line_count]
        if case.failure_is_choice:
            deviations = [_as_choice(deviation) for deviation in deviations]
        return context, deviations, reason

    async def _converse_with_pauses(
        self, case: HoldemServerCase
    ) -> tuple[HoldemContext, Sequence[HttpDeviation], str] | None:
        """Repeat a case and wait for the next hand; return the result as `_converse` does, None if no hand has begun.

        The pause of a server may be so short that no hand was missing while its settings were learned.
        Raises OtherSettings.
        """
        settings = self._server.settings
        self._server.settings = replace(settings, pause_seconds=PAUSE_POLL_SECONDS)
        found = await self._converse(case)
        if found[0].has_awaited_hand:
            return found
        self._server.settings = settings
        self._may_pause = not found[0].has_missed_hand
        return None

    def _judge(self, worst: HttpDeviation, lines: Sequence[DialogueLine]) -> Attempt:
        """Return the attempt that ended with a deviation."""
        features = self._server.features
        server = self._server
        is_lacking = features.lacks(worst)
        if is_lacking and worst.outcome is Outcome.FAIL and worst.exchange is not None:
            clause = CLAUSES_BY_OPERATION.get(operation_name(worst.exchange[0].target), worst.clause)
            worst = replace(worst, clause=clause)  # whatever the case is about
        is_hspe_go = features.is_hspe_go and server.dialect == "readme"
        cause = worst.cause or likely_cause(
            worst, is_hspe_go=is_hspe_go, dialect=server.dialect, detected=server.detected_dialect
        )
        attempt = make_attempt(replace(worst, cause=cause), lines, strict=self._config.strict)
        return attempt._replace(outcome=Outcome.UNIMPLEMENTED) if is_lacking else attempt


def _as_choice(deviation: HttpDeviation) -> HttpDeviation:
    """Turn a failure into an implementation choice."""
    is_fixed = deviation.outcome is not Outcome.FAIL or deviation.clause == "holdem-1.8"
    return deviation if is_fixed else replace(deviation, outcome=Outcome.CHOICE)
