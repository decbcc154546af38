"""Bytes to messages and back, without ever waiting."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from typing import ClassVar, Protocol

from croupier.core.errors import Violation


class Codec[In, Out](Protocol):
    """One end of one wire. Each message's parse stands beside its render, and the round trip is a law.

    `feed` answers all that the bytes so far complete. After a violation that is `lost` it answers nothing any more.
    What it has to keep between two calls is bounded. `departures` names the clauses whose tolerance the peer has
    needed.
    """

    @property
    def tolerated(self) -> Set[str]: ...  # noqa: D102 -- told above

    def feed(self, data: bytes) -> Sequence[In | Violation]: ...  # noqa: D102 -- told above

    def encode(self, message: Out) -> bytes: ...  # noqa: D102 -- told above


type ParseResult[M] = tuple[M | Violation | None, int]
"""A message and its length in bytes, or None while it is incomplete."""


class StreamCodec[M](ABC):
    """A codec whose messages follow each other with nothing in between. See `Codec`; a room says how one is read.

    `whole` has what a read says that is exactly one message, as nearly all of them are. No message, and nothing that
    shows that there is none, is longer than `LONGEST` bytes. `BETWEEN` is the clause that tolerates white space between
    messages, if any does.
    """

    MAX_FRAME_BYTES: ClassVar[int]
    WHITESPACE_CLAUSE: ClassVar[str] = ""

    __slots__ = ("_buffer", "_canonical", "_is_fatal", "_strict", "tolerated")

    def __init__(self, canonical: Mapping[bytes, Sequence[M]], *, strict: bool = False) -> None:
        self.tolerated: frozenset[str] = frozenset()  # shared by all that need no tolerance: most connections
        self._canonical = canonical
        self._strict = strict
        self._buffer = b""
        self._is_fatal = False

    def feed(self, data: bytes) -> Sequence[M | Violation]:
        """All messages that are complete with these bytes; what is left over is shorter than one message."""
        if not self._buffer:
            whole = self._canonical.get(data)
            if whole is not None:
                return whole
        return self._parse_messages(self._buffer + data)

    @abstractmethod
    def _read(self, data: bytes) -> ParseResult[M]:
        """Read the message that the data begins with."""

    def _parse_messages(self, data: bytes) -> Sequence[M | Violation]:
        found: list[M | Violation] = []
        at = 0
        while at < len(data) and not self._is_fatal:
            if self.WHITESPACE_CLAUSE and not self._strict and data[at] in b"\r\n ":
                self.tolerated |= {self.WHITESPACE_CLAUSE}
                at += 1
                continue
            item, length = self._read(data[at : at + self.MAX_FRAME_BYTES])
            if item is None:
                break
            found.append(item)
            at += length
            self._is_fatal = type(item) is Violation and item.fatal
        # Once lost, something is left over for ever, so that no later read is taken for a whole message.
        self._buffer = b"?" if self._is_fatal else data[at:]
        return found


def printable_bytes(data: bytes) -> str:
    """Bytes that are no message, for people."""
    return repr(data.decode("latin-1"))
