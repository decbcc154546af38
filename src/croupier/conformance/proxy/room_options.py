"""How every room is overheard: what hears a connection, and what writes it down."""

from collections.abc import Mapping
from typing import IO, Any

from croupier.conformance.conversation import Conversation
from croupier.conformance.proxy.follow_exchange import ExchangeChecker
from croupier.conformance.proxy.follow_holdem import HoldemConnection
from croupier.conformance.proxy.follow_oldmaid import ObservedTable, rewrite_addresses
from croupier.conformance.proxy.transcript_writer import HoldemTranscriptWriter, OldMaidTranscriptWriter
from croupier.conformance.tap.transcript import HouseTranscriptWriter
from croupier.core.room import HouseRoom, Room
from croupier.rooms.oldmaid import ROOM as OLDMAID


def tapping_options(room: Room, known_options: Any, *, strict: bool, answer_timeout: float) -> Mapping[str, Any]:
    """What `croupier.conformance.tap.run.Tapping` needs of a room.

    `own` is what is known of the clients' options, None for nothing; `patience` is how many seconds an answer may take.
    """
    if isinstance(room, HouseRoom):
        return _house_room_options(room, known_options, strict=strict, answer_timeout=answer_timeout)
    if room.name == OLDMAID.name:
        parlour = ObservedTable(
            getattr(known_options, "dialect", "document"), strict=strict, answer_timeout=answer_timeout
        )
        return {
            "new_monitor": parlour.new_connection,
            "new_writer": OldMaidTranscriptWriter,
            "is_merged": True,
            "listener": parlour.on_event,
            "rewrite": rewrite_addresses,
        }
    exchanges = ExchangeChecker(getattr(known_options, "dialect", "readme"))
    return {
        "new_monitor": lambda: HoldemConnection(exchanges, answer_timeout, strict=strict),
        "new_writer": HoldemTranscriptWriter,
        "is_merged": True,
    }


def _house_room_options(
    room: HouseRoom, known_options: Any, *, strict: bool, answer_timeout: float
) -> Mapping[str, Any]:
    """A client and its private table."""

    def dialogue() -> Conversation:
        return Conversation(room, known_options, strict=strict, answer_timeout=answer_timeout)

    def scribe(body: IO[str]) -> HouseTranscriptWriter:
        return HouseTranscriptWriter(dialogue(), body)

    return {"new_monitor": dialogue, "new_writer": scribe}
