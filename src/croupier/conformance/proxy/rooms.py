"""How every room is overheard: what hears a connection, and what writes it down."""

from collections.abc import Mapping
from typing import IO, Any

from croupier.conformance.conversation import Conversation
from croupier.conformance.proxy.follow_exchange import Exchanges
from croupier.conformance.proxy.follow_holdem import Exchange
from croupier.conformance.proxy.follow_oldmaid import Parlour, reworded
from croupier.conformance.proxy.transcript_writer import Lines, Papers
from croupier.conformance.tap.transcript import Script
from croupier.core.room import HouseRoom, Room
from croupier.rooms.oldmaid import ROOM as OLDMAID


def overheard(room: Room, own: Any, *, strict: bool, patience: float) -> Mapping[str, Any]:
    """What `croupier.conformance.tap.run.Tapping` needs of a room.

    `own` is what is known of the clients' options, None for nothing; `patience` is how many seconds an answer may take.
    """
    if isinstance(room, HouseRoom):
        return _house_game(room, own, strict=strict, patience=patience)
    if room.name == OLDMAID.name:
        parlour = Parlour(getattr(own, "dialect", "document"), strict=strict, patience=patience)
        return {
            "dialogue": parlour.link,
            "scribe": Lines,
            "together": True,
            "listener": parlour.hear,
            "reworded": reworded,
        }
    exchanges = Exchanges(getattr(own, "dialect", "readme"))
    return {
        "dialogue": lambda: Exchange(exchanges, patience, strict=strict),
        "scribe": Papers,
        "together": True,
    }


def _house_game(room: HouseRoom, own: Any, *, strict: bool, patience: float) -> Mapping[str, Any]:
    """A client and its private table."""

    def dialogue() -> Conversation:
        return Conversation(room, own, strict=strict, patience=patience)

    def scribe(body: IO[str]) -> Script:
        return Script(dialogue(), body)

    return {"dialogue": dialogue, "scribe": scribe}
