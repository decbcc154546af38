"""What a case says about a client, from what the stand has seen of it and how its program has ended."""

from typing import Any, Final

from msgspec import Struct

from croupier.conformance.clients.cases import TEST_DATA_BY_ROOM, CaseKind, HouseClientCase
from croupier.conformance.clients.test_server import ConversationEnd, HouseTestServer
from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.diagnosis.causes import dialect_of_cause, likely_cause
from croupier.conformance.program import describe_exit
from croupier.conformance.results import Failure, Outcome, Result
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Peer

MAX_DIALOGUE_LINES: Final = 6
"""So many lines show a failure at most."""

MAX_STDERR_CHARS: Final = 200
"""So much of the last line of its errors is told in a sentence."""


class ClientObservation(Struct, frozen=True):
    """What was seen in one try of a case.

    `status` is how the program has ended by itself, None if it had to be stopped; `seconds` is how long a client that
    has to speak was waited for.
    """

    case: HouseClientCase
    server: HouseTestServer
    exit_status: int | None
    seconds: float
    stderr: bytes
    is_strict: bool

    @property
    def stderr_excerpt(self) -> str:
        """The last line of its errors, for a sentence; empty if it has written none."""
        lines = self.stderr.decode(errors="backslashreplace").strip().splitlines()
        return f": {lines[-1].strip()[:MAX_STDERR_CHARS]}" if lines else ""

    @property
    def conversation(self) -> Conversation:
        """What was said."""
        return self.server.conversation

    @property
    def is_stuck(self) -> bool:
        """The client had the word in a game and did not take it, or left without meaning to; or it has half said it."""
        stand = self.server
        if stand.house_fault is not None or stand.is_answer_owed or not stand.has_spoken:
            return False
        if stand.conversation_end is ConversationEnd.CLIENT and self.exit_status:
            return bool(stand.pending_obligation or self.partial_message or not stand.has_waited)
        return stand.conversation_end is ConversationEnd.SILENCE and bool(
            stand.pending_obligation or self.partial_message
        )

    @property
    def partial_message(self) -> bytes:
        """What the client has said of a message that is not complete."""
        return self.conversation.incomplete(CLIENT)

    @property
    def is_idle(self) -> bool:
        """The client was silent where no game went on, though it had not said goodbye."""
        return (
            self.server.conversation_end is ConversationEnd.SILENCE
            and self.server.has_spoken
            and not self.server.pending_obligation
            and not self.partial_message
        )

    @property
    def has_played_on(self) -> bool:
        """Nothing was wrong, and a game was finished."""
        quiet = not (self.is_stuck or self.is_idle or self.server.fault)
        return quiet and self.server.referee.finished_count > 0

    @property
    def is_conclusive(self) -> bool:
        """Whether another try would show nothing new."""
        return (
            judge(self, None).outcome is not Outcome.SKIP
            or not self.server.has_connected
            or bool(self.server.house_fault)
        )


def judge(observation: ClientObservation, baseline: ClientObservation | None) -> Result:
    """What came of a case. `twin` is what was seen without what is special about it, None where nobody has looked."""
    case, stand = observation.case, observation.server
    if not stand.has_connected:
        what = "ran" if observation.exit_status is None else f"ended ({describe_exit(observation.exit_status)})"
        return _result(observation, Outcome.SKIP, f"the program {what} and never connected{observation.stderr_excerpt}")
    if stand.fault is not None:
        return _at_fault(observation, stand.fault)
    if observation.is_strict and (departures := observation.conversation.tolerated(CLIENT)):
        return _departed(observation, min(departures))
    if not stand.has_spoken and not case.may_be_silent:
        return _speechless(observation)
    if case.kind in {CaseKind.FAULT, CaseKind.HANG_UP} and stand.house_fault is not None:
        return _told_off(observation, stand.house_fault)
    if stand.house_fault is not None:
        return _result(observation, Outcome.SKIP, "what the client has bet does not fit what is on paper")
    if observation.is_stuck or observation.is_idle:
        return _silent(observation, baseline)
    return _played(observation)


def _played(story: ClientObservation) -> Result:
    """The client has played, or left, without a fault."""
    case, stand = story.case, story.server
    if case.kind is CaseKind.WAIT:
        return _waited(story)
    if not stand.has_reached_state or case.kind in {CaseKind.FAULT, CaseKind.HANG_UP}:
        return _tolerated(story) or _result(story, Outcome.SKIP, _missing(story))
    if case.kind is CaseKind.GOODBYE:
        return _goodbye(story)
    if (
        stand.conversation_end is ConversationEnd.CLIENT
        and stand.pending_obligation
        and stand.has_waited
        and not stand.messages_since_state
    ):
        return _result(story, Outcome.CHOICE, f"it hung up in the middle of the game{_how(story)}")
    if case.kind is CaseKind.TOLERANCE:
        return _result(story, Outcome.CHOICE, "it takes it")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _result(
    story: ClientObservation, outcome: Outcome, told: str = "", failure: Failure | None = None, lines: int = -1
) -> Result:
    case = story.case
    said = story.conversation.lines
    dialogue = said[: lines if lines >= 0 else len(said)][-MAX_DIALOGUE_LINES:]
    return Result(case.id, case.title, case.clause, outcome, told, failure, tuple(dialogue))


def _missing(story: ClientObservation) -> str:
    """Why the situation has not come up."""
    stand = story.server
    if stand.deviation:
        return stand.deviation
    if stand.conversation_end is ConversationEnd.CLIENT and not stand.referee.finished_count:
        return f"the client left before it had finished a game{_how(story)}"
    return story.case.missing


def _how(story: ClientObservation) -> str:
    """How the program has ended, if it has not ended well."""
    return f" ({describe_exit(story.exit_status)}{story.stderr_excerpt})" if story.exit_status else ""


def _at_fault(story: ClientObservation, fault: Fault) -> Result:
    """The referee has found the client at fault."""
    violation = fault.verdict.violation
    line = _last(story.conversation.lines[: fault.line_count], CLIENT)
    got = line.data if line is not None else b""
    room = _room(story)
    wanted = _only(story, fault)
    cause = likely_cause(room, wanted, got, story.conversation, side=CLIENT)
    if not dialect_of_cause(room, cause):
        cause = ""  # which move a client should have made is its own affair
    failure = Failure(violation.clause, violation.allowed, violation.found, wanted, got, cause)
    return _result(story, Outcome.FAIL, failure=failure, lines=fault.line_count)


def _only(story: ClientObservation, fault: Fault) -> bytes | None:
    """The bytes of the only message that was allowed, if there was only one besides a goodbye."""
    room = _room(story)
    before = Conversation(room)
    for line in story.conversation.lines[: fault.line_count - 1]:
        before.on_data(line.side, line.data, line.at)
    farewells = {str(message) for message in room.final_messages}
    allowed = [message for message in before.referee.legal if str(message) not in farewells]
    return room.codec(True, None).encode(allowed[0]) if len(allowed) == 1 and before.referee.game is None else None


def _departed(story: ClientObservation, clause: str) -> Result:
    """The client has needed a tolerance that a strict house has not."""
    lines = story.conversation.lines
    line = _last(lines, CLIENT)
    failure = Failure(clause, "what the document has, from a client in a strict run", "a departure from it")
    if line is not None:
        encoded = _room(story).codec(True, None).encode(line.message)
        failure = Failure(clause, str(line.message), _text(line.data), encoded, line.data)
    return _result(story, Outcome.FAIL, failure=failure)


def _speechless(story: ClientObservation) -> Result:
    """The client has come and not said a word."""
    stand = story.server
    if stand.conversation_end is not ConversationEnd.SILENCE and story.exit_status == 0:
        return _result(story, Outcome.SKIP, "the client left without a word")
    actual = f"nothing within {story.seconds:g} seconds"
    if stand.conversation_end is not ConversationEnd.SILENCE:
        actual = f"the end of the connection without a word{_how(story)}"
    elif story.partial_message:
        actual = f"{_text(story.partial_message)}, and then nothing for {story.seconds:g} seconds"
    guests = TEST_DATA_BY_ROOM[story.case.room]
    clause = guests.message_clause if story.partial_message else guests.first_clause
    return _result(
        story, Outcome.FAIL, failure=Failure(clause, "the first word of the client", actual, got=story.partial_message)
    )


def _silent(story: ClientObservation, twin: ClientObservation | None) -> Result:
    """The client had to speak, or has stopped where others go on."""
    case, stand = story.case, story.server
    alone = twin is not None and twin.has_played_on
    if case.kind is CaseKind.TOLERANCE and alone:
        return _result(story, Outcome.CHOICE, f"it does not take it: {_silence(story)}")
    if story.is_idle and (case.may_rest or not alone):
        if case.kind is CaseKind.GOODBYE or not stand.has_reached_state:
            return _result(story, Outcome.SKIP, f"{_missing(story)}: it was silent after a game")
        told = "when the game was over it said nothing more, and did not leave"
        return _tolerated(story) or _result(story, *((Outcome.PASS,) if case.may_rest else (Outcome.CHOICE, told)))
    legal = ", ".join(str(message) for message in _legal(story)) or "the end, or another game"
    failure = Failure(_owed(story, alone=alone), legal, _silence(story), got=story.partial_message)
    return _result(story, Outcome.FAIL, failure=failure)


def _owed(story: ClientObservation, *, alone: bool) -> str:
    """The clause by which the client had to say something; `alone`: it does so without what is special here."""
    case, stand = story.case, story.server
    guests = TEST_DATA_BY_ROOM[case.room]
    if story.partial_message:
        return guests.message_clause
    if story.is_idle and (clause := guests.idle_obligation(stand.referee)):
        return clause
    if alone and (
        case.kind is CaseKind.VARIATION
        or (case.demands_answer and stand.has_reached_state and not stand.messages_since_state)
    ):
        return case.clause
    return stand.pending_obligation or case.clause


def _legal(story: ClientObservation) -> tuple[Any, ...]:
    """What the client might have said, from the lines before the house has ended it."""
    lines = list(story.conversation.lines)
    goodbyes = _room(story).final_messages
    while lines and lines[-1].side == HOUSE and lines[-1].message in goodbyes:
        lines.pop()
    before = Conversation(_room(story))
    for line in lines:
        before.on_data(line.side, line.data, line.at)
    return tuple(before.referee.legal)


def _silence(story: ClientObservation) -> str:
    """What came in the place of a word of the client."""
    if story.server.conversation_end is ConversationEnd.CLIENT:
        return f"the end of the connection{_how(story)}"
    behind = f" behind {_text(story.partial_message)}" if story.partial_message else ""
    return f"nothing{behind} within {story.seconds:g} seconds{_how(story)}"


def _told_off(story: ClientObservation, broken: Fault) -> Result:
    """The house has broken a rule: the document says nothing about it, or that the client hangs up."""
    stand = story.server
    if story.case.kind is CaseKind.HANG_UP:
        if stand.conversation_end is ConversationEnd.CLIENT:
            return _result(story, Outcome.PASS)
        actual = "an open connection" if stand.reaction is None else f"{stand.reaction}, and an open connection"
        wanted = f"that the client hangs up within {story.seconds:g} seconds"
        return _result(story, Outcome.FAIL, failure=Failure(story.case.clause, wanted, actual))
    if story.exit_status is not None and story.exit_status < 0:
        what = f"ended by {describe_exit(story.exit_status)}"
    elif stand.conversation_end is ConversationEnd.CLIENT or (
        stand.conversation_end is ConversationEnd.HOUSE
        and stand.reaction is None
        and stand.close_delay_seconds is not None
    ):
        what = "hung up"
    elif stand.reaction in _room(story).final_messages:
        what = "said goodbye"
    else:
        what = "waited" if stand.reaction is None else f"went on with {stand.reaction}"
    clause = broken.verdict.violation.clause
    return _result(story, Outcome.CHOICE, f"when the house broke {clause}, it {what}{_how(story)}")


def _goodbye(story: ClientObservation) -> Result:
    """The house has said goodbye and closed."""
    stand = story.server
    if story.exit_status is not None and story.exit_status < 0:
        return _result(story, Outcome.CHOICE, f"it ended by {describe_exit(story.exit_status)}")
    if stand.conversation_end is ConversationEnd.HOUSE and stand.close_delay_seconds is None:
        return _result(story, Outcome.CHOICE, "it kept the connection open when the house had said goodbye and closed")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _waited(story: ClientObservation) -> Result:
    """The client has said goodbye, or not."""
    waits = TEST_DATA_BY_ROOM[story.case.room].awaited_message
    assert waits is not None, "there is such a case only where there is such a word"
    line = _last(story.conversation.lines, CLIENT)
    if line is None or line.data != waits[0]:
        return _result(story, Outcome.SKIP, story.case.missing)
    if story.server.conversation_end is ConversationEnd.CLIENT:
        return _result(story, Outcome.CHOICE, "it closes behind its goodbye, at least its own direction")
    return _tolerated(story) or _result(story, Outcome.PASS)


def _tolerated(story: ClientObservation) -> Result | None:
    """What the client has needed tolerance for, if anything."""
    departures = story.conversation.tolerated(CLIENT)
    if departures:
        return _result(
            story,
            Outcome.NON_STRICT,
            f"the client departs from the document as {', '.join(sorted(departures))} tolerates",
        )
    guests = TEST_DATA_BY_ROOM[story.case.room]
    if not guests.late_clause:
        return None
    strict = Conversation(_room(story))
    strict.referee = _room(story).referee(None, True, 1e9)
    for line in story.conversation.lines:
        strict.on_data(line.side, line.data, line.at)
    faults = [fault for fault in strict.faults if fault.verdict.end == CLIENT]
    if not faults:
        return None
    lines = faults[0].line_count
    return _result(
        story,
        Outcome.NON_STRICT,
        f"the client departs from the document as {guests.late_clause} tolerates",
        lines=lines,
    )


def _room(story: ClientObservation) -> HouseRoom:
    return TEST_DATA_BY_ROOM[story.case.room].room


def _last(lines: list[DialogueLine], side: Peer) -> DialogueLine | None:
    """The last line of one end."""
    return next((line for line in reversed(lines) if line.side == side), None)


def _text(data: bytes) -> str:
    return repr(data.decode("latin-1"))
