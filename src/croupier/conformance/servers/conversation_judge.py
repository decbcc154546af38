"""Judges the conversations that a case has had with a house: what to report of them."""

from collections.abc import Sequence
from typing import Final

from croupier.conformance.clauses import find_clause
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import likely_cause
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.servers.conversing import Conversations
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import HouseServerCase, ServerTestData
from croupier.conformance.servers.verdicts import describe_failure, has_refused, shown_dialogue
from croupier.conformance.suite import Attempt, Config
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT, HOUSE

STRICT_NOTE: Final = "the server refuses this, as a strict server does"


class ConversationJudge:
    """Judges conversations by the case that has led to them, and remembers which departures it has reported."""

    def __init__(self, test_data: ServerTestData, conversations: Conversations, config: Config) -> None:
        self._test_data = test_data
        self._conversations = conversations
        self._config = config
        self._departures: dict[str, str] = {}  # by the clause that tolerates it, the case that reports it for all

    def is_tolerated(self, case: HouseServerCase) -> bool:
        """Whether the house may accept what is sent, or refuse it."""
        return case.clause in self._test_data.tolerated_clauses

    def judges_strictly(self, case: HouseServerCase) -> bool:
        """Whether `--strict` applies: the house must not tolerate anything."""
        return self._config.strict and not self.is_tolerated(case)

    def passed(self, case: HouseServerCase, probes: Sequence[ScriptedClient]) -> Attempt:
        """What a case shows whose conversations have no fault."""
        last = probes[-1]
        lines = last.conversation.lines
        if self.is_tolerated(case):
            as_strict = self._judge_again(last, strict=True, reads_house_strictly=self._config.strict)
            may_refuse = not as_strict.faults_of(HOUSE)
            if may_refuse and not has_refused(self._test_data, last.conversation):
                return Attempt(Outcome.PASS, dialogue=lines)
            accepted = "the server ends the conversation" if last.house_has_left else "the server accepts this"
            return Attempt(Outcome.CHOICE, STRICT_NOTE if may_refuse else accepted, dialogue=lines)
        for probe in () if self._config.strict else probes:
            strict = self._judge_again(probe, strict=True)
            faults = strict.faults_of(HOUSE)
            if faults and not _client_needed_tolerance(probe.conversation, strict):
                clause = faults[0].verdict.violation.clause
                if self._departures.setdefault(clause, case.id) == case.id or case.clause == clause:
                    note = f"the server departs from the document as {clause} tolerates"
                    sentence = find_clause(clause).first_sentence
                    return Attempt(Outcome.NON_STRICT, f"{note}: {sentence}" if sentence else note, dialogue=lines)
        return Attempt(Outcome.PASS, dialogue=lines)

    async def missed(self, case: HouseServerCase, probe: ScriptedClient) -> Attempt:
        """What a conversation shows that did not get where it should."""
        lines, conversations = probe.conversation.lines, self._conversations
        if conversations.lets_nobody_play:
            return Attempt(Outcome.SKIP, "no game can begin: no client can pay for one", is_final=True)
        is_poor = any(line.message in self._test_data.refusals_of_payment for line in lines[1:2])
        if is_poor and await conversations.is_poor_elsewhere():
            cause = Cause("it has one purse for all clients", clause=self._test_data.shared_clauses["purse"])
            found = Failure(case.clause, "a purse for each client", "an empty purse for a client at another address")
            return Attempt(Outcome.FAIL, failure=found.explained(cause), dialogue=lines)
        return Attempt(
            Outcome.SKIP,
            probe.skip_reason or "",
            dialogue=lines,
            refused="" if probe.house_has_left else self.refused_kind(probe),  # a close makes it a goodbye
            is_final=not probe.applies,
            applies=probe.applies,
            was_reset=probe.conversation.is_house_cut,
        )

    def is_client_departure(self, probe: ScriptedClient) -> bool:
        """Whether a fault only follows from a departure of the client that a tolerant judge accepts."""
        tolerant = self._judge_again(probe, strict=False)
        return not tolerant.faults_of(HOUSE) and _client_needed_tolerance(tolerant, probe.conversation)

    def is_strict_answer(self, case: HouseServerCase, probe: ScriptedClient) -> bool:
        """Whether a fault is the right answer of a strict house to bytes of the client that need tolerance."""
        assert probe.fault is not None, "there is something to excuse"
        kind = probe.fault.verdict.violation.kind
        if self.judges_strictly(case) or kind not in {FoundKind.MESSAGE, FoundKind.CLOSED}:
            return False
        if not has_refused(self._test_data, probe.conversation):
            return False
        strict = self._judge_again(probe, strict=True, reads_house_strictly=self._config.strict)
        return not strict.faults_of(HOUSE) and _client_needed_tolerance(probe.conversation, strict)

    def _judge_again(
        self, probe: ScriptedClient, *, strict: bool, reads_house_strictly: bool | None = None
    ) -> Conversation:
        """Judge the same conversation again."""
        conversation = self._conversations.new_conversation(strict=strict, reads_house_strictly=reads_house_strictly)
        for side, data in probe.wire_log:
            conversation.on_data(side, data, 0.0)
        if probe.house_has_left:
            conversation.on_disconnect(HOUSE, 0.0, was_reset=probe.was_reset)
        return conversation

    def failure(self, case: HouseServerCase, outcome: Outcome, probe: ScriptedClient) -> Attempt:
        """A failure, with its likely cause and the dialogue that shows it."""
        fault = probe.fault
        assert fault is not None, "it has failed"
        conversation = probe.conversation
        found = describe_failure(conversation, fault)
        cause = likely_cause(
            self._test_data.room,
            found.wanted,
            found.got,
            conversation,
            wire_log=probe.wire_log,
            known_options=self._config.known_options,
            strict=self._config.strict,
            greeting=self._config.greeting,
        )
        return Attempt(
            outcome,
            failure=found.explained(cause),
            dialogue=shown_dialogue(conversation, fault),
            steps=() if probe.is_accused or self.is_tolerated(case) else probe.sent,
            refused=self.refused_kind(probe),
            was_reset=probe.was_reset and found.kind is FoundKind.CLOSED,
        )

    def refused_kind(self, probe: ScriptedClient) -> str:
        """The kind of the last message, if it was refused although it was allowed and requires another answer, else "".

        A client that cannot pay for it is refused rightly, and of several messages the first one may be refused.
        """
        lines = probe.conversation.lines
        if [line.side for line in lines[-3:]] not in ([CLIENT, HOUSE], [HOUSE, CLIENT, HOUSE]):
            return ""
        reply = lines[-1].message
        if not self._test_data.is_refusal(reply) or reply in self._test_data.refusals_of_payment:
            return ""
        wrong = any(fault.line_count == len(lines) - 1 for fault in probe.conversation.faults_of(CLIENT))
        before = self._conversations.new_conversation().replay(lines[:-1])
        return "" if wrong or before.referee.pending is None else self._test_data.kind_of(lines[-2].message)


def _client_needed_tolerance(tolerant: Conversation, strict: Conversation) -> bool:
    """Whether the client itself has needed tolerance: then the strict judge proves nothing about the house."""
    wrong = [[fault.verdict.violation.clause for fault in judge.faults_of(CLIENT)] for judge in (tolerant, strict)]
    return bool(tolerant.tolerated(CLIENT)) or wrong[0] != wrong[1]
