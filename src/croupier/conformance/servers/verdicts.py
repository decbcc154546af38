"""Describes a fault of the house: what was expected, what was received, and the dialogue that shows it."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from croupier.conformance.conversation import UNFINISHED_MESSAGE, Conversation, DialogueLine, Fault
from croupier.conformance.results import Failure
from croupier.conformance.servers.test_data import ServerTestData
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE


def describe_failure(conversation: Conversation, fault: Fault) -> Failure:
    """Describe a fault of the house.

    Expected are the bytes of the allowed message, if exactly one is allowed; actual are those of the last message, or
    of an incomplete one in the place of a message.
    """
    violation = fault.verdict.violation
    last = conversation.lines[fault.line_count - 1] if fault.line_count else None
    is_message = violation.kind is FoundKind.MESSAGE and last is not None and last.side == HOUSE
    actual = last.data if is_message and last is not None else conversation.incomplete(HOUSE)
    return Failure(
        violation.clause,
        violation.allowed,
        violation.found,
        _spelled_like(actual, violation.wanted[0], conversation) if len(violation.wanted) == 1 else None,
        actual,
        kind=violation.kind,
    )


def _spelled_like(actual: bytes, message: object, conversation: Conversation) -> bytes:
    """Encode a message, with the letters of the received bytes where only their case differs and does not matter."""
    encoded = conversation.encode(message)
    pairs = zip(encoded, actual, strict=False)
    letters = bytes(one if chr(one).upper() != chr(other).upper() else other for one, other in pairs)
    respelled = letters + encoded[len(letters) :]
    reader = conversation.start_again()
    reader.on_data(HOUSE, respelled, 0.0)
    return respelled if [line.message for line in reader.lines] == [message] else encoded


def failing_dialogue(conversation: Conversation, fault: Fault) -> tuple[DialogueLine, ...]:
    """The whole dialogue up to a fault."""
    lines = list(conversation.lines[: fault.line_count])
    rest = conversation.incomplete(HOUSE)
    if rest and len(lines) == len(conversation.lines) and not (lines and type(lines[-1].message) is Violation):
        at = lines[-1].at if lines else 0.0
        lines.append(DialogueLine(HOUSE, rest, fault.verdict.violation, at))
    return tuple(lines)


def shown_dialogue(conversation: Conversation, fault: Fault) -> tuple[DialogueLine, ...]:
    """The dialogue up to a fault for people: with all that both ends have sent.

    That is the rest of a message that cannot be read, and the beginning of one that a house has answered, or behind
    which it is silent.
    """
    lines, rest = failing_dialogue(conversation, fault), conversation.incomplete(CLIENT)
    if any(is_fatal(line.message) for line in lines):
        return tuple(_with_rest(lines, conversation))
    said = [place for place, line in enumerate(lines) if line.side == CLIENT]
    if rest and said and fault.verdict.violation.kind is FoundKind.SILENCE:
        return (*lines, DialogueLine(CLIENT, rest, UNFINISHED_MESSAGE, lines[-1].at))
    is_last = all(line.side == HOUSE for line in conversation.lines[fault.line_count :])
    is_answered = fault.verdict.violation.kind in {FoundKind.MESSAGE, FoundKind.STILL_OPEN} and is_last
    if not (rest and is_answered and lines and lines[-1].side == HOUSE):
        return lines
    return (*lines[:-1], DialogueLine(CLIENT, rest, UNFINISHED_MESSAGE, lines[-1].at), lines[-1])


def _with_rest(lines: Sequence[DialogueLine], conversation: Conversation) -> Iterator[DialogueLine]:
    """The lines, with the rest of each message that cannot be read."""
    for line in lines:
        rest = conversation.incomplete(line.side) if is_fatal(line.message) else b""
        yield structs.replace(line, data=line.data + rest)


def whole_messages(dialogue: Iterable[DialogueLine]) -> Sequence[DialogueLine]:
    """The dialogue without the beginning of a message that `shown_dialogue` has added."""
    return [line for line in dialogue if line.message is not UNFINISHED_MESSAGE]


def client_messages(dialogue: Iterable[DialogueLine]) -> list[bytes]:
    """The whole messages that the client has sent in a dialogue."""
    return [line.data for line in whole_messages(dialogue) if line.side == CLIENT]


def canonical_messages(conversation: Conversation, dialogue: Sequence[DialogueLine]) -> Sequence[bytes]:
    """The messages of the client as its protocol, or dialect, spells them; bytes that are no messages are unchanged."""
    said = [line for line in dialogue if line.side == CLIENT]
    return [line.data if isinstance(line.message, Violation) else conversation.encode(line.message) for line in said]


def has_refused(test_data: ServerTestData, conversation: Conversation) -> bool:
    """Whether the house has refused anything."""
    return any(line.side == HOUSE and test_data.is_refusal(line.message) for line in conversation.lines)


def is_fatal(message: object) -> bool:
    """Whether these are bytes that cannot be read, after which no message can."""
    return type(message) is Violation and message.fatal
