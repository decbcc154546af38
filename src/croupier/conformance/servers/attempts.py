"""An examination: every case is tried until it has shown what it is about, and what was wrong is shown shortly."""

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
from croupier.conformance.diagnosis.causes import likely_cause
from croupier.conformance.results import Failure, Outcome, Result
from croupier.conformance.servers.closes import ProvokedCloseDetector
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import UNCHUNKED, Chunking, ScriptedClient, first_house_fault
from croupier.conformance.servers.shrink import SHORT_DIALOGUE_LINES, find_unasked_close, shrink
from croupier.conformance.servers.test_data import Scenario, ScenarioContext, ServerTestData
from croupier.conformance.servers.verdicts import describe_failure, failing_dialogue
from croupier.core.referee import CLIENT, HOUSE

QUIET_SECONDS: Final = 0.002
"""So many seconds a house has to answer what wants no answer, before it is asked for more."""

GRACE_SECONDS: Final = 0.02
"""So many seconds it has to say more than it was asked, when a fault is looked at again."""

MAX_SILENCES: Final = 3
"""After so many silences a server is not waited for as long any more."""

MIN_LATE_WAIT_SECONDS: Final = 0.25
MUTE_WAIT_SECONDS: Final = 1.0
DEAD_WAIT_SECONDS: Final = 0.02
"""So many seconds it is waited for then at least; where it has never said a word; and where it has not for long."""

RECONNECT_SECONDS: Final = 0.2
"""So many seconds a server that takes no connections is given, to come back."""

MAX_PARALLEL_CASES: Final = 8
SLOW_ANSWER_SECONDS: Final = 0.01
"""So many cases are tried together where answers take so many seconds, and several clients are no trouble."""

MIN_TRIES: Final = 2
USUAL_TRIES: Final = 20
USUAL_TRIES_SECONDS: Final = 1.0
"""A case is tried a few times at least; several times, if that does not take so many seconds."""

SHRINK_SECONDS: Final = 0.5
"""So many seconds a dialogue is made shorter; ten times as long, all of them."""


@dataclass(frozen=True, kw_only=True)
class HouseServerCase(Case):
    """A case for servers. Its plays have a connection each, one after the other, or all at the same time.

    It is tried until it has succeeded `hits` times, or for `seconds`; once is enough to pass. `dialect` is the one that
    it is spoken in, where that is not the document's.
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
        """Let the probe have its conversation; it is over when this returns."""


class UnreachableError(ConnectionError):
    """Nobody takes connections there."""


class ServerExaminer:
    """Tries cases at a house, and remembers what it has learnt of it: how fast it is, and what it takes.

    `own` is what is known of the house's settings, or a client's options for it; `patience` how many seconds an answer
    may take; with `effort` it waits that many times as long for luck.
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
        self._ground = test_data
        self._target = target
        self._own = known_options
        self._strict = strict
        self._seed = seed
        self._patience = answer_timeout
        self._partings = ProvokedCloseDetector(test_data, answer_timeout)
        self._effort = effort
        self._slowest = 0.0
        self._usual = 0.0
        self._serves_several = False
        self._silences = 0
        self._has_answered = False
        self._was_reached = False
        self._lost = 0
        self._accepted: set[str] = set()
        self._shortening = 10 * SHRINK_SECONDS

    @property
    def max_parallel_cases(self) -> int:
        """How many cases may be tried at the same time: one, but several where it is waited for answers most of it."""
        return MAX_PARALLEL_CASES if self._serves_several and self._usual > SLOW_ANSWER_SECONDS else 1

    async def examine(self, case: HouseServerCase) -> Result:
        """What comes of a case. Raises ConnectionError where nobody has ever been reached."""
        begun = perf_counter()
        dialect = getattr(self._own, "dialect", "document")
        if case.dialect and case.dialect != dialect:
            return self._result(case, begun, Outcome.SKIP, f"only in the dialect {case.dialect}")
        missed: Counter[str] = Counter()
        hits: list[Sequence[ScriptedClient]] = []
        number = 0
        while len(hits) < case.min_successes and self._goes_on(case, number, perf_counter() - begun):
            probes = await self._tried(case, number)
            number += 1
            last = probes[-1]
            if last.connect_error:
                if self._lost < MAX_SILENCES:
                    await asyncio.sleep(RECONNECT_SECONDS)
                    continue
                return self._result(case, begun, Outcome.FAIL, failure=self._closed(last))
            if self._strict and any(probe.fault and self._asked_for(probe) for probe in probes):
                missed["a strict house has a reason to refuse what was said"] += 1
                continue
            if any(probe.fault for probe in probes):
                return await self._failed(case, begun, next(probe for probe in probes if probe.fault))
            if (parted := await self._parted(case, probes)) is not None:
                return self._told(case, begun, Outcome.FAIL, parted)
            tolerated = case.clause in self._ground.tolerated_clauses
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
            return self._result(case, begun, Outcome.SKIP, f"{reason} (in {number} tries)")
        return self._passed(case, begun, hits)

    def _goes_on(self, case: HouseServerCase, tries: int, seconds: float) -> bool:
        """Whether it is worth trying again: a slow house is not tried as often, but for as long a time."""
        return (
            tries < MIN_TRIES or seconds < (case.seconds if tries > USUAL_TRIES else USUAL_TRIES_SECONDS) * self._effort
        )

    # A try.

    async def _tried(self, case: HouseServerCase, number: int) -> Sequence[ScriptedClient]:
        luck = Random(f"{self._seed} {case.id} {number}")  # noqa: S311 -- luck that can be repeated
        if case.is_concurrent:
            company: Counter[str] = Counter()
            probes = [self._probe(play, luck, case, company) for play in case.scenarios]
            await asyncio.gather(*map(self._meet, probes))
            return probes
        probes = []
        for play in case.scenarios:
            probe = self._probe(play, luck, case)
            probes.append(probe)
            await self._meet(probe)
            if probe.fault or probe.connect_error or probe.skip_reason is not None:
                break
        return probes

    def _probe(
        self,
        play: Scenario,
        luck: Random,
        case: HouseServerCase | None = None,
        company: Counter[str] | None = None,
        *,
        grace: float = 0.0,
        delivery: Chunking = UNCHUNKED,
    ) -> ScriptedClient:
        """A probe for a case; for none, it listens for `grace` seconds to what nobody has asked for."""
        tolerated = case is not None and case.clause in self._ground.tolerated_clauses
        judges = [self._judge(strict=strict) for strict in ((False, True) if tolerated else (self._strict,))]
        encode = self._ground.room.codec(True, self._own).encode
        return ScriptedClient(
            judges,
            play(
                ScenarioContext(
                    judges[0], luck, self._ground, encode, self._how_long(), Counter() if company is None else company
                )
            ),
            delivery=case.delivery if case else delivery,
            goodbye=b"".join(map(encode, self._ground.goodbye)),
            owes_answer=self._ground.owes_answer,
            quiet_seconds=max(QUIET_SECONDS, grace),
            grace_seconds=grace,
        )

    def _judge(self, *, strict: bool) -> Conversation:
        patience = self._how_long()
        judge = Conversation(self._ground.room, self._own, strict=strict, answer_timeout=patience)
        if self._ground.new_referee is not None:
            judge.referee = self._ground.new_referee(self._own, strict, patience)
        return judge

    def _how_long(self) -> float:
        """How long an answer may take: a house that has let us wait before is not waited for as long any more."""
        if not self._has_answered and self._silences:
            return min(self._patience, DEAD_WAIT_SECONDS if self._silences >= MAX_SILENCES else MUTE_WAIT_SECONDS)
        if self._silences < MAX_SILENCES:
            return self._patience
        return min(self._patience, max(MIN_LATE_WAIT_SECONDS, 20 * self._slowest))

    async def _meet(self, probe: ScriptedClient) -> None:
        await self._target.converse(probe)
        if probe.connect_error:
            self._lost += 1
            if not self._was_reached:
                raise UnreachableError(probe.connect_error)
            return
        self._was_reached = True
        self._lost = 0
        self._slowest = max(self._slowest, probe.slowest_seconds)
        self._usual += (probe.slowest_seconds - self._usual) / 16
        self._has_answered = self._has_answered or any(side == HOUSE for side, _ in probe.wire_log)
        self._learn(probe.conversation)
        if probe.fault and probe.fault.verdict.violation.found == "silence":
            self._silences += 1

    def _learn(self, conversation: Conversation) -> None:
        """Note what the house takes: what it does not answer with a refusal."""
        lines = conversation.lines
        fault = first_house_fault(conversation)
        for spoken, heard in pairwise(lines):
            if (spoken.side, heard.side) == (CLIENT, HOUSE) and not self._ground.is_refusal(heard.message):
                if fault is not None and heard is lines[-1]:
                    break
                self._accepted.add(self._ground.kind_of(spoken.message))

    async def _parted(self, case: HouseServerCase, probes: Sequence[ScriptedClient]) -> ScriptedClient | None:
        """A conversation that the house has ended because of what it was told, although it could read it."""

        async def meet(play: Scenario, delivery: Chunking) -> ScriptedClient:
            probe = self._probe(play, Random(0), delivery=delivery)  # noqa: S311 -- nothing is left to luck
            await self._meet(probe)
            return probe

        for probe in probes:
            if (parted := await self._partings.find_provoked(probe, meet, case.delivery)) is not None:
                return parted
        return None

    # What came of it.

    @staticmethod
    def _result(case: Case, begun: float, outcome: Outcome, told: str = "", **more: Any) -> Result:
        seconds = perf_counter() - begun
        return Result(case.id, case.title, case.clause, outcome, told, seconds=seconds, **more)

    def _closed(self, probe: ScriptedClient) -> Failure:
        return Failure(
            self._ground.shared_clauses["tables"], "a connection", f"no connection any more: {probe.connect_error}"
        )

    def _passed(self, case: HouseServerCase, begun: float, hits: Sequence[Sequence[ScriptedClient]]) -> Result:
        last = hits[-1][-1]
        lines = tuple(last.conversation.lines[-SHORT_DIALOGUE_LINES:])
        if case.clause in self._ground.tolerated_clauses:
            takes, refuses = (first_house_fault(judge) is None for judge in last.conversations)
            if takes != refuses or self._refuses(last):
                told = "the server refuses it, as a strict one does" if refuses else "the server takes it"
                return self._result(case, begun, Outcome.CHOICE, told, dialogue=lines)
            return self._result(case, begun, Outcome.PASS, dialogue=lines)
        if not self._strict:
            for probe in (probe for probes in hits for probe in probes):
                strict = self._judged(probe, strict=True)
                fault = first_house_fault(strict)
                if fault is not None and not _helped(probe.conversation, strict):
                    violation = fault.verdict.violation
                    told = f"{violation.clause}: found {violation.found}; a strict client allows {violation.allowed}"
                    return self._result(case, begun, Outcome.NON_STRICT, told, dialogue=lines)
        return self._result(case, begun, Outcome.PASS, dialogue=lines)

    def _refuses(self, probe: ScriptedClient) -> bool:
        """Whether the house has refused anything."""
        lines = probe.conversation.lines
        return any(line.side == HOUSE and self._ground.is_refusal(line.message) for line in lines)

    def _asked_for(self, probe: ScriptedClient) -> bool:
        """Whether a fault is none before a tolerant judge, because of something that he tolerates of the client."""
        tolerant = self._judged(probe, strict=False)
        return first_house_fault(tolerant) is None and _helped(tolerant, probe.conversation)

    def _judged(self, probe: ScriptedClient, *, strict: bool) -> Conversation:
        """The same conversation before another judge."""
        judge = self._judge(strict=strict)
        for side, data in probe.wire_log:
            judge.on_data(side, data, 0.0)
        if probe.house_has_left:
            judge.on_disconnect(HOUSE, 0.0)
        return judge

    async def _failed(self, case: HouseServerCase, begun: float, probe: ScriptedClient) -> Result:
        outcome = Outcome.UNIMPLEMENTED if await self._never_taken(case, probe) else Outcome.FAIL
        if case.clause not in self._ground.tolerated_clauses:
            probe = await self._shown_shortly(probe)
        return self._told(case, begun, outcome, probe)

    def _told(self, case: HouseServerCase, begun: float, outcome: Outcome, probe: ScriptedClient) -> Result:
        """A failure, with its likely cause and the dialogue that shows it."""
        fault = probe.fault
        assert fault is not None, "it has failed"
        conversation = probe.conversation
        found = describe_failure(self._ground, conversation, fault)
        if case.is_concurrent and found.actual == "silence":
            cause = "it may serve one client after the other"
        else:
            own, strict = self._own, self._strict
            wire = probe.wire_log
            room = self._ground.room
            cause = likely_cause(
                room, found.wanted, found.got, conversation, wire_log=wire, known_options=own, strict=strict
            )
        lines = failing_dialogue(self._ground, conversation, fault, self._own, strict=self._strict)
        return self._result(case, begun, outcome, failure=replace(found, cause=cause), dialogue=lines)

    async def _never_taken(self, case: HouseServerCase, probe: ScriptedClient) -> bool:
        """Whether the house refuses what is allowed, in every try, and has not taken it anywhere."""
        refused = self._refused(probe)
        if refused is None or refused in self._accepted:
            return False
        for number in range(1, 5):
            again = (await self._tried(case, number))[-1]
            if again.fault and self._refused(again) != refused:
                return False
        return refused not in self._accepted

    def _refused(self, probe: ScriptedClient) -> str | None:
        """The sort of what was refused although it was allowed, if that was the fault."""
        lines, fault = probe.conversation.lines, probe.fault
        if (
            fault is None
            or len(lines) < 2
            or not self._ground.is_refusal(lines[-1].message)
            or lines[-2].side != CLIENT
        ):
            return None
        wrong = any(
            found.verdict.end == CLIENT and found.line_count == len(lines) - 1 for found in probe.conversation.faults
        )
        return None if wrong else self._ground.kind_of(lines[-2].message)

    async def _shown_again(self, says: Sequence[bytes], grace: float = GRACE_SECONDS) -> ScriptedClient:
        """A conversation in which only this is said, heard with patience."""
        again = self._probe(send_each(*says), Random(0), grace=grace)  # noqa: S311 -- nothing is left to luck
        await self._meet(again)
        return again

    async def _listened_to(self, says: Sequence[bytes]) -> ScriptedClient:
        """The same, and before every word the house has as long as it may need for something of its own accord."""
        return await self._shown_again(says, min(MIN_LATE_WAIT_SECONDS, max(GRACE_SECONDS, 2 * self._slowest)))

    async def _shown_shortly(self, probe: ScriptedClient) -> ScriptedClient:
        """The same fault in a conversation that is as short as can be found in a while."""
        begun = perf_counter()
        if probe.house_has_left and self._shortening:
            probe = await find_unasked_close(probe, self._listened_to, self._ground.shared_clauses["close"])
        best = await shrink(probe, self._shown_again, min(SHRINK_SECONDS, self._shortening))
        self._shortening = max(0.0, self._shortening - (perf_counter() - begun))
        return best


def _helped(tolerant: Conversation, strict: Conversation) -> bool:
    """Whether the client itself has needed a tolerance: then a strict judge says nothing about the house."""
    wrong = [
        [fault.verdict.violation.clause for fault in judge.faults if fault.verdict.end == CLIENT]
        for judge in (tolerant, strict)
    ]
    return bool(tolerant.tolerated(CLIENT)) or wrong[0] != wrong[1]
