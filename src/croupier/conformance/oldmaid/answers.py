"""Checks the form of a table's answers, before the referee judges their meaning."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from croupier.conformance.channel.json_values import json_object
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.diagnosis.message_dialect import likely_dialect
from croupier.conformance.oldmaid.dialects import DIALECTS, RESULTS
from croupier.conformance.oldmaid.outcomes import Failed, display_text
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import CARD_NUMBERS
from croupier.rooms.oldmaid.sender_clauses import ANSWER_CLAUSE, NO_COMMAND_CLAUSE, sender_clause
from croupier.rooms.oldmaid.wire import (
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Standing,
    Status,
    Wire,
    WireRole,
)

ANSWER_CLAUSES: Final[dict[type[Any], str]] = {
    Join: "oldmaid-3.2",
    Draw: "oldmaid-4.2",
    Discard: "oldmaid-5.2",
    OutOfCards: "oldmaid-6.1",
    Status: "oldmaid-6.5",
}
"""The clause that defines the answer to each request."""

ANSWER_FORMS: Final[dict[type[Any], str]] = {
    Join: '{"result": "ok", "players": …}',
    Draw: '{"result": "ok", "card": …}, with the last card "last_card"',
    Discard: '{"result": "ok", "message": "ok"}',
    OutOfCards: '{"result": "ok"}',
    Status: '{"in": […], "out": […]}',
}
"""The form of the answer to each request."""


class ReceivedMessage(NamedTuple):
    """A received message: its bytes, and the parsed message or a Violation.

    `interpreted` is the message without the dialect of its sender.
    """

    data: bytes
    message: Message | Violation
    interpreted: bytes

    @property
    def is_error(self) -> bool:
        """Whether it is an error."""
        return is_error(self.message)

    @property
    def text(self) -> str:
        """The message as text."""
        return display_text(self.data)

    def failure(self, clause: str, expected: str, found: str = "", cause: Cause | None = None) -> Failed:
        """Return the failure that the message shows; `found` is by default its text."""
        return Failed(clause, found or self.text, expected, got=self.data, cause=cause)

    @property
    def json_object(self) -> dict[str, Any]:
        """Its JSON object, {} if it is not one."""
        return json_object(self.interpreted)


def check_answer(request: Message | Violation | None, received: ReceivedMessage) -> None:
    """Raise Failed if this cannot be the answer; `request` is a Violation if the request was invalid."""
    try:
        _check_interpreted(request, received)
    except Failed as failed:
        valid_request = None if isinstance(request, Violation) else request
        cause = likely_dialect(received.interpreted, valid_request, DIALECTS, partial(_would_be_right, valid_request))
        failed.amend(cause=cause)
        raise


def likely_spelling(
    side: WireRole, received: ReceivedMessage, matches: Callable[[Message], bool] = lambda _: True
) -> Cause | None:
    """Return the likely dialect of a message that is not right as received, see `likely_dialect`.

    `matches` decides whether a corrected message is right.
    """

    def is_right(interpreted: bytes) -> bool:
        message = _read(side, interpreted)
        return message is not None and _has_known_values(message) and matches(message)

    return None if is_right(received.interpreted) else likely_dialect(received.interpreted, None, DIALECTS, is_right)


def is_error(message: Message | Violation) -> bool:
    """Whether a message is an error."""
    return isinstance(message, Reply) and message.result == "error"


def is_right_answer(request: Message | Violation | None, received: ReceivedMessage) -> bool:
    """Whether this may be the answer to a request."""
    try:
        _check_interpreted(request, received)
    except Failed:
        return False
    return True


def _would_be_right(request: Message | None, interpreted: bytes) -> bool:
    """Whether a message that is received like this may be the answer to a request."""
    message = _read("player", interpreted)
    return message is not None and is_right_answer(request, ReceivedMessage(interpreted, message, interpreted))


def _read(side: WireRole, data: bytes) -> Message | None:
    """Return the message, None if it is not exactly one valid message."""
    found = Wire(side).feed(data + b"\n")
    return None if len(found) != 1 or isinstance(found[0], Violation) else found[0]


def _has_known_values(message: Message) -> bool:
    """Whether the result is a known one, and all cards are in the pack."""
    if isinstance(message, Reply):
        return message.result in RESULTS and (message.card is None or message.card in CARD_NUMBERS)
    return not isinstance(message, Discard) or all(card in CARD_NUMBERS for card in message.cards)


def _check_interpreted(request: Message | Violation | None, received: ReceivedMessage) -> None:
    message = received.message
    if isinstance(request, Draw) and not received.is_error and "card" in received.json_object:
        _check_card(received)
    if isinstance(message, Violation):
        clause = sender_clause(message, is_answer=True)
        is_request_wanted = message.clause == NO_COMMAND_CLAUSE  # a table sends none
        allowed = ANSWER_FORMS.get(type(request), "an answer") if is_request_wanted else message.allowed
        raise received.failure(clause, allowed, message.found)
    if not isinstance(message, Reply | Standing):
        raise received.failure("oldmaid-1.8", "answers, for a table asks nothing", f"a request, {received.text}")
    if received.is_error:
        if isinstance(request, Discard) and isinstance(message, Reply) and message.message is None:
            raise received.failure("oldmaid-2.9", "an error with a message")
        return
    wanted = ANSWER_FORMS.get(type(request))
    if wanted and not _matches_request(request, message, received):
        raise received.failure(ANSWER_CLAUSE, wanted, f"{received.text} as the answer to {request}")


def _check_card(received: ReceivedMessage) -> None:
    """Raise Failed if the key `card` is not a card of the pack."""
    card = received.json_object.get("card")
    if not isinstance(card, list) or len(card) != 2 or not all(isinstance(part, str) for part in card):
        raise received.failure("oldmaid-2.4", "an array of two strings", f"the card {card}")
    if (card[0], card[1]) not in CARD_NUMBERS:
        raise received.failure("oldmaid-2.4", 'a card of the pack, as ["10", "spades"]', f"the card {card}")


def _matches_request(request: Message | Violation | None, message: Reply | Standing, received: ReceivedMessage) -> bool:
    match request, message:
        case (
            (Join(), Reply("ok", players=tuple()))
            | (Draw(), Reply("ok" | "last_card", card=tuple()))
            | (Discard(), Reply("ok", "ok"))
            | (OutOfCards(), Reply("ok"))
        ):
            return True
        case Status(), Standing():
            return {"in", "out"} <= received.json_object.keys()
    return False
