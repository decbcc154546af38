"""What is told of a fault: what was wanted and what came, the bytes of both, and the dialogue that shows it."""

from typing import Any

from msgspec.structs import replace

from croupier.conformance.conversation import Conversation, DialogueLine, Fault
from croupier.conformance.results import Failure
from croupier.conformance.servers.test_data import ServerTestData
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE


def describe_failure(test_data: ServerTestData, conversation: Conversation, fault: Fault) -> Failure:
    """A fault of the house as it is told."""
    violation = fault.verdict.violation
    return Failure(
        violation.clause,
        violation.allowed,
        violation.found,
        expected_bytes(test_data, violation.allowed),
        actual_bytes(conversation, fault),
    )


def actual_bytes(conversation: Conversation, fault: Fault) -> bytes:
    """The bytes that were wrong: those of the last message, or what has come of one."""
    last = conversation.lines[fault.line_count - 1] if fault.line_count else None
    return last.data if last is not None and last.side == HOUSE else conversation.incomplete(HOUSE)


def expected_bytes(test_data: ServerTestData, allowed: str) -> bytes | None:
    """The bytes of what was allowed, where that is one message and no choice: `FAIL W_A`, `GAIN -100`."""
    words = allowed.split()
    for message in test_data.room.sample_messages:
        spoken = str(message).split()
        if spoken == words:
            return test_data.room.codec(True, None).encode(message)
        if spoken[:-1] == words[:-1] and words[1:] and _number(spoken[-1]) and _number(words[-1]):
            amount = type(message).__struct_fields__[-1]
            return test_data.room.codec(True, None).encode(replace(message, **{amount: int(words[-1])}))
    return None


def _number(word: str) -> bool:
    return word.removeprefix("-").isdigit()


def failing_dialogue(
    test_data: ServerTestData, conversation: Conversation, fault: Fault, known_options: Any, *, strict: bool
) -> tuple[DialogueLine, ...]:
    """What was said up to a fault; of a conversation with several games only the last of them."""
    lines = list(conversation.lines[: fault.line_count])
    rest = conversation.incomplete(HOUSE)
    if rest and len(lines) == len(conversation.lines) and not (lines and type(lines[-1].message) is Violation):
        at = lines[-1].at if lines else 0.0
        lines.append(DialogueLine(HOUSE, rest, fault.verdict.violation, at))
    begins = 0
    again = Conversation(test_data.room, known_options, strict=strict)
    for number, line in enumerate(lines):
        referee = again.referee
        if (
            line.side == CLIENT
            and referee.game is None
            and referee.finished_count
            and not test_data.owes_answer(referee)
        ):
            begins = number
        again.on_data(line.side, line.data, line.at)
    return tuple(lines[begins:])
