"""Codecs: incremental parsers and encoders of a protocol's messages, without I/O."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from typing import ClassVar, Protocol

from croupier.core.errors import Violation


class Codec[In, Out](Protocol):
    """Parses the peer's bytes and encodes our messages, at one end of one connection.

    Decoding an encoded message gives the same message. `feed` returns every message or violation that the bytes so far
    complete; after a fatal violation it returns nothing. The state kept between calls is bounded. `tolerated` has the
    ids of the clauses whose tolerance the peer has used.
    """

    @property
    def tolerated(self) -> Set[str]: ...  # noqa: D102 -- see the class

    def feed(self, data: bytes) -> Sequence[In | Violation]: ...  # noqa: D102 -- see the class

    def encode(self, message: Out) -> bytes: ...  # noqa: D102 -- see the class


type ParseResult[M] = tuple[M | Violation | None, int]
"""A message or violation, None if the data is incomplete, and the number of bytes used."""


class StreamCodec[M](ABC):
    """A codec of messages that follow each other without separators. See `Codec`; a room implements `_read`.

    `canonical` is a fast path: it maps the bytes of a single canonical message to the result of `feed`. `_read` sees at
    most `MAX_FRAME_BYTES` bytes, which always suffice to read one message or to detect a violation. `WHITESPACE_CLAUSE`
    is the clause that tolerates white space between messages, empty if the protocol has none.
    """

    MAX_FRAME_BYTES: ClassVar[int]
    WHITESPACE_CLAUSE: ClassVar[str] = ""

    __slots__ = ("_buffer", "_canonical", "_is_fatal", "_strict", "tolerated")

    def __init__(self, canonical: Mapping[bytes, Sequence[M]], *, strict: bool = False) -> None:
        self.tolerated: frozenset[str] = frozenset()  # one shared object for most connections
        self._canonical = canonical
        self._strict = strict
        self._buffer = b""
        self._is_fatal = False

    def feed(self, data: bytes) -> Sequence[M | Violation]:
        """Every message and violation that these bytes complete; a shorter rest is buffered."""
        if not self._buffer:
            messages = self._canonical.get(data)
            if messages is not None:
                return messages
        return self._parse_messages(self._buffer + data)

    @abstractmethod
    def _read(self, data: bytes) -> ParseResult[M]:
        """Parse the message at the start of the data."""

    def _parse_messages(self, data: bytes) -> Sequence[M | Violation]:
        items: list[M | Violation] = []
        at = 0
        while at < len(data) and not self._is_fatal:
            if self.WHITESPACE_CLAUSE and not self._strict and data[at] in b"\r\n ":
                self.tolerated |= {self.WHITESPACE_CLAUSE}
                at += 1
                continue
            item, length = self._read(data[at : at + self.MAX_FRAME_BYTES])
            if item is None:
                break
            items.append(item)
            at += length
            self._is_fatal = type(item) is Violation and item.fatal
        # After a fatal violation the buffer is never empty, so `feed` does not take the fast path.
        self._buffer = b"?" if self._is_fatal else data[at:]
        return items


def printable_bytes(data: bytes) -> str:
    """The repr of bytes that are not a message, read as Latin-1, for error messages.

    >>> printable_bytes(b"STRT\\x00")
    "'STRT\\\\x00'"
    """
    return repr(data.decode("latin-1"))
