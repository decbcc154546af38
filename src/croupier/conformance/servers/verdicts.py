"""What is told of a fault: what was wanted and what came, the bytes of both, and the dialogue that shows it."""

from typing import Any

from msgspec.structs import replace

from croupier.conformance.conversation import Conversation, Fault, Line
from croupier.conformance.results import Failure
from croupier.conformance.servers.test_data import Ground
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE


def failure(ground: Ground, conversation: Conversation, fault: Fault) -> Failure:
    """A fault of the house as it is told."""
    violation = fault.verdict.violation
    return Failure(
        violation.clause,
        violation.allowed,
        violation.found,
        wanted(ground, violation.allowed),
        got(conversation, fault),
    )


def got(conversation: Conversation, fault: Fault) -> bytes:
    """The bytes that were wrong: those of the last message, or what has come of one."""
    last = conversation.lines[fault.lines - 1] if fault.lines else None
    return last.data if last is not None and last.side == HOUSE else conversation.rest(HOUSE)


def wanted(ground: Ground, allowed: str) -> bytes | None:
    """The bytes of what was allowed, where that is one message and no choice: `FAIL W_A`, `GAIN -100`."""
    words = allowed.split()
    for message in ground.room.vocabulary:
        spoken = str(message).split()
        if spoken == words:
            return ground.room.codec(True, None).encode(message)
        if spoken[:-1] == words[:-1] and words[1:] and _number(spoken[-1]) and _number(words[-1]):
            amount = type(message).__struct_fields__[-1]
            return ground.room.codec(True, None).encode(replace(message, **{amount: int(words[-1])}))
    return None


def _number(word: str) -> bool:
    return word.removeprefix("-").isdigit()


def dialogue(ground: Ground, conversation: Conversation, fault: Fault, own: Any, *, strict: bool) -> tuple[Line, ...]:
    """What was said up to a fault; of a conversation with several games only the last of them."""
    lines = list(conversation.lines[: fault.lines])
    rest = conversation.rest(HOUSE)
    if rest and len(lines) == len(conversation.lines) and not (lines and type(lines[-1].message) is Violation):
        at = lines[-1].at if lines else 0.0
        lines.append(Line(HOUSE, rest, fault.verdict.violation, at))
    begins = 0
    again = Conversation(ground.room, own, strict=strict)
    for number, line in enumerate(lines):
        referee = again.referee
        if line.side == CLIENT and referee.game is None and referee.finished and not ground.owes(referee):
            begins = number
        again.heard(line.side, line.data, line.at)
    return tuple(lines[begins:])
