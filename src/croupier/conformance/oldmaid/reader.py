"""Splits the bytes of one connection end into messages, each with its own bytes."""

from collections import deque

from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import Dialect, Message, Reply, Standing, Wire, WireRole


class MessageReader:
    """Splits the bytes of one end into messages for a table or a player, read by a dialect if there is one.

    `incomplete` are the bytes of an incomplete message.
    """

    def __init__(
        self, side: WireRole, dialect: Dialect = "document", detected_dialect: JsonDialect | None = None
    ) -> None:
        self.incomplete = bytearray()
        self._requests: deque[Message | None] = deque()
        self._side: WireRole = side
        self._wire = Wire(side, dialect=dialect)
        self._detected_dialect = detected_dialect
        self._frames = self._wire if detected_dialect is None else Wire(side)
        self._before = b""

    @property
    def tolerated(self) -> frozenset[str]:
        """The clauses whose tolerance this end has needed."""
        return self._wire.tolerated

    def expect_answer(self, request: Message | Violation) -> None:
        """Record a request to that end, since the dialect of its answer may depend on it."""
        if self._detected_dialect is not None:
            self._requests.append(None if isinstance(request, Violation) else request)

    def feed(self, data: bytes) -> list[ReceivedMessage]:
        """Return the messages that these bytes complete."""
        found = []
        for byte in data:
            self.incomplete.append(byte)
            for message in self._frames.feed(bytes((byte,))):
                # An opening bracket ends what precedes it, and belongs to the next message.
                end = len(self.incomplete) - (len(self.incomplete) > 1 and byte in b"{[")
                frame = bytes(self.incomplete[:end])
                del self.incomplete[:end]
                if self._detected_dialect is None:
                    found.append(ReceivedMessage(frame, message, frame))
                    continue
                found += self._read(frame, self._detected_dialect)
                if isinstance(message, Violation) and message.fatal:  # it may be valid once the dialect is undone
                    self._frames = Wire(self._side)
                    self._frames.feed(bytes(self.incomplete))
        return found

    def _read(self, frame: bytes, dialect: JsonDialect) -> list[ReceivedMessage]:
        """Read one message by the dialect; return nothing if it contains no message."""
        interpreted = dialect.read(frame, self._requests[0] if self._requests else None)
        frame, self._before = self._before + frame, b""
        if not interpreted:
            self._before = frame
            return []
        found = [ReceivedMessage(frame, message, interpreted) for message in self._wire.feed(interpreted + b"\n")]
        if self._requests and any(isinstance(message.message, Reply | Standing) for message in found):
            self._requests.popleft()
        return found
