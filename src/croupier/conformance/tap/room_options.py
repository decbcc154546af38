"""The parts of `croupier tap` that depend on the room: the monitor of a connection and the transcript writer."""

from collections.abc import Mapping
from typing import IO, Any

from croupier.conformance.conversation import Conversation
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.follow_oldmaid import ObservedTable
from croupier.conformance.tap.house_transcript import HouseTranscriptWriter
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.conformance.tap.table_transcripts import HoldemTranscriptWriter, OldMaidTranscriptWriter
from croupier.core.room import HouseRoom, Room
from croupier.rooms.oldmaid import ROOM as OLDMAID


def tapping_options(room: Room, known_options: Any, *, strict: bool, answer_timeout: float) -> Mapping[str, Any]:
    """Return the options of `croupier.conformance.tap.run.TapConfig` that depend on the room.

    `known_options` are the known options of the clients, None if there are none. An answer may take `answer_timeout`
    seconds.
    """
    if isinstance(room, HouseRoom):
        return _house_room_options(room, known_options, strict=strict, answer_timeout=answer_timeout)
    if room.name == OLDMAID.name:
        table = ObservedTable(
            getattr(known_options, "dialect", "document"), strict=strict, answer_timeout=answer_timeout
        )
        return {
            "new_monitor": table.new_connection,
            "new_writer": OldMaidTranscriptWriter,
            "is_merged": True,
        }
    checker = ExchangeChecker(getattr(known_options, "dialect", "readme"))
    return {
        "new_monitor": lambda: HoldemConnection(checker, answer_timeout, strict=strict),
        "new_writer": HoldemTranscriptWriter,
        "is_merged": True,
    }


def _house_room_options(
    room: HouseRoom, known_options: Any, *, strict: bool, answer_timeout: float
) -> Mapping[str, Any]:
    """Return the options of a room in which each client has a private table."""

    def new_conversation() -> Conversation:
        return Conversation(room, known_options, strict=strict, answer_timeout=answer_timeout)

    def new_writer(body: IO[str]) -> HouseTranscriptWriter:
        return HouseTranscriptWriter(new_conversation(), body)

    return {"new_monitor": new_conversation, "new_writer": new_writer}
