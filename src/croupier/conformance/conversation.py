"""A conversation of a client with a house as the wire shows it: every byte of both ends, and what was wrong with it."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Any, Final

from msgspec import Struct

from croupier.core.client_session import ClientReferee
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Event, Left, Malformed, Peer, Received, TimedOut

MAX_UNREAD_BYTES: Final = 1 << 16
"""So many bytes that are no message are kept of an end."""


class DialogueLine(Struct, frozen=True):
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
    line_count: int


class Conversation:
    """Hears the bytes of both ends in the order in which they were on the wire, and judges them.

    `own` is what is known of the house's settings or the client's options, None for nothing. It may be chopped in any
    way: every line has just the bytes of its message. `lines` and `faults` are those since `forget`; `count` is how
    many lines there were in all, and `broken` how often a side has broken a clause, in the order of the first time.
    """

    def __init__(
        self, room: HouseRoom, known_options: Any = None, *, strict: bool = False, answer_timeout: float = 5.0
    ) -> None:
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.line_count = 0
        self.violation_counts: Counter[tuple[Peer, str]] = Counter()
        self.referee: ClientReferee[Any, Any] = room.referee(known_options, strict, answer_timeout)
        self._codec = partial(room.codec, strict, known_options)
        self._codecs = {side: self._codec() for side in (CLIENT, HOUSE)}
        self._rest = {side: bytearray() for side in (CLIENT, HOUSE)}
        self._client_input_ended = False

    @property
    def games(self) -> int:
        """How many games were finished."""
        return self.referee.finished_count

    @property
    def deadline(self) -> float | None:
        """When a silence of the house becomes a fault; None while it owes nothing, or the client has ceased."""
        return None if self._client_input_ended else self.referee.deadline

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes: the faults that they show."""
        before = len(self.faults)
        for piece, message in self._read(side, data):
            if self._client_input_ended and self.referee.deadline is None:
                self.on_disconnect(CLIENT, now)
            self.lines.append(DialogueLine(side, piece, message, now))
            self.line_count += 1
            self._judge(Malformed(side, message) if type(message) is Violation else Received(side, message), now)
        return self.faults[before:]

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more. A client that still listens is heard to the end of what is owed to it."""
        self._client_input_ended = self._client_input_ended or side == CLIENT
        return self.on_disconnect(HOUSE, now) if side == HOUSE else ()

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end has closed the connection."""
        if self._client_input_ended:
            self.referee.on(Left(CLIENT), now)
        return self._judge(Left(side), now)

    def forget(self) -> None:
        """Let go of the lines and faults that there are; they stay counted."""
        self.lines.clear()
        self.faults.clear()

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        return self._judge(TimedOut(), now)

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent behind its last message; the first 64 KiB of it are kept."""
        return bytes(self._rest[side])

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._codecs[side].tolerated

    def _read(self, side: Peer, data: bytes) -> Iterator[tuple[bytes, Any]]:
        """Every message that is complete with these bytes, behind its own bytes; what is left over is kept."""
        ear, rest = self._codecs[side], self._rest[side]
        if not rest:
            messages = ear.feed(data)
            pieces = [b"" if type(message) is Violation else ear.encode(message) for message in messages]
            if messages and b"".join(pieces) == data:  # as they are spelt nearly always
                yield from zip(pieces, messages, strict=True)
                return
            if not messages:
                rest += data[:MAX_UNREAD_BYTES]
                return
            ear = self._codec()  # nothing is begun: another one reads the same, and shows where a message ends
        for byte in data:
            if len(rest) < MAX_UNREAD_BYTES:
                rest.append(byte)
            for message in ear.feed(bytes((byte,))):
                piece = bytes(rest)
                rest.clear()
                yield piece, message

    def _judge(self, event: Event[Any], now: float) -> Sequence[Fault]:
        found = [Fault(verdict, self.line_count) for verdict in self.referee.on(event, now)]
        self.faults += found
        self.violation_counts.update((fault.verdict.end, fault.verdict.violation.clause) for fault in found)
        return found
