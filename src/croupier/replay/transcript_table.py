"""A table of Old Maid that plays transcripts in memory, without sockets."""

from collections.abc import Mapping

from croupier.core.session import Address
from croupier.core.transcript import Transcript, convert_head, is_strict
from croupier.replay.transcript_house import Harness, transcript_dealers
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import Answer, Message, Wire


def table_settings(transcript: Transcript) -> Settings:
    """The settings in the head of a transcript."""
    settings: Settings = convert_head(Settings, transcript.head)
    return settings


def make_table(transcript: Transcript) -> House:
    """The table of a transcript."""
    idle = float(transcript.head.get("idle", 500))
    return House(table_settings(transcript), transcript_dealers(ROOM, transcript), idle=idle)


def table_harness(transcript: Transcript) -> Harness[Message, Answer]:
    """A harness for the table of a transcript."""
    dialect = table_settings(transcript).dialect
    return Harness(
        make_table(transcript),
        lambda: Wire("table", strict=is_strict(transcript), dialect=dialect),
        addresses=peer_addresses(transcript),
    )


def peer_addresses(transcript: Transcript) -> Mapping[str, Address]:
    """The addresses of peers from the head, as in `from: p 192.0.2.9 4001, q 2001:db8::9 4002`.

    Raises ValueError if the entry is invalid.
    """
    entries = transcript.head.get("from")
    if entries is None:
        return {}
    return {peer: (host, int(port)) for peer, host, port in (entry.split() for entry in entries.split(","))}
