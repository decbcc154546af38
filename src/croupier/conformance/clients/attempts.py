"""The results of tries of client test cases, and the parts of their texts."""

from collections.abc import Sequence
from typing import Any

from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.test_server import ConversationEnd
from croupier.conformance.conversation import UNFINISHED_MESSAGE, DialogueLine
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.program import error_suffix
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt
from croupier.core.referee import CLIENT, HOUSE


def result(
    observation: ClientObservation, outcome: Outcome, note: str = "", failure: Failure | None = None, lines: int = -1
) -> Attempt:
    """Return what a try has shown, with the first `lines` of the dialogue, or the whole of it if they are negative."""
    dialogue = _shown_lines(observation) if lines < 0 else observation.conversation.lines[:lines]
    return Attempt(outcome, note, failure, tuple(dialogue))


def failed(
    observation: ClientObservation,
    clause: str,
    expected: str,
    actual: str,
    *,
    cause: Cause | None = None,
    lines: int = -1,
    **more: Any,
) -> Attempt:
    """Return the failure of a try; `more` is given to `Failure`."""
    failure = Failure(clause, expected, actual, **more).explained(cause)
    return result(observation, Outcome.FAIL, failure=failure, lines=lines)


def _shown_lines(observation: ClientObservation) -> Sequence[DialogueLine]:
    """The whole dialogue, with the beginnings of messages that either end has not ended."""
    lines, rest = observation.conversation.lines, observation.partial_message
    if unsent := observation.conversation.incomplete(HOUSE):
        lines = [*lines, DialogueLine(HOUSE, unsent, UNFINISHED_MESSAGE, lines[-1].at if lines else 0.0)]
    if not rest:
        return lines
    before = lines_before_goodbye(observation)
    at = before[-1].at if before else 0.0
    return [*before, DialogueLine(CLIENT, rest, UNFINISHED_MESSAGE, at), *lines[len(before) :]]


def tolerated(observation: ClientObservation) -> Attempt | None:
    """The NON-STRICT result if the client has needed tolerance, otherwise None."""
    departures = observation.conversation.tolerated(CLIENT)
    if departures:
        note = f"the client departs from the document as {', '.join(sorted(departures))} tolerates"
        return result(observation, Outcome.NON_STRICT, note)
    test_data = observation.test_data
    if not test_data.late_clause:
        return None
    strict = observation.conversation.start_again(strict_referee=True).replay(observation.conversation.lines)
    faults = strict.faults_of(CLIENT)
    if not faults:
        return None
    note = f"the client departs from the document as {test_data.late_clause} tolerates"
    return result(observation, Outcome.NON_STRICT, note, lines=faults[0].line_count)


def skip_reason(observation: ClientObservation) -> str:
    """The reason why the state has not come up."""
    server = observation.server
    if server.deviation:
        return server.deviation
    if server.conversation_end is ConversationEnd.CLIENT and not server.referee.finished_count:
        return f"the client left before it had finished a game{exit_suffix(observation)}"
    return observation.case.state.missing


def exit_suffix(observation: ClientObservation) -> str:
    """How the program has ended, if it has failed."""
    return f" ({observation.end}{error_suffix(observation.stderr)})" if observation.exit_status else ""


def lines_before_goodbye(observation: ClientObservation) -> Sequence[DialogueLine]:
    """The lines until the house ended the conversation."""
    lines = list(observation.lines_before_complaint)
    goodbyes = observation.test_data.room.final_messages
    while lines and lines[-1].side == HOUSE and lines[-1].message in goodbyes:
        lines.pop()
    return lines


def last_line(observation: ClientObservation) -> DialogueLine | None:
    """The last line of the client."""
    return next((line for line in reversed(observation.conversation.lines) if line.side == CLIENT), None)


def quoted(data: bytes) -> str:
    """Return bytes as a text in quotes, with one character for each."""
    return repr(data.decode("latin-1"))
