"""Reads the messages of one connection end, by the dialect of its program if it has one."""

from collections import deque
from collections.abc import Iterator, Sequence

from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.core.errors import Violation
from croupier.core.spans import Span, SpanReader
from croupier.rooms.oldmaid.wire import Dialect, Message, Reply, Standing, Wire, WireRole


def with_line_ends(data: bytes, spans: Sequence[Span[Message]]) -> bytes:
    """Return data with a line end after each message, unless there is one: some programs refuse an empty line."""
    for end in reversed([span.end for span in spans]):
        if not data[end:].lstrip(b" \t\r").startswith(b"\n"):
            data = data[:end] + b"\n" + data[end:]
    return data


class MessageReader:
    """Reads messages for a table or a player, by the detected dialect if there is one."""

    def __init__(
        self, side: WireRole, dialect: Dialect = "document", detected_dialect: JsonDialect | None = None
    ) -> None:
        self._side: WireRole = side
        self._wire = Wire(side, dialect=dialect)
        self._detected_dialect = detected_dialect
        self._spans: SpanReader[Message] = SpanReader(self._wire if detected_dialect is None else Wire(side))
        self._requests: deque[Message | None] = deque()
        self._before = b""

    @property
    def incomplete(self) -> bytes:
        """The bytes of an incomplete message; none if they are no message in the dialect."""
        rest, dialect = self._spans.incomplete, self._detected_dialect
        return b"" if dialect is not None and not dialect.read(rest, None) else rest

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
        dialect = self._detected_dialect
        if dialect is None:
            return [ReceivedMessage(span.data, span.message, span.data) for span in self._spans.feed(data)]
        return [message for span in self._read_spans(data) for message in self._interpret(span.data, dialect)]

    def _read_spans(self, data: bytes) -> Iterator[Span[Message]]:
        """Yield what may be messages. What cannot be read may be a message in the dialect, so reading starts anew."""
        while data:
            rest = b""
            for span in self._spans.feed(data):
                yield span
                if isinstance(span.message, Violation) and span.message.fatal:
                    self._spans = SpanReader(Wire(self._side))
                    rest = data[span.end :]
                    break
            data = rest

    def _interpret(self, frame: bytes, dialect: JsonDialect) -> list[ReceivedMessage]:
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
