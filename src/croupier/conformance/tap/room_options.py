"""The parts of `croupier tap` that depend on the room: the monitor of a connection and the transcript writer."""

from typing import IO, Any

from croupier.conformance.tap.explained_conversation import ExplainedConversation
from croupier.conformance.tap.follow_holdem import HoldemConnection
from croupier.conformance.tap.follow_oldmaid import ObservedTable
from croupier.conformance.tap.house_transcript import HouseTranscriptWriter
from croupier.conformance.tap.judge_exchange import ExchangeChecker
from croupier.conformance.tap.table_transcripts import HoldemTranscriptWriter, OldMaidTranscriptWriter
from croupier.conformance.tap.transcript import Follower
from croupier.core.room import HouseRoom, Room
from croupier.rooms.oldmaid import ROOM as OLDMAID


def room_follower(room: Room, known_options: Any, *, strict: bool, answer_timeout: float) -> Follower:
    """Return what follows the connections of a room.

    `known_options` are the known options of the clients, None if there are none. An answer may take `answer_timeout`
    seconds.
    """
    if room.name == OLDMAID.name:
        table = ObservedTable(
            getattr(known_options, "dialect", "document"), strict=strict, answer_timeout=answer_timeout
        )
        return Follower(table.new_connection, OldMaidTranscriptWriter, is_merged=True)
    if not isinstance(room, HouseRoom):
        checker = ExchangeChecker(getattr(known_options, "dialect", "readme"))
        return Follower(
            lambda: HoldemConnection(checker, answer_timeout, strict=strict), HoldemTranscriptWriter, is_merged=True
        )

    def new_conversation() -> ExplainedConversation:
        return ExplainedConversation(room, known_options, strict=strict, answer_timeout=answer_timeout)

    def new_writer(body: IO[str]) -> HouseTranscriptWriter:
        return HouseTranscriptWriter(room.referee(known_options, strict, answer_timeout), body)

    return Follower(new_conversation, new_writer)
