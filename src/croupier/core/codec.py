"""Codecs: incremental parsers and encoders of a protocol's messages, without I/O."""

from collections.abc import Sequence, Set
from typing import Final, Protocol

from croupier.core.errors import Violation

MAX_SHOWN_BYTES: Final = 32
"""What `printable_start` shows of bytes that may be many."""


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


class SpanCodec[In, Out](Codec[In, Out], Protocol):
    """A codec that also knows where messages end, for observers that show the bytes of each message.

    `feed_with_ends` does the same as `feed`, and returns each message with the offset in `data` at which it ends. The
    bytes of a message begin where the one before ended, so white space before a message belongs to it.
    """

    def feed_with_ends(self, data: bytes) -> Sequence[tuple[In | Violation, int]]: ...  # noqa: D102 -- see the class


class RawCodec:
    """A codec for raw bytes: every chunk is one message."""

    tolerated: frozenset[str] = frozenset()

    def feed(self, data: bytes) -> Sequence[bytes]:
        """Return the data as one message."""
        return (data,)

    def encode(self, message: bytes) -> bytes:
        """Return the bytes unchanged."""
        return message


def printable_bytes(data: bytes) -> str:
    """The repr of bytes that are not a message, read as Latin-1, for error messages.

    >>> printable_bytes(b"STRT\\x00")
    "'STRT\\\\x00'"
    """
    return repr(data.decode("latin-1"))


def printable_start(data: bytes) -> str:
    """The first line of bytes that may be many, or its beginning, as `printable_bytes` shows it.

    >>> printable_start(b"Welcome!\\r\\nType STRT")
    "'Welcome!'"
    """
    return printable_bytes(data.lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")[:MAX_SHOWN_BYTES])
