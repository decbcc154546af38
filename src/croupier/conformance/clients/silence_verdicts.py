"""Judges a client that has sent nothing where it had to act, or has stopped where others go on."""

from croupier.conformance.clients.attempts import (
    exit_suffix,
    failed,
    last_line,
    lines_before_goodbye,
    quoted,
    result,
    skip_reason,
    tolerated,
)
from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.clients.fault_verdicts import cause_in_dialect
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.test_server import ConversationEnd
from croupier.conformance.conversation import FIRST_SECTION, MESSAGE_SECTION, Conversation
from croupier.conformance.results import Outcome
from croupier.conformance.suite import Attempt
from croupier.core.errors import FoundKind
from croupier.core.referee import CLIENT


def never_spoke(observation: ClientObservation) -> Attempt:
    """The result of a client that has connected and sent nothing."""
    server = observation.server
    if server.conversation_end is not ConversationEnd.SILENCE and observation.exit_status == 0:
        return result(observation, Outcome.SKIP, "the client left without sending anything")
    actual = f"nothing within {observation.seconds:g} seconds"
    if server.conversation_end is not ConversationEnd.SILENCE:
        actual = f"the end of the connection before any message{exit_suffix(observation)}"
    elif observation.partial_message:
        actual = f"{quoted(observation.partial_message)}, and then nothing for {observation.seconds:g} seconds"
    test_data = observation.test_data
    clause = test_data.clause(MESSAGE_SECTION if observation.partial_message else FIRST_SECTION)
    expected, got = "the first message of the client", observation.partial_message
    return failed(observation, clause, expected, actual, got=got, kind=_kind_of_silence(observation))


def silent(observation: ClientObservation, baseline: ClientObservation | None) -> Attempt:
    """The result of a client that had to act, or has stopped where others go on."""
    case, server = observation.case, observation.server
    baseline_is_fine = baseline is not None and baseline.has_played_on
    if case.kind is CaseKind.TOLERANCE and baseline_is_fine:
        return result(observation, Outcome.CHOICE, f"it does not accept this: {_describe_silence(observation)}")
    games = server.referee.finished_count
    has_stopped = baseline is not None and games > 0 and not baseline.goes_on_after(games)
    may_rest = case.state.may_rest or observation.end_with_refusal(lines_before_goodbye(observation))
    if observation.is_idle and (may_rest or has_stopped or not baseline_is_fine):
        if case.kind is CaseKind.GOODBYE or not server.has_reached_state:
            return result(observation, Outcome.SKIP, f"{skip_reason(observation)}: it was silent after a game")
        note = "it sent nothing after the game, and did not leave"
        return tolerated(observation) or result(
            observation, *((Outcome.PASS,) if case.state.may_rest else (Outcome.CHOICE, note))
        )
    before = _before_goodbye(observation)
    refused = last_line(observation) if server.conversation_end is ConversationEnd.ENDLESS else None
    goodbyes = observation.test_data.room.final_messages if observation.has_failed_with_goodbye else ()
    wrong = goodbyes if refused is None else (*goodbyes, refused.message)
    legal = [str(message) for message in before.referee.legal if message not in wrong]
    if refused is not None and not server.pending_obligation:
        legal = ["the end"]
    return failed(
        observation,
        _broken_obligation(observation, baseline),
        ", ".join(legal) or "the end, or another game",
        _describe_silence(observation),
        got=observation.partial_message,
        kind=_kind_of_silence(observation),
        cause=cause_in_dialect(observation, before, None, b"") if observation.partial_message else None,
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
        and (observation.matches(baseline, server.last_decision) or _was_left_in_pieces(observation, baseline))
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
    return server.was_left_waiting and not has_deck and baseline.goes_on_after(server.referee.finished_count + 1)


def _before_goodbye(observation: ClientObservation) -> Conversation:
    """The conversation until the house ended it, with the incomplete message of the client."""
    before = observation.conversation.start_again().replay(lines_before_goodbye(observation))
    before.on_data(CLIENT, observation.partial_message, 0.0)
    return before


def _kind_of_silence(observation: ClientObservation) -> FoundKind:
    kinds = {ConversationEnd.SILENCE: FoundKind.SILENCE, ConversationEnd.ENDLESS: FoundKind.MESSAGE}
    return kinds.get(observation.server.conversation_end, FoundKind.CLOSED)


def _describe_silence(observation: ClientObservation) -> str:
    """What was observed in the place of a message."""
    line = last_line(observation)
    if observation.has_failed_with_goodbye and line is not None:
        return f"{line.message}{exit_suffix(observation)}"
    if observation.has_left:
        return f"the end of the connection{exit_suffix(observation)}"
    if observation.server.conversation_end is ConversationEnd.ENDLESS and line is not None:
        return f"{line.message} again and again"
    after = f" after {quoted(observation.partial_message)}" if observation.partial_message else ""
    return f"nothing{after} within {observation.seconds:g} seconds{exit_suffix(observation)}"
