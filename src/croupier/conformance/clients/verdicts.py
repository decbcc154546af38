"""Judges a client test case by what the test server has observed and how the program has ended."""

from collections.abc import Sequence
from itertools import dropwhile
from typing import Any, Final

from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.clients.evidence import unawaited_reply
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.test_server import ConversationEnd, Decision
from croupier.conformance.conversation import (
    FIRST_SECTION,
    LEAVING_SECTION,
    MESSAGE_SECTION,
    UNFINISHED_MESSAGE,
    Conversation,
    DialogueLine,
    Fault,
)
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import is_error, likely_cause, message_code
from croupier.conformance.diagnosis.layouts import LAYOUTS
from croupier.conformance.program import error_suffix
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt, absence_note
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE

MAX_SURPLUS_BYTES: Final = 8
"""Fewer bytes than this are taken for the end of the message before them."""

MIN_RESEND_SECONDS: Final = 0.01
"""A message that is sent again after this time was not meant to be sent twice."""

MIN_CODE_BYTES: Final = 3
"""As many bytes of a code are taken for the beginning of a message."""


def judge(observation: ClientObservation, baseline: ClientObservation | None) -> Attempt:
    """Return what a try of a case has shown.

    `baseline` is what was observed without the special feature of the case, None if it was not run.
    """
    case, server = observation.case, observation.server
    if not server.has_connected:
        return _result(observation, Outcome.SKIP, absence_note(observation.end, observation.stderr))
    if (fault := _judged_fault(observation)) is not None:
        if case.kind is CaseKind.TOLERANCE and baseline is not None and baseline.has_played_on:
            return _misread(observation, fault)
        return _client_fault(observation, fault)
    if server.house_fault is None and (rest := _rest_after_goodbye(observation)) is not None:
        return rest
    if observation.is_strict and (departures := observation.conversation.tolerated(CLIENT)):
        return _strict_departure(observation, min(departures))
    if not server.has_spoken and not case.may_be_silent:
        return _never_spoke(observation)
    if case.kind is CaseKind.FAULT and server.house_fault is not None:
        return _after_house_fault(observation, server.house_fault)
    if server.house_fault is not None:
        return _result(observation, Outcome.SKIP, "the bet of the client does not fit the transcript")
    if observation.is_stuck or observation.is_idle:
        return _silent(observation, baseline)
    if observation.has_broken_off and baseline is not None and _goes_on_after(baseline, server.referee.finished_count):
        return _broke_off(observation)
    if observation.needs_baseline and baseline is not None and _has_met(observation, baseline, server.last_decision):
        return _gave_up(observation)
    return _played(observation)


def _rest_after_goodbye(observation: ClientObservation) -> Attempt | None:
    """The result of a client that sends more with its goodbye than errors and other goodbyes, None if it does not."""
    goodbyes = observation.test_data.room.final_messages
    said = (line for line in observation.conversation.lines if line.side == CLIENT)
    ending = [*dropwhile(lambda line: line.message not in goodbyes, said)]
    if not ending:
        return None
    later = [line.data for line in ending if line.message not in goodbyes and not is_error(line.message)]
    rest = b"".join(later) + (b"" if observation.server.was_reset else observation.conversation.unread(CLIENT))
    if not rest:
        return None
    clause = observation.test_data.clause(LEAVING_SECTION if later else MESSAGE_SECTION)
    goodbye, found = ending[0], f"{ending[0].message} and {_text(rest)}"
    return _failed(observation, clause, f"nothing after {goodbye.message}", found, got=goodbye.data + rest)


def _has_met(observation: ClientObservation, baseline: ClientObservation, decision: Decision) -> bool:
    """Whether the client plays on in the baseline, and has come to the same decision and the same state there."""
    has_decided = not decision.clause or decision in baseline.server.decisions
    has_passed = baseline.has_passed_state or not observation.server.has_reached_state
    return baseline.has_played_on and has_decided and has_passed


def _goes_on_after(baseline: ClientObservation, games: int) -> bool:
    """Whether the client plays more games than this in the baseline."""
    return baseline.has_played_on and baseline.server.referee.finished_count > games


def _broke_off(observation: ClientObservation) -> Attempt:
    """The result of a client that fails between two games where it otherwise goes on."""
    found = f"the end of the connection{_exit_suffix(observation)}"
    return _has_not_taken(observation, "another game, as without this", found)


def _gave_up(observation: ClientObservation) -> Attempt:
    """The result of a client that leaves before the end of a game because of the special feature of the case."""
    line = _last_line(observation)
    found = f"the end of the connection{_exit_suffix(observation)}"
    if observation.server.conversation_end is ConversationEnd.HOUSE and line is not None:
        found = str(line.message)
    return _has_not_taken(observation, "a whole game, as without this", found)


def _has_not_taken(observation: ClientObservation, expected: str, found: str) -> Attempt:
    """The result of a client that leaves because of the special feature of the case, which it may have to take."""
    if observation.case.kind is CaseKind.TOLERANCE:
        return _result(observation, Outcome.CHOICE, f"it does not accept this: {found}")
    return _failed(observation, observation.case.clause, expected, found, kind=FoundKind.CLOSED)


def _played(observation: ClientObservation) -> Attempt:
    """The result of a client that has played, or left, without a fault."""
    case, server = observation.case, observation.server
    if case.kind is CaseKind.WAIT:
        return _waited(observation)
    if server.limit_fault is not None:
        violation = server.limit_fault.verdict.violation
        note = f"the house has refused {violation.found} by {violation.clause}: {violation.allowed}"
        return _result(observation, Outcome.CHOICE, note)
    if not server.has_reached_state or case.kind is CaseKind.FAULT:
        return _tolerated(observation) or _result(observation, Outcome.SKIP, _skip_reason(observation))
    if case.kind is CaseKind.GOODBYE:
        return _goodbye(observation)
    if (
        server.conversation_end is ConversationEnd.CLIENT
        and server.pending_obligation
        and not server.messages_since_state
    ):
        return _result(observation, Outcome.CHOICE, f"it hung up in the middle of the game{_exit_suffix(observation)}")
    if case.kind is CaseKind.PLAY and _says_goodbye_instead(observation):
        return _result(observation, Outcome.CHOICE, "it said goodbye there, in the middle of the game")
    if case.kind is CaseKind.TOLERANCE:
        return _result(observation, Outcome.CHOICE, "it accepts this")
    return _tolerated(observation) or _result(observation, Outcome.PASS)


def _says_goodbye_instead(observation: ClientObservation) -> bool:
    """Whether a goodbye is the first message in the state of the case, where the client has to act."""
    server, line = observation.server, _last_line(observation)
    is_goodbye = line is not None and line.message in observation.test_data.room.final_messages
    is_first = server.messages_since_state == 1 and server.referee.game is not None
    return is_goodbye and is_first and bool(server.last_decision.clause)


def _result(
    observation: ClientObservation, outcome: Outcome, note: str = "", failure: Failure | None = None, lines: int = -1
) -> Attempt:
    dialogue = _shown_lines(observation) if lines < 0 else observation.conversation.lines[:lines]
    return Attempt(outcome, note, failure, tuple(dialogue))


def _shown_lines(observation: ClientObservation) -> Sequence[DialogueLine]:
    """The whole dialogue, with the beginnings of messages that either end has not ended."""
    lines, rest = observation.conversation.lines, observation.partial_message
    if unsent := observation.conversation.incomplete(HOUSE):
        lines = [*lines, DialogueLine(HOUSE, unsent, UNFINISHED_MESSAGE, lines[-1].at if lines else 0.0)]
    if not rest:
        return lines
    before = _lines_before_goodbye(observation)
    at = before[-1].at if before else 0.0
    return [*before, DialogueLine(CLIENT, rest, UNFINISHED_MESSAGE, at), *lines[len(before) :]]


def _failed(
    observation: ClientObservation,
    clause: str,
    expected: str,
    actual: str,
    *,
    cause: Cause | None = None,
    lines: int = -1,
    **more: Any,
) -> Attempt:
    failure = Failure(clause, expected, actual, **more).explained(cause)
    return _result(observation, Outcome.FAIL, failure=failure, lines=lines)


def _skip_reason(observation: ClientObservation) -> str:
    """The reason why the state has not come up."""
    server = observation.server
    if server.deviation:
        return server.deviation
    if server.conversation_end is ConversationEnd.CLIENT and not server.referee.finished_count:
        return f"the client left before it had finished a game{_exit_suffix(observation)}"
    return observation.case.state.missing


def _exit_suffix(observation: ClientObservation) -> str:
    """How the program has ended, if it has failed."""
    return f" ({observation.end}{error_suffix(observation.stderr)})" if observation.exit_status else ""


def _misread(observation: ClientObservation, fault: Fault) -> Attempt:
    """The result of a client that makes a fault only where the house departs from the document."""
    note = f"it does not accept this: {fault.verdict.violation.found}"
    return _result(observation, Outcome.CHOICE, note, lines=fault.line_count)


def _judged_fault(observation: ClientObservation) -> Fault | None:
    """The fault of the client: also an amount beyond a limit of the house, if it is another one in a dialect."""
    server = observation.server
    if server.fault is not None or server.limit_fault is None:
        return server.fault
    until = _until(observation, server.limit_fault)
    sent = until.lines[server.limit_fault.sent_index]
    return server.limit_fault if _cause_in_dialect(observation, until, None, sent.data) is not None else None


def _until(observation: ClientObservation, fault: Fault) -> Conversation:
    """The conversation until a fault."""
    return observation.conversation.start_again().replay(observation.conversation.lines[: fault.line_count])


def _client_fault(observation: ClientObservation, fault: Fault) -> Attempt:
    """The result of a fault of the client."""
    violation, lines = fault.verdict.violation, observation.conversation.lines[: fault.line_count]
    conversation = observation.conversation if fault is observation.server.fault else _until(observation, fault)
    sent = lines[fault.sent_index]
    without = conversation.start_again().replay(line for line in lines if line is not sent)
    before = conversation.start_again().replay(lines[: fault.sent_index])
    wanted = _only_allowed(observation, without)
    cause = _cause_in_dialect(observation, conversation, wanted, sent.data)
    if cause is None and message_code(sent.message) in map(message_code, without.referee.legal):
        cause = unawaited_reply(before)
    cause = cause or _sent_again(before, sent)
    if cause is None and type(sent.message) is Violation:
        cause = _surplus(observation, before, sent.data)
    return _failed(
        observation,
        violation.clause,
        violation.allowed,
        violation.found,
        wanted=wanted,
        got=sent.data,
        cause=cause,
        lines=fault.line_count,
    )


def _cause_in_dialect(
    observation: ClientObservation, conversation: Conversation, wanted: bytes | None, got: bytes
) -> Cause | None:
    """The dialect that explains a failure, if there is one; no other cause, because moves are up to the client."""
    cause = likely_cause(
        observation.test_data.room, wanted, got, conversation, known_options=conversation.known_options, side=CLIENT
    )
    return cause if cause is not None and cause.dialect is not None else None


def _sent_again(before: Conversation, sent: DialogueLine) -> Cause | None:
    """The cause of a message that the client has sent before, some time ago, and to which no answer has come yet."""
    last, pending = before.lines[-1:], before.referee.pending
    if not last or pending is None or (last[0].side, last[0].message) != (CLIENT, sent.message):
        return None
    if sent.at - last[0].at < MIN_RESEND_SECONDS:
        return None
    return Cause(f"it sends {sent.message} again when the answer is late", clause=pending.clause)


def _surplus(observation: ClientObservation, before: Conversation, data: bytes) -> Cause | None:
    """The cause of unreadable bytes that are right without the first few: they are too much in the message before."""
    last = next((line.message for line in reversed(before.lines) if line.side == CLIENT), None)
    data += observation.conversation.incomplete(CLIENT)
    codes = LAYOUTS[observation.test_data.room.name].layout
    for length in range(1, min(MAX_SURPLUS_BYTES, len(data)) if last is not None else 0):
        without = before.start_again().replay(before.lines)
        without.on_data(CLIENT, data[length:], 0.0)
        rest = without.incomplete(CLIENT).upper()
        is_begun = len(rest) >= MIN_CODE_BYTES and any(code.startswith(rest) for code in codes)
        if not without.faults and (is_begun or len(without.lines) > len(before.lines)):
            clause = observation.test_data.clause(MESSAGE_SECTION)
            return Cause(f"it sends {_text(data[:length])} after the end of {last}", clause=clause)
    return None


def _only_allowed(observation: ClientObservation, before: Conversation) -> bytes | None:
    """The encoded message that is allowed after a conversation, if there is only one besides a goodbye."""
    goodbyes = observation.test_data.room.final_messages
    allowed = [message for message in before.referee.legal if message not in goodbyes]
    return before.encode(allowed[0]) if len(allowed) == 1 and before.referee.game is None else None


def _strict_departure(observation: ClientObservation, clause: str) -> Attempt:
    """The result of a client that needed tolerance in a strict run."""
    line = _last_line(observation)
    if line is None:
        return _failed(
            observation, clause, "what the document has, from a client in a strict run", "a departure from it"
        )
    encoded = observation.conversation.encode(line.message)
    return _failed(observation, clause, str(line.message), _text(line.data), wanted=encoded, got=line.data)


def _never_spoke(observation: ClientObservation) -> Attempt:
    """The result of a client that has connected and sent nothing."""
    server = observation.server
    if server.conversation_end is not ConversationEnd.SILENCE and observation.exit_status == 0:
        return _result(observation, Outcome.SKIP, "the client left without sending anything")
    actual = f"nothing within {observation.seconds:g} seconds"
    if server.conversation_end is not ConversationEnd.SILENCE:
        actual = f"the end of the connection before any message{_exit_suffix(observation)}"
    elif observation.partial_message:
        actual = f"{_text(observation.partial_message)}, and then nothing for {observation.seconds:g} seconds"
    test_data = observation.test_data
    clause = test_data.clause(MESSAGE_SECTION if observation.partial_message else FIRST_SECTION)
    expected, got = "the first message of the client", observation.partial_message
    return _failed(observation, clause, expected, actual, got=got, kind=_kind_of_silence(observation))


def _silent(observation: ClientObservation, baseline: ClientObservation | None) -> Attempt:
    """The result of a client that had to act, or has stopped where others go on."""
    case, server = observation.case, observation.server
    baseline_is_fine = baseline is not None and baseline.has_played_on
    if case.kind is CaseKind.TOLERANCE and baseline_is_fine:
        return _result(observation, Outcome.CHOICE, f"it does not accept this: {_describe_silence(observation)}")
    games = server.referee.finished_count
    has_stopped = baseline is not None and games > 0 and not _goes_on_after(baseline, games)
    may_rest = case.state.may_rest or observation.end_with_refusal(_lines_before_goodbye(observation))
    if observation.is_idle and (may_rest or has_stopped or not baseline_is_fine):
        if case.kind is CaseKind.GOODBYE or not server.has_reached_state:
            return _result(observation, Outcome.SKIP, f"{_skip_reason(observation)}: it was silent after a game")
        note = "it sent nothing after the game, and did not leave"
        return _tolerated(observation) or _result(
            observation, *((Outcome.PASS,) if case.state.may_rest else (Outcome.CHOICE, note))
        )
    before = _before_goodbye(observation)
    refused = _last_line(observation) if server.conversation_end is ConversationEnd.ENDLESS else None
    goodbyes = observation.test_data.room.final_messages if observation.has_failed_with_goodbye else ()
    wrong = goodbyes if refused is None else (*goodbyes, refused.message)
    legal = [str(message) for message in before.referee.legal if message not in wrong]
    if refused is not None and not server.pending_obligation:
        legal = ["the end"]
    return _failed(
        observation,
        _broken_obligation(observation, baseline),
        ", ".join(legal) or "the end, or another game",
        _describe_silence(observation),
        got=observation.partial_message,
        kind=_kind_of_silence(observation),
        cause=_cause_in_dialect(observation, before, None, b"") if observation.partial_message else None,
    )


def _broken_obligation(observation: ClientObservation, baseline: ClientObservation | None) -> str:
    """The clause by which the client had to send something: that of the case if it does so in the baseline."""
    case, server = observation.case, observation.server
    test_data = observation.test_data
    if observation.partial_message:
        return test_data.clause(MESSAGE_SECTION)
    if observation.is_idle and (clause := test_data.idle_obligation(server.referee)):
        return clause
    if server.conversation_end is ConversationEnd.ENDLESS and server.has_reached_state:
        return case.clause
    if (
        baseline is not None
        and (_has_met(observation, baseline, server.last_decision) or _was_left_in_pieces(observation, baseline))
        and (
            case.kind is CaseKind.VARIATION
            or case.transcript_steps is not None
            or (case.state.demands_answer and server.has_reached_state and not server.messages_since_state)
        )
    ):
        return case.clause
    return server.pending_obligation or case.clause


def _was_left_in_pieces(observation: ClientObservation, baseline: ClientObservation) -> bool:
    """Whether the client has left before the last piece of an answer, with any cards, and goes on in the baseline."""
    server, has_deck = observation.server, bool(observation.case.state.decks)
    return server.was_left_waiting and not has_deck and _goes_on_after(baseline, server.referee.finished_count + 1)


def _before_goodbye(observation: ClientObservation) -> Conversation:
    """The conversation until the house ended it, with the incomplete message of the client."""
    before = observation.conversation.start_again().replay(_lines_before_goodbye(observation))
    before.on_data(CLIENT, observation.partial_message, 0.0)
    return before


def _lines_before_goodbye(observation: ClientObservation) -> Sequence[DialogueLine]:
    """The lines until the house ended the conversation."""
    lines = list(observation.lines_before_complaint)
    goodbyes = observation.test_data.room.final_messages
    while lines and lines[-1].side == HOUSE and lines[-1].message in goodbyes:
        lines.pop()
    return lines


def _kind_of_silence(observation: ClientObservation) -> FoundKind:
    kinds = {ConversationEnd.SILENCE: FoundKind.SILENCE, ConversationEnd.ENDLESS: FoundKind.MESSAGE}
    return kinds.get(observation.server.conversation_end, FoundKind.CLOSED)


def _describe_silence(observation: ClientObservation) -> str:
    """What was observed in the place of a message."""
    line = _last_line(observation)
    if observation.has_failed_with_goodbye and line is not None:
        return f"{line.message}{_exit_suffix(observation)}"
    if observation.has_left:
        return f"the end of the connection{_exit_suffix(observation)}"
    if observation.server.conversation_end is ConversationEnd.ENDLESS and line is not None:
        return f"{line.message} again and again"
    after = f" after {_text(observation.partial_message)}" if observation.partial_message else ""
    return f"nothing{after} within {observation.seconds:g} seconds{_exit_suffix(observation)}"


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
    return _result(
        observation, Outcome.CHOICE, f"when the tester broke {clause} on purpose, it {what}{_exit_suffix(observation)}"
    )


def _goodbye(observation: ClientObservation) -> Attempt:
    """The result after the house has said goodbye and closed."""
    server = observation.server
    if observation.is_killed:
        return _result(observation, Outcome.CHOICE, f"it ended by {observation.end}")
    if server.conversation_end is ConversationEnd.HOUSE and server.close_delay_seconds is None:
        return _result(
            observation, Outcome.CHOICE, "it kept the connection open when the house had said goodbye and closed"
        )
    return _tolerated(observation) or _result(observation, Outcome.PASS)


def _waited(observation: ClientObservation) -> Attempt:
    """The result of a client that should wait for the goodbye of the house."""
    awaited = observation.test_data.awaited_message
    assert awaited is not None, "the room has an awaited message"
    line = _last_line(observation)
    if line is None or line.data != awaited[0]:
        return _result(observation, Outcome.SKIP, observation.case.state.missing)
    if observation.server.conversation_end is ConversationEnd.CLIENT:
        return _result(observation, Outcome.CHOICE, "it closes after its goodbye, at least its own direction")
    return _tolerated(observation) or _result(observation, Outcome.PASS)


def _tolerated(observation: ClientObservation) -> Attempt | None:
    """The NON-STRICT result if the client has needed tolerance, otherwise None."""
    departures = observation.conversation.tolerated(CLIENT)
    if departures:
        note = f"the client departs from the document as {', '.join(sorted(departures))} tolerates"
        return _result(observation, Outcome.NON_STRICT, note)
    test_data = observation.test_data
    if not test_data.late_clause:
        return None
    strict = observation.conversation.start_again(strict_referee=True).replay(observation.conversation.lines)
    faults = strict.faults_of(CLIENT)
    if not faults:
        return None
    note = f"the client departs from the document as {test_data.late_clause} tolerates"
    return _result(observation, Outcome.NON_STRICT, note, lines=faults[0].line_count)


def _last_line(observation: ClientObservation) -> DialogueLine | None:
    """The last line of the client."""
    return next((line for line in reversed(observation.conversation.lines) if line.side == CLIENT), None)


def _text(data: bytes) -> str:
    return repr(data.decode("latin-1"))
