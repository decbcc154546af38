"""What a table may answer: every answer is looked at as it stands on the wire, before anybody asks what it means."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conformance.oldmaid.dialect import likely
from croupier.conformance.oldmaid.dialects import RESULTS, SPELLINGS
from croupier.conformance.oldmaid.findings import Broken, text
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import NUMBERS
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, Message, OutOfCards, Reply, Side, Standing, Status, Wire

ANSWERED: Final = {
    "oldmaid-3.19": "oldmaid-3.3",
    "oldmaid-8.3": "oldmaid-1.3",
    "oldmaid-8.4": "oldmaid-1.3",
    "oldmaid-8.5": "oldmaid-2.3",
    "oldmaid-8.8": "oldmaid-1.3",
    "oldmaid-8.9": "oldmaid-1.3",
    "oldmaid-8.11": "oldmaid-2.3",
}
"""A reader's clauses are about what he is to do; these are those that the table has broken."""

OWED: Final[dict[type[Any], str]] = {
    Join: "oldmaid-3.2",
    Draw: "oldmaid-4.2",
    Discard: "oldmaid-5.2",
    OutOfCards: "oldmaid-6.1",
    Status: "oldmaid-6.5",
}
"""The clause that says how a request is answered when nothing is wrong with it."""


class Heard(NamedTuple):
    """What an end has said: its bytes, and the message that they are, a Violation where they are none.

    `meant` is what they are in the protocol, which is something else where the end is heard by a spelling.
    """

    data: bytes
    message: Message | Violation
    meant: bytes

    @property
    def error(self) -> bool:
        """Whether it is an error."""
        return isinstance(self.message, Reply) and self.message.result == "error"

    @property
    def told(self) -> str:
        """It as text."""
        return text(self.data)

    @property
    def keys(self) -> dict[str, Any]:
        """Its JSON object; an empty one where it is none."""
        try:
            found = decode(self.meant)
        except DecodeError:
            return {}
        return found if isinstance(found, dict) else {}


def check(request: Message | Violation | None, heard: Heard) -> None:
    """Raise Broken on what cannot be the answer to a request; a Violation is what is wrong with the request."""
    try:
        _check(request, heard)
    except Broken as broken:
        asked = None if isinstance(request, Violation) else request
        broken.cause = likely(heard.meant, SPELLINGS, lambda meant: _right(asked, meant), asked)
        raise


def spelt(side: Side, heard: Heard, fits: Callable[[Message], bool] = lambda _: True) -> str:
    """How something is spelt that is not right as it came: see `likely`. `fits` tells what would be right."""

    def right(meant: bytes) -> bool:
        message = _read(side, meant)
        return message is not None and _known(message) and fits(message)

    return "" if right(heard.meant) else likely(heard.meant, SPELLINGS, right)


def is_error(message: Message) -> bool:
    """Whether a message is an error."""
    return isinstance(message, Reply) and message.result == "error"


def _right(request: Message | None, meant: bytes) -> bool:
    """Whether this may be the answer to a request."""
    message = _read("player", meant)
    if message is None:
        return False
    try:
        _check(request, Heard(meant, message, meant))
    except Broken:
        return False
    return True


def _read(side: Side, data: bytes) -> Message | None:
    """The message that this is to a table or to a player; None where it is none."""
    found = Wire(side).feed(data + b"\n")
    return None if len(found) != 1 or isinstance(found[0], Violation) else found[0]


def _known(message: Message) -> bool:
    """Whether the result of a message is one, and all cards in it are in the pack."""
    if isinstance(message, Reply):
        return message.result in RESULTS and (message.card is None or message.card in NUMBERS)
    return not isinstance(message, Discard) or all(card in NUMBERS for card in message.cards)


def _check(request: Message | Violation | None, heard: Heard) -> None:
    message = heard.message
    if isinstance(request, Draw) and not heard.error and "card" in heard.keys:
        _check_card(heard)
    if isinstance(message, Violation):
        clause = ANSWERED.get(message.clause, message.clause)
        raise Broken(clause, message.found, message.allowed, got=heard.data)
    if not isinstance(message, Reply | Standing):
        raise Broken("oldmaid-1.8", f"a request, {heard.told}", "answers, for a table asks nothing", got=heard.data)
    if heard.error:
        if isinstance(request, Discard) and isinstance(message, Reply) and message.message is None:
            raise Broken("oldmaid-2.9", heard.told, "an error with a message", got=heard.data)
        return
    wanted = _wanted(request)
    if wanted and not _fits(request, message, heard):
        raise Broken("oldmaid-2.3", f"{heard.told} as the answer to {request}", wanted, got=heard.data)


def _check_card(heard: Heard) -> None:
    """Raise Broken where the key `card` has none of the pack."""
    card = heard.keys.get("card")
    if not isinstance(card, list) or len(card) != 2 or not all(isinstance(part, str) for part in card):
        raise Broken("oldmaid-2.4", f"the card {card}", "an array of two strings", got=heard.data)
    if (card[0], card[1]) not in NUMBERS:
        raise Broken("oldmaid-2.4", f"the card {card}", 'a card of the pack, as ["10", "spades"]', got=heard.data)


def _wanted(request: Message | Violation | None) -> str:
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


def _fits(request: Message | Violation | None, message: Reply | Standing, heard: Heard) -> bool:
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
            return {"in", "out"} <= heard.keys.keys()
    return False
