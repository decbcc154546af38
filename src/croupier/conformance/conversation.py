"""One conversation of a client with a house: the messages of both ends, and the verdicts on them."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Any, Final

from msgspec import Struct

from croupier.core.client_session import ClientReferee
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, OTHER_END, Disconnected, Observation, Party, Sent, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Peer, TimedOut

MAX_UNREAD_BYTES: Final = 1 << 16
"""Bytes kept per end that do not make up a message."""


class DialogueLine(Struct, frozen=True):
    """A message of one end (CLIENT or HOUSE) with its bytes, or a Violation if the bytes are not a message.

    White space before a message belongs to it. `at` is a time in seconds.
    """

    side: Peer
    data: bytes
    message: Any
    at: float


class Fault(Struct, frozen=True):
    """A verdict, and the number of lines when it was passed: the last of them shows the fault."""

    verdict: Verdict
    line_count: int


class Conversation:
    """Decodes the bytes of both ends in the order in which they were on the wire, and judges them.

    `known_options` is what is known of the house's settings or the client's options, None for nothing. Bytes may arrive
    in chunks of any size: every line still holds exactly the bytes of its message. `lines` and `faults` cover the time
    since `forget`; `line_count` counts all lines, and `violation_counts` how often each side broke each clause, in the
    order of the first violation.
    """

    def __init__(
        self, room: HouseRoom, known_options: Any = None, *, strict: bool = False, answer_timeout: float = 5.0
    ) -> None:
        self.lines: list[DialogueLine] = []
        self.faults: list[Fault] = []
        self.line_count = 0
        self.violation_counts: Counter[tuple[Party, str]] = Counter()
        self.referee: ClientReferee[Any, Any] = room.referee(known_options, strict, answer_timeout)
        self._codec = partial(room.codec, strict, known_options)
        self._codecs = {side: self._codec() for side in (CLIENT, HOUSE)}
        self._rest = {side: bytearray() for side in (CLIENT, HOUSE)}
        self._client_input_ended = False

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.referee.finished_count

    @property
    def deadline(self) -> float | None:
        """When the silence of the house becomes a fault; None while it owes nothing or the client has ended."""
        return None if self._client_input_ended else self.referee.deadline

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end; return the faults that they show."""
        before = len(self.faults)
        for piece, message in self._read(side, data):
            if self._client_input_ended and self.referee.deadline is None:
                self.on_disconnect(CLIENT, now)
            self.lines.append(DialogueLine(side, piece, message, now))
            self.line_count += 1
            self._judge(Sent(side, OTHER_END[side], message), now)
        return self.faults[before:]

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of output of one end. A client that still reads gets everything that it is owed."""
        self._client_input_ended = self._client_input_ended or side == CLIENT
        return self.on_disconnect(HOUSE, now) if side == HOUSE else ()

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process a connection closed by one end."""
        if self._client_input_ended:
            self.referee.on(Disconnected(CLIENT, HOUSE), now)
        return self._judge(Disconnected(side, OTHER_END[side]), now)

    def forget(self) -> None:
        """Drop the lines and faults so far. They stay counted."""
        self.lines.clear()
        self.faults.clear()

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a deadline that has passed."""
        return self._judge(TimedOut(), now)

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent after its last message; the first 64 KiB of it are kept."""
        return bytes(self._rest[side])

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._codecs[side].tolerated

    def _read(self, side: Peer, data: bytes) -> Iterator[tuple[bytes, Any]]:
        """Yield every message that these bytes complete, after its own bytes; keep the rest."""
        codec, rest = self._codecs[side], self._rest[side]
        if not rest:
            messages = codec.feed(data)
            pieces = [b"" if type(message) is Violation else codec.encode(message) for message in messages]
            if messages and b"".join(pieces) == data:  # the canonical spelling, which is the usual case
                yield from zip(pieces, messages, strict=True)
                return
            if not messages:
                rest += data[:MAX_UNREAD_BYTES]
                return
            codec = self._codec()  # nothing is pending: a new codec, fed byte by byte, shows where messages end
        for byte in data:
            if len(rest) < MAX_UNREAD_BYTES:
                rest.append(byte)
            for message in codec.feed(bytes((byte,))):
                piece = bytes(rest)
                rest.clear()
                yield piece, message

    def _judge(self, event: Observation[Any], now: float) -> Sequence[Fault]:
        found = [Fault(verdict, self.line_count) for verdict in self.referee.on(event, now)]
        self.faults += found
        self.violation_counts.update((fault.verdict.party, fault.verdict.violation.clause) for fault in found)
        return found
