"""What a table may answer: every answer is looked at as it stands on the wire, before anybody asks what it means."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conformance.oldmaid.dialect import likely_cause
from croupier.conformance.oldmaid.dialects import DIALECTS, RESULTS
from croupier.conformance.oldmaid.outcomes import Failed, display_text
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import CARD_NUMBERS
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

TABLE_CLAUSES: Final = {
    "oldmaid-3.19": "oldmaid-3.3",
    "oldmaid-8.3": "oldmaid-1.3",
    "oldmaid-8.4": "oldmaid-1.3",
    "oldmaid-8.5": "oldmaid-2.3",
    "oldmaid-8.8": "oldmaid-1.3",
    "oldmaid-8.9": "oldmaid-1.3",
    "oldmaid-8.11": "oldmaid-2.3",
}
"""A reader's clauses are about what he is to do; these are those that the table has broken."""

ANSWER_CLAUSES: Final[dict[type[Any], str]] = {
    Join: "oldmaid-3.2",
    Draw: "oldmaid-4.2",
    Discard: "oldmaid-5.2",
    OutOfCards: "oldmaid-6.1",
    Status: "oldmaid-6.5",
}
"""The clause that says how a request is answered when nothing is wrong with it."""


class ReceivedMessage(NamedTuple):
    """What an end has said: its bytes, and the message that they are, a Violation where they are none.

    `meant` is what they are in the protocol, which is something else where the end is heard by a spelling.
    """

    data: bytes
    message: Message | Violation
    interpreted: bytes

    @property
    def is_error(self) -> bool:
        """Whether it is an error."""
        return isinstance(self.message, Reply) and self.message.result == "error"

    @property
    def text(self) -> str:
        """It as text."""
        return display_text(self.data)

    @property
    def json_object(self) -> dict[str, Any]:
        """Its JSON object; an empty one where it is none."""
        try:
            found = decode(self.interpreted)
        except DecodeError:
            return {}
        return found if isinstance(found, dict) else {}


def check_answer(request: Message | Violation | None, received: ReceivedMessage) -> None:
    """Raise Broken on what cannot be the answer to a request; a Violation is what is wrong with the request."""
    try:
        _check_interpreted(request, received)
    except Failed as broken:
        asked = None if isinstance(request, Violation) else request
        broken.cause = likely_cause(received.interpreted, DIALECTS, lambda meant: _is_right_answer(asked, meant), asked)
        raise


def likely_spelling(
    side: WireRole, received: ReceivedMessage, matches: Callable[[Message], bool] = lambda _: True
) -> str:
    """How something is spelt that is not right as it came: see `likely`. `fits` tells what would be right."""

    def right(meant: bytes) -> bool:
        message = _read(side, meant)
        return message is not None and _has_known_values(message) and matches(message)

    return "" if right(received.interpreted) else likely_cause(received.interpreted, DIALECTS, right)


def is_error(message: Message) -> bool:
    """Whether a message is an error."""
    return isinstance(message, Reply) and message.result == "error"


def _is_right_answer(request: Message | None, meant: bytes) -> bool:
    """Whether this may be the answer to a request."""
    message = _read("player", meant)
    if message is None:
        return False
    try:
        _check_interpreted(request, ReceivedMessage(meant, message, meant))
    except Failed:
        return False
    return True


def _read(side: WireRole, data: bytes) -> Message | None:
    """The message that this is to a table or to a player; None where it is none."""
    found = Wire(side).feed(data + b"\n")
    return None if len(found) != 1 or isinstance(found[0], Violation) else found[0]


def _has_known_values(message: Message) -> bool:
    """Whether the result of a message is one, and all cards in it are in the pack."""
    if isinstance(message, Reply):
        return message.result in RESULTS and (message.card is None or message.card in CARD_NUMBERS)
    return not isinstance(message, Discard) or all(card in CARD_NUMBERS for card in message.cards)


def _check_interpreted(request: Message | Violation | None, received: ReceivedMessage) -> None:
    message = received.message
    if isinstance(request, Draw) and not received.is_error and "card" in received.json_object:
        _check_card(received)
    if isinstance(message, Violation):
        clause = TABLE_CLAUSES.get(message.clause, message.clause)
        raise Failed(clause, message.found, message.allowed, got=received.data)
    if not isinstance(message, Reply | Standing):
        raise Failed(
            "oldmaid-1.8", f"a request, {received.text}", "answers, for a table asks nothing", got=received.data
        )
    if received.is_error:
        if isinstance(request, Discard) and isinstance(message, Reply) and message.message is None:
            raise Failed("oldmaid-2.9", received.text, "an error with a message", got=received.data)
        return
    wanted = _expected_form(request)
    if wanted and not _matches_request(request, message, received):
        raise Failed("oldmaid-2.3", f"{received.text} as the answer to {request}", wanted, got=received.data)


def _check_card(received: ReceivedMessage) -> None:
    """Raise Broken where the key `card` has none of the pack."""
    card = received.json_object.get("card")
    if not isinstance(card, list) or len(card) != 2 or not all(isinstance(part, str) for part in card):
        raise Failed("oldmaid-2.4", f"the card {card}", "an array of two strings", got=received.data)
    if (card[0], card[1]) not in CARD_NUMBERS:
        raise Failed("oldmaid-2.4", f"the card {card}", 'a card of the pack, as ["10", "spades"]', got=received.data)


def _expected_form(request: Message | Violation | None) -> str:
    match request:
        case Join():
            return '{"result": "ok", "players": …}'
        case Draw():
            return '{"result": "ok", "card": …}, with the last card "last_card"'
        case Discard():
            return '{"result": "ok", "message": "ok"}'
        case OutOfCards():
            return '{"result": "ok"}'
        case Status():
            return '{"in": […], "out": […]}'
    return ""


def _matches_request(request: Message | Violation | None, message: Reply | Standing, received: ReceivedMessage) -> bool:
    match request, message:
        case Join(), Reply("ok", players=tuple()):
            return True
        case Draw(), Reply("ok" | "last_card", card=tuple()):
            return True
        case Discard(), Reply("ok", "ok"):
            return True
        case OutOfCards(), Reply("ok"):
            return True
        case Status(), Standing():
            return {"in", "out"} <= received.json_object.keys()
    return False
