"""Judges a client test case by what the test server has observed and how the program has ended."""

from croupier.conformance.clients.attempts import exit_suffix, failed, last_line, result, skip_reason, tolerated
from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.clients.fault_verdicts import (
    fault_to_judge,
    judge_fault,
    misread,
    rest_after_goodbye,
    strict_departure,
)
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.silence_verdicts import never_spoke, silent
from croupier.conformance.clients.test_server import ConversationEnd
from croupier.conformance.conversation import Fault
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt, absence_note
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT


def judge(observation: ClientObservation, baseline: ClientObservation | None) -> Attempt:
    """Return what a try of a case has shown.

    `baseline` is what was observed without the special feature of the case, None if it was not run.
    """
    case, server = observation.case, observation.server
    if not server.has_connected:
        return result(observation, Outcome.SKIP, absence_note(observation.end, observation.stderr))
    if (fault := fault_to_judge(observation)) is not None:
        if case.kind is CaseKind.TOLERANCE and baseline is not None and baseline.has_played_on:
            return misread(observation, fault)
        return judge_fault(observation, fault)
    if server.house_fault is None and (rest := rest_after_goodbye(observation)) is not None:
        return rest
    if observation.is_strict and (departures := observation.conversation.tolerated(CLIENT)):
        return strict_departure(observation, min(departures))
    if not server.has_spoken and not case.may_be_silent:
        return never_spoke(observation)
    if case.kind is CaseKind.FAULT and server.house_fault is not None:
        return _after_house_fault(observation, server.house_fault)
    if server.house_fault is not None:
        return result(observation, Outcome.SKIP, "the bet of the client does not fit the transcript")
    if observation.is_stuck or observation.is_idle:
        return silent(observation, baseline)
    if observation.has_broken_off and baseline is not None and baseline.goes_on_after(server.referee.finished_count):
        return _broke_off(observation)
    if observation.needs_baseline and baseline is not None and observation.matches(baseline, server.last_decision):
        return _gave_up(observation)
    return _played(observation)


def _broke_off(observation: ClientObservation) -> Attempt:
    """The result of a client that fails between two games where it otherwise goes on."""
    found = f"the end of the connection{exit_suffix(observation)}"
    return _has_not_taken(observation, "another game, as without this", found)


def _gave_up(observation: ClientObservation) -> Attempt:
    """The result of a client that leaves before the end of a game because of the special feature of the case."""
    line = last_line(observation)
    found = f"the end of the connection{exit_suffix(observation)}"
    if observation.server.conversation_end is ConversationEnd.HOUSE and line is not None:
        found = str(line.message)
    return _has_not_taken(observation, "a whole game, as without this", found)


def _has_not_taken(observation: ClientObservation, expected: str, found: str) -> Attempt:
    """The result of a client that leaves because of the special feature of the case, which it may have to take."""
    if observation.case.kind is CaseKind.TOLERANCE:
        return result(observation, Outcome.CHOICE, f"it does not accept this: {found}")
    return failed(observation, observation.case.clause, expected, found, kind=FoundKind.CLOSED)


def _played(observation: ClientObservation) -> Attempt:
    """The result of a client that has played, or left, without a fault."""
    case, server = observation.case, observation.server
    if case.kind is CaseKind.WAIT:
        return _waited(observation)
    if server.limit_fault is not None:
        violation = server.limit_fault.verdict.violation
        note = f"the house has refused {violation.found} by {violation.clause}: {violation.allowed}"
        return result(observation, Outcome.CHOICE, note)
    if not server.has_reached_state or case.kind is CaseKind.FAULT:
        return tolerated(observation) or result(observation, Outcome.SKIP, skip_reason(observation))
    if case.kind is CaseKind.GOODBYE:
        return _goodbye(observation)
    if (
        server.conversation_end is ConversationEnd.CLIENT
        and server.pending_obligation
        and not server.messages_since_state
    ):
        return result(observation, Outcome.CHOICE, f"it hung up in the middle of the game{exit_suffix(observation)}")
    if case.kind is CaseKind.PLAY and _says_goodbye_instead(observation):
        return result(observation, Outcome.CHOICE, "it said goodbye there, in the middle of the game")
    if case.kind is CaseKind.TOLERANCE:
        return result(observation, Outcome.CHOICE, "it accepts this")
    return tolerated(observation) or result(observation, Outcome.PASS)


def _says_goodbye_instead(observation: ClientObservation) -> bool:
    """Whether a goodbye is the first message in the state of the case, where the client has to act."""
    server, line = observation.server, last_line(observation)
    is_goodbye = line is not None and line.message in observation.test_data.room.final_messages
    is_first = server.messages_since_state == 1 and server.referee.game is not None
    return is_goodbye and is_first and bool(server.last_decision.clause)


def _after_house_fault(observation: ClientObservation, broken: Fault) -> Attempt:
    """The result after a fault of the house: a choice of the client."""
    server = observation.server
    if observation.is_killed:
        what = f"ended by {observation.end}"
    elif server.conversation_end is ConversationEnd.CLIENT or (
        server.conversation_end is ConversationEnd.HOUSE
        and server.reaction is None
        and server.close_delay_seconds is not None
    ):
        what = "hung up"
    elif server.reaction in observation.test_data.room.final_messages:
        what = "said goodbye"
    else:
        what = "waited" if server.reaction is None else f"went on with {server.reaction}"
    clause = broken.verdict.violation.clause
    return result(
        observation, Outcome.CHOICE, f"when the tester broke {clause} on purpose, it {what}{exit_suffix(observation)}"
    )


def _goodbye(observation: ClientObservation) -> Attempt:
    """The result after the house has said goodbye and closed."""
    server = observation.server
    if observation.is_killed:
        return result(observation, Outcome.CHOICE, f"it ended by {observation.end}")
    if server.conversation_end is ConversationEnd.HOUSE and server.close_delay_seconds is None:
        return result(
            observation, Outcome.CHOICE, "it kept the connection open when the house had said goodbye and closed"
        )
    return tolerated(observation) or result(observation, Outcome.PASS)


def _waited(observation: ClientObservation) -> Attempt:
    """The result of a client that should wait for the goodbye of the house."""
    awaited = observation.test_data.awaited_message
    assert awaited is not None, "the room has an awaited message"
    line = last_line(observation)
    if line is None or line.data != awaited[0]:
        return result(observation, Outcome.SKIP, observation.case.state.missing)
    if observation.server.conversation_end is ConversationEnd.CLIENT:
        return result(observation, Outcome.CHOICE, "it closes after its goodbye, at least its own direction")
    return tolerated(observation) or result(observation, Outcome.PASS)
