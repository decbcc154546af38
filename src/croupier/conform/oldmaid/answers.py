"""What a table may answer: every answer is looked at as it stands on the wire, before anybody asks what it means."""

from typing import Any, Final, NamedTuple

from msgspec import DecodeError
from msgspec.json import decode

from croupier.conform.oldmaid.findings import Broken, text
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.cards import NUMBERS
from croupier.rooms.oldmaid.wire import Discard, Draw, Join, Message, OutOfCards, Reply, Standing, Status, Wire

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
    """What the table has said: its bytes, and the message that they are, a Violation where they are none."""

    data: bytes
    message: Message | Violation

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
            found = decode(self.data)
        except DecodeError:
            return {}
        return found if isinstance(found, dict) else {}


class Ear:
    """Takes the bytes of one end apart into messages, each with the bytes that are its own."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[Heard]:
        """The messages that are complete with these bytes."""
        found = []
        for byte in data:
            self.rest.append(byte)
            for message in self.wire.feed(bytes((byte,))):
                found.append(Heard(bytes(self.rest), message))
                self.rest.clear()
        return found


def check(request: Message | Violation | None, heard: Heard) -> None:
    """Raise Broken on what cannot be the answer to a request; a Violation is what is wrong with the request."""
    message = heard.message
    if isinstance(request, Draw) and not heard.error and "card" in heard.keys:
        check_card(heard)
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


def check_card(heard: Heard) -> None:
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
