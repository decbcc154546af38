"""Detection of the game that a server serves, from the first bytes that it sends."""

import re
from collections.abc import Iterable
from typing import Final

from croupier.core.room import Room

TLS_RECORD_PATTERN: Final = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
"""The start of every TLS record; a TLS server sends an alert record to a client that does not speak TLS."""


def recognise_room(answer: bytes, rooms: Iterable[Room]) -> Room | None:
    """The room whose `answer_pattern` matches the start of a server's answer, None if none matches."""
    return next((room for room in rooms if re.match(room.answer_pattern, answer)), None)


def is_tls(answer: bytes) -> bool:
    """Whether an answer starts with a TLS record.

    >>> is_tls(bytes.fromhex("15030300020228")), is_tls(b"HTTP/1.1 400 Bad Request")
    (True, False)
    """
    return TLS_RECORD_PATTERN.match(answer) is not None
