"""Which game a server speaks, judged by the first bytes it sends."""

import re
from collections.abc import Iterable
from typing import Final

from croupier.core.room import Room

TLS_RECORD_PATTERN: Final = re.compile(rb"[\x14-\x17]\x03[\x00-\x04]")
"""What every record of TLS begins with; a server sends an alert to a client that speaks none."""


def recognise_room(answer: bytes, rooms: Iterable[Room]) -> Room | None:
    """The room whose servers answer like this, None where it is none of these."""
    return next((room for room in rooms if re.match(room.answer_pattern, answer)), None)


def is_tls(answer: bytes) -> bool:
    """Whether an answer is TLS."""
    return TLS_RECORD_PATTERN.match(answer) is not None
