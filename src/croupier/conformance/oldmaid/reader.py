"""What comes of one end of a connection, as messages, each with the bytes that are its own."""

from collections import deque

from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import Dialect, Message, Reply, Standing, Wire, WireRole


class MessageReader:
    """Takes the bytes of one end apart into messages for a table or a player, and reads them by a spelling if any.

    `rest` is what has come of a message that is not complete.
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
        """That end is asked something: what it means may depend on that."""
        if self._detected_dialect is not None:
            self._requests.append(None if isinstance(request, Violation) else request)

    def feed(self, data: bytes) -> list[ReceivedMessage]:
        """The messages that are complete with these bytes."""
        found = []
        for byte in data:
            self.incomplete.append(byte)
            for message in self._frames.feed(bytes((byte,))):
                # A bracket that opens ends what has stood before it, and belongs to the next message.
                end = len(self.incomplete) - (len(self.incomplete) > 1 and byte in b"{[")
                said = bytes(self.incomplete[:end])
                del self.incomplete[:end]
                if self._detected_dialect is None:
                    found.append(ReceivedMessage(said, message, said))
                    continue
                found += self._read(said, self._detected_dialect)
                if isinstance(message, Violation) and message.fatal:  # it may be right as it is meant
                    self._frames = Wire(self._side)
                    self._frames.feed(bytes(self.incomplete))
        return found

    def _read(self, said: bytes, dialect: JsonDialect) -> list[ReceivedMessage]:
        """What was said, as it is meant; nothing where there is no message in it."""
        meant = dialect.read(said, self._requests[0] if self._requests else None)
        said, self._before = self._before + said, b""
        if not meant:
            self._before = said
            return []
        found = [ReceivedMessage(said, message, meant) for message in self._wire.feed(meant + b"\n")]
        if self._requests and any(isinstance(heard.message, Reply | Standing) for heard in found):
            self._requests.popleft()
        return found
