"""Reads the messages of one end of a connection, each with exactly its own bytes."""

from collections.abc import Iterator, Set
from typing import Any, Final, NamedTuple

from croupier.core.codec import SpanCodec
from croupier.core.errors import Violation

MAX_INCOMPLETE_BYTES: Final = 1 << 16
"""Bytes kept per end that do not make up a message."""


class Span[M](NamedTuple):
    """A message, or a Violation, with its bytes; white space before a message belongs to it.

    `end` is the offset of its end in the data with which it became complete.
    """

    data: bytes
    message: M | Violation
    end: int


class SpanReader[M]:
    """Reads messages with a codec; see `SpanCodec`. A span is the same for every chunking of the stream."""

    def __init__(self, codec: SpanCodec[M, Any]) -> None:
        self.is_stopped = False
        self._codec = codec
        self._incomplete = bytearray()

    @property
    def incomplete(self) -> bytes:
        """The bytes after the last message, at most the first MAX_INCOMPLETE_BYTES of them."""
        return bytes(self._incomplete)

    @property
    def tolerated(self) -> Set[str]:
        """The clauses whose tolerance this end has needed."""
        return self._codec.tolerated

    def feed(self, data: bytes) -> Iterator[Span[M]]:
        """Yield the messages that these bytes complete."""
        start = 0
        for message, end in () if self.is_stopped else self._codec.feed_with_ends(data):
            span = bytes(self._incomplete) + data[start:end]
            self._incomplete.clear()
            start = end
            yield Span(span, message, end)
        self._incomplete += data[start : start + MAX_INCOMPLETE_BYTES - len(self._incomplete)]

    def stop(self) -> bytes:
        """Read nothing any more, and return the incomplete bytes; those that follow are kept in their place."""
        self.is_stopped = True
        rest = self.incomplete
        self._incomplete.clear()
        return rest
