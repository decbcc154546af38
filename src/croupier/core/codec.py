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
    def departures(self) -> Set[str]: ...  # noqa: D102 -- told above

    def feed(self, data: bytes) -> Sequence[In | Violation]: ...  # noqa: D102 -- told above

    def encode(self, message: Out) -> bytes: ...  # noqa: D102 -- told above


type Reading[M] = tuple[M | Violation | None, int]
"""A message and its length in bytes, or None while it is incomplete."""


class Stream[M](ABC):
    """A codec whose messages follow each other with nothing in between. See `Codec`; a room says how one is read.

    `whole` has what a read says that is exactly one message, as nearly all of them are. No message, and nothing that
    shows that there is none, is longer than `LONGEST` bytes. `BETWEEN` is the clause that tolerates white space between
    messages, if any does.
    """

    LONGEST: ClassVar[int]
    BETWEEN: ClassVar[str] = ""

    __slots__ = ("_lost", "_rest", "_strict", "_whole", "departures")

    def __init__(self, whole: Mapping[bytes, Sequence[M]], *, strict: bool = False) -> None:
        self.departures: frozenset[str] = frozenset()  # shared by all that need no tolerance: most connections
        self._whole = whole
        self._strict = strict
        self._rest = b""
        self._lost = False

    def feed(self, data: bytes) -> Sequence[M | Violation]:
        """All messages that are complete with these bytes; what is left over is shorter than one message."""
        if not self._rest:
            whole = self._whole.get(data)
            if whole is not None:
                return whole
        return self._parse(self._rest + data)

    @abstractmethod
    def _read(self, data: bytes) -> Reading[M]:
        """Read the message that the data begins with."""

    def _parse(self, data: bytes) -> Sequence[M | Violation]:
        found: list[M | Violation] = []
        at = 0
        while at < len(data) and not self._lost:
            if self.BETWEEN and not self._strict and data[at] in b"\r\n ":
                self.departures |= {self.BETWEEN}
                at += 1
                continue
            item, length = self._read(data[at : at + self.LONGEST])
            if item is None:
                break
            found.append(item)
            at += length
            self._lost = type(item) is Violation and item.lost
        # Once lost, something is left over for ever, so that no later read is taken for a whole message.
        self._rest = b"?" if self._lost else data[at:]
        return found


def text(data: bytes) -> str:
    """Bytes that are no message, for people."""
    return repr(data.decode("latin-1"))
