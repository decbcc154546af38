"""What comes of one end of a connection, as messages, each with the bytes that are its own."""

from collections import deque

from croupier.conformance.oldmaid.answers import Heard
from croupier.conformance.oldmaid.dialect import Spelling
from croupier.core.errors import Violation
from croupier.rooms.oldmaid.wire import Dialect, Message, Reply, Side, Standing, Wire


class Ear:
    """Takes the bytes of one end apart into messages for a table or a player, and reads them by a spelling if any.

    `rest` is what has come of a message that is not complete.
    """

    def __init__(self, side: Side, dialect: Dialect = "document", spelling: Spelling | None = None) -> None:
        self.rest = bytearray()
        self._asked: deque[Message | None] = deque()
        self._side: Side = side
        self._wire = Wire(side, dialect=dialect)
        self._spelling = spelling
        self._frames = self._wire if spelling is None else Wire(side)
        self._before = b""

    @property
    def departures(self) -> frozenset[str]:
        """The clauses whose tolerance this end has needed."""
        return self._wire.departures

    def ask(self, request: Message | Violation) -> None:
        """That end is asked something: what it means may depend on that."""
        if self._spelling is not None:
            self._asked.append(None if isinstance(request, Violation) else request)

    def feed(self, data: bytes) -> list[Heard]:
        """The messages that are complete with these bytes."""
        found = []
        for byte in data:
            self.rest.append(byte)
            for message in self._frames.feed(bytes((byte,))):
                # A bracket that opens ends what has stood before it, and belongs to the next message.
                end = len(self.rest) - (len(self.rest) > 1 and byte in b"{[")
                said = bytes(self.rest[:end])
                del self.rest[:end]
                if self._spelling is None:
                    found.append(Heard(said, message, said))
                    continue
                found += self._read(said, self._spelling)
                if isinstance(message, Violation) and message.lost:  # it may be right as it is meant
                    self._frames = Wire(self._side)
                    self._frames.feed(bytes(self.rest))
        return found

    def _read(self, said: bytes, spelling: Spelling) -> list[Heard]:
        """What was said, as it is meant; nothing where there is no message in it."""
        meant = spelling.read(said, self._asked[0] if self._asked else None)
        said, self._before = self._before + said, b""
        if not meant:
            self._before = said
            return []
        found = [Heard(said, message, meant) for message in self._wire.feed(meant + b"\n")]
        if self._asked and any(isinstance(heard.message, Reply | Standing) for heard in found):
            self._asked.popleft()
        return found
