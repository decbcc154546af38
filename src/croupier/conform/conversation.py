"""A conversation of a client with a house as the wire shows it: every byte of both ends, and what was wrong with it."""

from collections.abc import Sequence, Set
from typing import Any, Final

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.guest import Watch
from croupier.core.judge import CLIENT, HOUSE, Verdict
from croupier.core.room import HouseRoom
from croupier.core.talk import Event, Garbled, Left, Peer, Rang, Said

MOST: Final = 1 << 16
"""So many bytes that are no message are kept of an end."""


class Line(Struct, frozen=True):
    """What one end (CLIENT or HOUSE) has said: a message, or a Violation where it is none, and its bytes.

    White space that stands before a message belongs to it. `at` is a time in s.
    """

    side: Peer
    data: bytes
    message: Any
    at: float


class Fault(Struct, frozen=True):
    """A verdict, and how many lines there were when it fell: the last of them is where it shows."""

    verdict: Verdict
    lines: int


class Conversation:
    """Hears the bytes of both ends in the order in which they were on the wire, and judges them.

    `own` is what is known of the house's settings or the client's options, None for nothing. It may be chopped in any
    way: every line has just the bytes of its message.
    """

    def __init__(self, room: HouseRoom, own: Any = None, *, strict: bool = False, patience: float = 5.0) -> None:
        self.lines: list[Line] = []
        self.faults: list[Fault] = []
        self.referee: Watch[Any, Any] = room.referee(own, strict, patience)
        self._ears = {side: room.codec(strict, own) for side in (CLIENT, HOUSE)}
        self._rest = {side: bytearray() for side in (CLIENT, HOUSE)}

    @property
    def alarm(self) -> float | None:
        """When a silence of the house becomes a fault; None while it owes nothing."""
        return self.referee.alarm

    def heard(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes: the faults that they show."""
        before = len(self.faults)
        rest = self._rest[side]
        for byte in data:
            if len(rest) < MOST:
                rest.append(byte)
            for message in self._ears[side].feed(bytes((byte,))):
                self.lines.append(Line(side, bytes(rest), message, now))
                rest.clear()
                self._judge(Garbled(side, message) if type(message) is Violation else Said(side, message), now)
        return self.faults[before:]

    def left(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end has closed the connection."""
        return self._judge(Left(side), now)

    def rang(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        return self._judge(Rang(), now)

    def rest(self, side: Peer) -> bytes:
        """What one end has sent behind its last message; the first 64 KiB of it are kept."""
        return bytes(self._rest[side])

    def departures(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._ears[side].departures

    def _judge(self, event: Event[Any], now: float) -> Sequence[Fault]:
        found = [Fault(verdict, len(self.lines)) for verdict in self.referee.on(event, now)]
        self.faults += found
        return found
