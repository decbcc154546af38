"""Runs a server test case until it has a result, and shortens the dialogue of a failure."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from time import perf_counter
from typing import Any, Final, Protocol

from msgspec.structs import replace

from croupier.conformance.case import Case
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import likely_cause
from croupier.conformance.results import Failure, Outcome, Result
from croupier.conformance.servers.closes import ProvokedCloseDetector
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import UNCHUNKED, Chunking, ScriptedClient, first_house_fault
from croupier.conformance.servers.shrink import SHORT_DIALOGUE_LINES, find_unasked_close, shrink
from croupier.conformance.servers.test_data import Scenario, ScenarioContext, ServerTestData
from croupier.conformance.servers.verdicts import describe_failure, failing_dialogue
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE

QUIET_SECONDS: Final = 0.002
"""How long the house may take to answer a message that requires no answer, before the next message is sent."""

GRACE_SECONDS: Final = 0.02
"""How long to listen for unsolicited messages when a fault is reproduced."""

MAX_SILENCES: Final = 3
"""After this many missing answers the answer timeout is reduced."""

MIN_LATE_WAIT_SECONDS: Final = 0.25
MUTE_WAIT_SECONDS: Final = 1.0
DEAD_WAIT_SECONDS: Final = 0.02
"""Reduced answer timeouts.

The lower limit after several missing answers; after the first one of a server that has never answered; after several of
them.
"""

RECONNECT_SECONDS: Final = 0.2
"""How long to wait for a server that accepts no connections before the next try."""

MAX_PARALLEL_CASES: Final = 8
SLOW_ANSWER_SECONDS: Final = 0.01
"""Several cases run at once if answers usually take longer than this, and the server can serve several clients."""

MIN_TRIES: Final = 2
USUAL_TRIES: Final = 20
USUAL_TRIES_SECONDS: Final = 1.0
"""A case is tried at least twice, and up to 20 times if that takes no longer than this."""

SHRINK_SECONDS: Final = 0.5
"""How long one dialogue may be shortened; ten times as long for all of them."""


@dataclass(frozen=True, kw_only=True)
class HouseServerCase(Case):
    """A case for servers. Its scenarios have a connection each, one after the other, or all at the same time.

    It is tried until it has succeeded `min_successes` times, or for `seconds`; a single success is enough to pass.
    `dialect` names the dialect of the room in which it is played, empty for that of the document.
    """

    scenarios: tuple[Scenario, ...]
    is_concurrent: bool = False
    delivery: Chunking = UNCHUNKED
    min_successes: int = 1
    seconds: float = 0.1
    dialect: str = ""


class HouseUnderTest(Protocol):
    """A house under test."""

    async def converse(self, probe: ScriptedClient) -> None:
        """Let the scripted client have its conversation; it is over when this returns."""


class UnreachableError(ConnectionError):
    """No server accepts connections at the address."""


class ServerExaminer:
    """Runs cases against a house, and remembers how fast it answers and which messages it accepts.

    `known_options` is what is known of the house's settings, or the options of a client. `answer_timeout` is how many
    seconds an answer may take. `effort` scales how long a case is tried until it comes up by chance.
    """

    def __init__(
        self,
        test_data: ServerTestData,
        target: HouseUnderTest,
        *,
        known_options: Any = None,
        strict: bool = False,
        seed: int = 0,
        answer_timeout: float = 2.0,
        effort: float = 1.0,
    ) -> None:
        self._test_data = test_data
        self._target = target
        self._known_options = known_options
        self._strict = strict
        self._seed = seed
        self._answer_timeout = answer_timeout
        self._close_detector = ProvokedCloseDetector(test_data, answer_timeout)
        self._effort = effort
        self._slowest_seconds = 0.0
        self._average_seconds = 0.0
        self._serves_several = False
        self._silences = 0
        self._has_answered = False
        self._was_reached = False
        self._connect_errors = 0
        self._accepted: set[str] = set()
        self._shrink_seconds_left = 10 * SHRINK_SECONDS

    @property
    def max_parallel_cases(self) -> int:
        """How many cases may run at once: several only if the tester spends most of its time waiting for answers."""
        return MAX_PARALLEL_CASES if self._serves_several and self._average_seconds > SLOW_ANSWER_SECONDS else 1

    async def examine(self, case: HouseServerCase) -> Result:
        """Run a case and return its result. Raises UnreachableError if the server has never been reached."""
        started_at = perf_counter()
        dialect = getattr(self._known_options, "dialect", "document")
        if case.dialect and case.dialect != dialect:
            return self._result(case, started_at, Outcome.SKIP, f"only in the dialect {case.dialect}")
        missed: Counter[str] = Counter()
        hits: list[Sequence[ScriptedClient]] = []
        number = 0
        while len(hits) < case.min_successes and self._goes_on(case, number, perf_counter() - started_at):
            probes = await self._try(case, number)
            number += 1
            last = probes[-1]
            if last.connect_error:
                if self._connect_errors < MAX_SILENCES:
                    await asyncio.sleep(RECONNECT_SECONDS)
                    continue
                return self._result(case, started_at, Outcome.FAIL, failure=self._unreachable(last))
            if self._strict and any(probe.fault and self._is_client_departure(probe) for probe in probes):
                missed["a strict house has a reason to refuse what was said"] += 1
                continue
            if any(probe.fault for probe in probes):
                return await self._failed(case, started_at, next(probe for probe in probes if probe.fault))
            if (provoked := await self._find_provoked_close(case, probes)) is not None:
                return self._failure(case, started_at, Outcome.FAIL, provoked)
            tolerated = case.clause in self._test_data.tolerated_clauses
            reasons = [
                probe.skip_reason for probe in probes if probe.skip_reason and not (tolerated and probe.house_has_left)
            ]
            if reasons:
                missed[reasons[0]] += 1
            else:
                hits.append(probes)
        self._serves_several = self._serves_several or (case.is_concurrent and bool(hits))
        if not hits:
            (reason, _), *_ = missed.most_common()
            return self._result(case, started_at, Outcome.SKIP, f"{reason} (in {number} tries)")
        return self._passed(case, started_at, hits)

    def _goes_on(self, case: HouseServerCase, tries: int, seconds: float) -> bool:
        """Whether to try again. A slow house gets fewer tries, but the same time."""
        return (
            tries < MIN_TRIES or seconds < (case.seconds if tries > USUAL_TRIES else USUAL_TRIES_SECONDS) * self._effort
        )

    # Running a case.

    async def _try(self, case: HouseServerCase, number: int) -> Sequence[ScriptedClient]:
        random = Random(f"{self._seed} {case.id} {number}")  # noqa: S311 -- reproducible
        if case.is_concurrent:
            started_clients: Counter[str] = Counter()
            probes = [self._new_client(play, random, case, started_clients) for play in case.scenarios]
            await asyncio.gather(*map(self._converse, probes))
            return probes
        probes = []
        for play in case.scenarios:
            probe = self._new_client(play, random, case)
            probes.append(probe)
            await self._converse(probe)
            if probe.fault or probe.connect_error or probe.skip_reason is not None:
                break
        return probes

    def _new_client(
        self,
        scenario: Scenario,
        random: Random,
        case: HouseServerCase | None = None,
        started_clients: Counter[str] | None = None,
        *,
        grace: float = 0.0,
        delivery: Chunking = UNCHUNKED,
    ) -> ScriptedClient:
        """Create a client for a case; without a case, it listens for `grace` seconds for unsolicited messages."""
        tolerated = case is not None and case.clause in self._test_data.tolerated_clauses
        conversations = [
            self._new_conversation(strict=strict) for strict in ((False, True) if tolerated else (self._strict,))
        ]
        encode = self._test_data.room.codec(True, self._known_options).encode
        return ScriptedClient(
            conversations,
            scenario(
                ScenarioContext(
                    conversations[0],
                    random,
                    self._test_data,
                    encode,
                    self._current_timeout(),
                    Counter() if started_clients is None else started_clients,
                )
            ),
            delivery=case.delivery if case else delivery,
            goodbye=b"".join(map(encode, self._test_data.goodbye)),
            owes_answer=self._test_data.owes_answer,
            quiet_seconds=max(QUIET_SECONDS, grace),
            grace_seconds=grace,
        )

    def _new_conversation(self, *, strict: bool) -> Conversation:
        timeout = self._current_timeout()
        conversation = Conversation(self._test_data.room, self._known_options, strict=strict, answer_timeout=timeout)
        if self._test_data.new_referee is not None:
            conversation.referee = self._test_data.new_referee(self._known_options, strict, timeout)
        return conversation

    def _current_timeout(self) -> float:
        """The current answer timeout: reduced after several missing answers."""
        if not self._has_answered and self._silences:
            return min(self._answer_timeout, DEAD_WAIT_SECONDS if self._silences >= MAX_SILENCES else MUTE_WAIT_SECONDS)
        if self._silences < MAX_SILENCES:
            return self._answer_timeout
        return min(self._answer_timeout, max(MIN_LATE_WAIT_SECONDS, 20 * self._slowest_seconds))

    async def _converse(self, probe: ScriptedClient) -> None:
        await self._target.converse(probe)
        if probe.connect_error:
            self._connect_errors += 1
            if not self._was_reached:
                raise UnreachableError(probe.connect_error)
            return
        self._was_reached = True
        self._connect_errors = 0
        self._slowest_seconds = max(self._slowest_seconds, probe.slowest_seconds)
        self._average_seconds += (probe.slowest_seconds - self._average_seconds) / 16
        self._has_answered = self._has_answered or any(side == HOUSE for side, _ in probe.wire_log)
        self._learn(probe.conversation)
        if probe.fault and probe.fault.verdict.violation.kind is FoundKind.SILENCE:
            self._silences += 1

    def _learn(self, conversation: Conversation) -> None:
        """Remember the kinds of messages that the house accepts, i.e. does not refuse."""
        lines = conversation.lines
        fault = first_house_fault(conversation)
        for sent, received in pairwise(lines):
            if (sent.side, received.side) == (CLIENT, HOUSE) and not self._test_data.is_refusal(received.message):
                if fault is not None and received is lines[-1]:
                    break
                self._accepted.add(self._test_data.kind_of(sent.message))

    async def _find_provoked_close(
        self, case: HouseServerCase, probes: Sequence[ScriptedClient]
    ) -> ScriptedClient | None:
        """Return a conversation that the house has ended because of messages that it could read."""

        async def run_scenario(scenario: Scenario, delivery: Chunking) -> ScriptedClient:
            probe = self._new_client(scenario, Random(0), delivery=delivery)  # noqa: S311 -- nothing is drawn from it
            await self._converse(probe)
            return probe

        for probe in probes:
            if (provoked := await self._close_detector.find_provoked(probe, run_scenario, case.delivery)) is not None:
                return provoked
        return None

    # Results.

    @staticmethod
    def _result(case: Case, started_at: float, outcome: Outcome, note: str = "", **more: Any) -> Result:
        seconds = perf_counter() - started_at
        return Result(case.id, case.title, case.clause, outcome, note, seconds=seconds, **more)

    def _unreachable(self, probe: ScriptedClient) -> Failure:
        return Failure(
            self._test_data.shared_clauses["tables"], "a connection", f"no connection any more: {probe.connect_error}"
        )

    def _passed(self, case: HouseServerCase, started_at: float, hits: Sequence[Sequence[ScriptedClient]]) -> Result:
        last = hits[-1][-1]
        lines = tuple(last.conversation.lines[-SHORT_DIALOGUE_LINES:])
        if case.clause in self._test_data.tolerated_clauses:
            accepts, refuses = (first_house_fault(judge) is None for judge in last.conversations)
            if accepts != refuses or self._refuses(last):
                note = "the server refuses it, as a strict one does" if refuses else "the server takes it"
                return self._result(case, started_at, Outcome.CHOICE, note, dialogue=lines)
            return self._result(case, started_at, Outcome.PASS, dialogue=lines)
        if not self._strict:
            for probe in (probe for probes in hits for probe in probes):
                strict = self._judge_again(probe, strict=True)
                fault = first_house_fault(strict)
                if fault is not None and not _client_needed_tolerance(probe.conversation, strict):
                    violation = fault.verdict.violation
                    note = f"{violation.clause}: found {violation.found}; a strict client allows {violation.allowed}"
                    return self._result(case, started_at, Outcome.NON_STRICT, note, dialogue=lines)
        return self._result(case, started_at, Outcome.PASS, dialogue=lines)

    def _refuses(self, probe: ScriptedClient) -> bool:
        """Whether the house has refused anything."""
        lines = probe.conversation.lines
        return any(line.side == HOUSE and self._test_data.is_refusal(line.message) for line in lines)

    def _is_client_departure(self, probe: ScriptedClient) -> bool:
        """Whether a fault only follows from a departure of the client that a tolerant judge accepts."""
        tolerant = self._judge_again(probe, strict=False)
        return first_house_fault(tolerant) is None and _client_needed_tolerance(tolerant, probe.conversation)

    def _judge_again(self, probe: ScriptedClient, *, strict: bool) -> Conversation:
        """Judge the same conversation again."""
        conversation = self._new_conversation(strict=strict)
        for side, data in probe.wire_log:
            conversation.on_data(side, data, 0.0)
        if probe.house_has_left:
            conversation.on_disconnect(HOUSE, 0.0)
        return conversation

    async def _failed(self, case: HouseServerCase, started_at: float, probe: ScriptedClient) -> Result:
        outcome = Outcome.UNIMPLEMENTED if await self._is_never_accepted(case, probe) else Outcome.FAIL
        if case.clause not in self._test_data.tolerated_clauses:
            probe = await self._shorten(probe)
        return self._failure(case, started_at, outcome, probe)

    def _failure(self, case: HouseServerCase, started_at: float, outcome: Outcome, probe: ScriptedClient) -> Result:
        """A failure, with its likely cause and the dialogue that shows it."""
        fault = probe.fault
        assert fault is not None, "it has failed"
        conversation = probe.conversation
        found = describe_failure(self._test_data, conversation, fault)
        if case.is_concurrent and fault.verdict.violation.kind is FoundKind.SILENCE:
            cause: Cause | None = Cause("it may serve one client after the other", is_guess=True)
        else:
            options, strict = self._known_options, self._strict
            wire = probe.wire_log
            room = self._test_data.room
            cause = likely_cause(
                room, found.wanted, found.got, conversation, wire_log=wire, known_options=options, strict=strict
            )
        lines = failing_dialogue(self._test_data, conversation, fault, self._known_options, strict=self._strict)
        return self._result(case, started_at, outcome, failure=replace(found, cause=cause), dialogue=lines)

    async def _is_never_accepted(self, case: HouseServerCase, probe: ScriptedClient) -> bool:
        """Whether the house refuses an allowed message in every try, and has not accepted it anywhere."""
        refused = self._refused_kind(probe)
        if refused is None or refused in self._accepted:
            return False
        for number in range(1, 5):
            again = (await self._try(case, number))[-1]
            if again.fault and self._refused_kind(again) != refused:
                return False
        return refused not in self._accepted

    def _refused_kind(self, probe: ScriptedClient) -> str | None:
        """The kind of the message that was refused although it was allowed, if that was the fault."""
        lines, fault = probe.conversation.lines, probe.fault
        if (
            fault is None
            or len(lines) < 2
            or not self._test_data.is_refusal(lines[-1].message)
            or lines[-2].side != CLIENT
        ):
            return None
        wrong = any(
            found.verdict.party == CLIENT and found.line_count == len(lines) - 1 for found in probe.conversation.faults
        )
        return None if wrong else self._test_data.kind_of(lines[-2].message)

    async def _send_again(self, messages: Sequence[bytes], grace: float = GRACE_SECONDS) -> ScriptedClient:
        """Hold a conversation in which only these messages are sent, listening for `grace` seconds after each."""
        again = self._new_client(send_each(*messages), Random(0), grace=grace)  # noqa: S311 -- nothing is drawn from it
        await self._converse(again)
        return again

    async def _send_again_slowly(self, messages: Sequence[bytes]) -> ScriptedClient:
        """As `_send_again`, but give the house enough time before each message to send something of its own accord."""
        return await self._send_again(
            messages, min(MIN_LATE_WAIT_SECONDS, max(GRACE_SECONDS, 2 * self._slowest_seconds))
        )

    async def _shorten(self, probe: ScriptedClient) -> ScriptedClient:
        """Return the same fault in the shortest conversation that is found in time."""
        started_at = perf_counter()
        if probe.house_has_left and self._shrink_seconds_left:
            probe = await find_unasked_close(probe, self._send_again_slowly, self._test_data.shared_clauses["close"])
        best = await shrink(probe, self._send_again, min(SHRINK_SECONDS, self._shrink_seconds_left))
        self._shrink_seconds_left = max(0.0, self._shrink_seconds_left - (perf_counter() - started_at))
        return best


def _client_needed_tolerance(tolerant: Conversation, strict: Conversation) -> bool:
    """Whether the client itself has needed tolerance: then the strict judge proves nothing about the house."""
    wrong = [
        [fault.verdict.violation.clause for fault in judge.faults if fault.verdict.party == CLIENT]
        for judge in (tolerant, strict)
    ]
    return bool(tolerant.tolerated(CLIENT)) or wrong[0] != wrong[1]
