"""Judges a client that has sent a wrong message, or more than it may."""

from itertools import dropwhile
from typing import Final

from croupier.conformance.clients.attempts import failed, last_line, quoted, result
from croupier.conformance.clients.evidence import unawaited_reply
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.conversation import (
    LEAVING_SECTION,
    MESSAGE_SECTION,
    Conversation,
    DialogueLine,
    Fault,
)
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.causes import is_error, likely_cause, message_code
from croupier.conformance.diagnosis.layouts import LAYOUTS
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT

MAX_SURPLUS_BYTES: Final = 8
"""Fewer bytes than this are taken for the end of the message before them."""

MIN_RESEND_SECONDS: Final = 0.01
"""A message that is sent again after this time was not meant to be sent twice."""

MIN_CODE_BYTES: Final = 3
"""As many bytes of a code are taken for the beginning of a message."""


def judge_fault(observation: ClientObservation, fault: Fault) -> Attempt:
    """The result of a fault of the client."""
    violation, lines = fault.verdict.violation, observation.conversation.lines[: fault.line_count]
    conversation = observation.conversation if fault is observation.server.fault else _until(observation, fault)
    sent = lines[fault.sent_index]
    without = conversation.start_again().replay(line for line in lines if line is not sent)
    before = conversation.start_again().replay(lines[: fault.sent_index])
    wanted = _only_allowed(observation, without)
    cause = cause_in_dialect(observation, conversation, wanted, sent.data)
    if cause is None and message_code(sent.message) in map(message_code, without.referee.legal):
        cause = unawaited_reply(before)
    cause = cause or _sent_again(before, sent)
    if cause is None and type(sent.message) is Violation:
        cause = _surplus(observation, before, sent.data)
    return failed(
        observation,
        violation.clause,
        violation.allowed,
        violation.found,
        wanted=wanted,
        got=sent.data,
        cause=cause,
        lines=fault.line_count,
    )


def misread(observation: ClientObservation, fault: Fault) -> Attempt:
    """The result of a client that makes a fault only where the house departs from the document."""
    note = f"it does not accept this: {fault.verdict.violation.found}"
    return result(observation, Outcome.CHOICE, note, lines=fault.line_count)


def fault_to_judge(observation: ClientObservation) -> Fault | None:
    """The fault of the client: also an amount beyond a limit of the house, if it is another one in a dialect."""
    server = observation.server
    if server.fault is not None or server.limit_fault is None:
        return server.fault
    until = _until(observation, server.limit_fault)
    sent = until.lines[server.limit_fault.sent_index]
    return server.limit_fault if cause_in_dialect(observation, until, None, sent.data) is not None else None


def _until(observation: ClientObservation, fault: Fault) -> Conversation:
    """The conversation until a fault."""
    return observation.conversation.start_again().replay(observation.conversation.lines[: fault.line_count])


def cause_in_dialect(
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
            return Cause(f"it sends {quoted(data[:length])} after the end of {last}", clause=clause)
    return None


def _only_allowed(observation: ClientObservation, before: Conversation) -> bytes | None:
    """The encoded message that is allowed after a conversation, if there is only one besides a goodbye."""
    goodbyes = observation.test_data.room.final_messages
    allowed = [message for message in before.referee.legal if message not in goodbyes]
    return before.encode(allowed[0]) if len(allowed) == 1 and before.referee.game is None else None


def strict_departure(observation: ClientObservation, clause: str) -> Attempt:
    """The result of a client that needed tolerance in a strict run."""
    line = last_line(observation)
    if line is None:
        return failed(
            observation, clause, "what the document has, from a client in a strict run", "a departure from it"
        )
    encoded = observation.conversation.encode(line.message)
    return failed(observation, clause, str(line.message), quoted(line.data), wanted=encoded, got=line.data)


def rest_after_goodbye(observation: ClientObservation) -> Attempt | None:
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
    goodbye, found = ending[0], f"{ending[0].message} and {quoted(rest)}"
    return failed(observation, clause, f"nothing after {goodbye.message}", found, got=goodbye.data + rest)
