"""Ways in which programs spell a protocol otherwise, all along: found once, named, and read as what they mean.

A spelling reads a stream of messages that all depart from the protocol in the same way, and hands on what they are in
the protocol. Which spellings a room knows stands in `spellings.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

MAX_UNREAD_BYTES: Final = 1 << 12
"""So many bytes of a message that is not complete are held back."""

type Normalizer = Callable[[bytes], bytes]
"""Bytes as they came in, bytes as the protocol has them out. Raises Unlike."""


class NotInDialectError(Exception):
    """These bytes are not spelt in this way."""


class FieldPattern:
    """A part of a message: the ways in which it can be spelt, and what it is in the protocol.

    A way is a row of regular expressions, so that what has just begun can be told from what is something else; `begun`
    matches what else may be a beginning. `cases`: lower case letters are other letters.
    """

    def __init__(
        self,
        *alternatives: Sequence[bytes],
        normalize: Normalizer = bytes,
        partial: bytes = b"",
        is_case_sensitive: bool = False,
    ) -> None:
        flags = re.DOTALL | (0 if is_case_sensitive else re.IGNORECASE)
        self._whole = re.compile(b"|".join(b"".join(way) for way in alternatives), flags)
        self._begun = re.compile(b"(?:%s)\\Z" % b"|".join([partial, *map(_begun, alternatives)]), flags)
        self._mend = normalize

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """What stands there, in the protocol, and where it ends; None while it is incomplete. Raises Unlike."""
        whole, begun = self._whole.match(data, at), self._begun.match(data, at)
        if begun and not (whole and whole.end() == begun.end()):
            return None
        if whole:
            return self._mend(whole[0]), whole.end()
        raise NotInDialectError


def _begun(way: Sequence[bytes]) -> bytes:
    """What matches every beginning of a way that is not all of it."""
    found = b""
    for piece in reversed(way[:-1]):
        found = b"(?:%s%s)?" % (piece, found)
    return found


class EitherPattern(FieldPattern):
    """A part that is spelt in one way or in another."""

    def __init__(self, *patterns: FieldPattern) -> None:
        super().__init__(())
        self._parts = patterns

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """As in `Part`; the first way in which it is complete counts."""
        begun = False
        for part in self._parts:
            try:
                found = part.read(data, at)
            except NotInDialectError:
                continue
            if found is not None:
                return found
            begun = True
        if begun:
            return None
        raise NotInDialectError


def one_of(words: Mapping[bytes, bytes], *, is_case_sensitive: bool = False) -> FieldPattern:
    """A part that is one of these words, each with what it is in the protocol; the longest that fits counts."""
    ways = [tuple(re.escape(bytes((c,))) for c in word) for word in sorted(words, key=len, reverse=True)]
    known = words if is_case_sensitive else {word.upper(): meant for word, meant in words.items()}
    return FieldPattern(
        *ways,
        normalize=lambda data: known[data if is_case_sensitive else data.upper()],
        is_case_sensitive=is_case_sensitive,
    )


CODE_FIELD: Final = "code"
"""The name of the part that every message begins with."""

CONJUNCTION: Final = ", and it "
"""Stands between two spellings in a sentence."""

type MessageFields = Mapping[bytes, Sequence[str]]
"""The messages of a protocol: every code with the names of the parts behind it."""


@dataclass(frozen=True)
class Dialect:
    """A way to spell all messages of a room.

    `told` says it in words behind "it": `puts quotes around its arguments`. `plain` has the parts of messages as they
    are in the protocol, CODE among them, and `parts` those that are spelt otherwise; `before` and `behind` stand around
    every message. One that is not `throughout` explains a single message, but nothing can be read by it: a number
    without its sign may be either.
    """

    description: str
    layout: MessageFields
    protocol_fields: Mapping[str, FieldPattern]
    changed_fields: Mapping[str, FieldPattern]
    prefix: FieldPattern | None = None
    suffix: FieldPattern | None = None
    is_consistent: bool = True

    def read(self, data: bytes) -> tuple[bytes, int] | None:
        """The message that the data begins with, as the protocol has it, and its length; None while it is incomplete.

        Raises Unlike when it is not spelt in this way.
        """
        at = 0
        if self.prefix is not None:
            if (found := self.prefix.read(data, at)) is None:
                return None
            at = found[1]
        if (found := self._part(CODE_FIELD).read(data, at)) is None:
            return None
        message, at = found
        for name in self.layout[message]:
            if (found := self._part(name).read(data, at)) is None:
                return None
            piece, at = found
            message += piece
        return message, at

    def _part(self, name: str) -> FieldPattern:
        return self.changed_fields.get(name) or self.protocol_fields[name]

    def __add__(self, other: "Dialect") -> "Dialect":
        """Both at the same time. What both spell otherwise may be spelt in either way."""
        both = {
            name: EitherPattern(part, self.changed_fields[name])
            for name, part in other.changed_fields.items()
            if name in self.changed_fields
        }
        return Dialect(
            f"{self.description}{CONJUNCTION}{other.description}",
            self.layout,
            self.protocol_fields,
            {**self.changed_fields, **other.changed_fields, **both},
            other.prefix or self.prefix,
            other.suffix or self.suffix,
            self.is_consistent and other.is_consistent,
        )


class DialectReader:
    """Reads what one end sends by its spelling, as it comes, and hands it on as the protocol has it.

    A number in digits ends with the bytes that have come together, for nothing else may follow. What is not spelt in
    this way is handed on as it came, and then `strange` is true.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.has_failed = False
        self._spelling = dialect
        self._rest = b""
        self._begun = False

    @property
    def unread(self) -> bytes:
        """What has come of a message that is not complete."""
        return self._rest

    def feed(self, data: bytes) -> bytes:
        """More bytes: what they complete."""
        rest, found = self._rest + data, b""
        while rest:
            try:
                if self._begun:
                    rest = self._skipped(rest)
                reading = self._spelling.read(rest) if rest else None
            except NotInDialectError:
                self.has_failed = True
                self._rest = b""
                return found + rest
            if reading is None:
                break
            message, length = reading
            found += message
            rest = rest[length:]
            self._begun = True
        self._rest = rest if len(rest) < MAX_UNREAD_BYTES else b""
        return found if len(rest) < MAX_UNREAD_BYTES else found + rest

    def _skipped(self, data: bytes) -> bytes:
        """What follows behind the end of a message."""
        behind = self._spelling.suffix
        if behind is None:
            return data
        try:
            found = behind.read(data, 0)
        except NotInDialectError:
            return data
        return data if found is None else data[found[1] :]


class DialectCodec:
    """The codec of a wire on which every byte counts, with what is heard read by a spelling if there is one."""

    tolerated: Set[str] = frozenset()

    def __init__(self, dialect: Dialect | None = None) -> None:
        self._translation = None if dialect is None else DialectReader(dialect)

    def feed(self, data: bytes) -> Sequence[bytes]:
        """What has come, as one message."""
        if self._translation is not None:
            data = self._translation.feed(data)
        return (data,) if data else ()

    def encode(self, message: bytes) -> bytes:
        """What is said, as it is."""
        return message


def dialect_from_cause(cause: str, known: Sequence[Dialect]) -> Dialect | None:
    """The spelling that a cause has named (`it ends its messages with a NUL`), if it is all that it says.

    None where it is another cause, or one that holds for single messages only.
    """
    words = {spelling.description: spelling for spelling in known if spelling.is_consistent}
    found = [words.get(part) for part in cause.removeprefix("it ").split(CONJUNCTION)]
    spellings = [spelling for spelling in found if spelling is not None]
    return reduce(add, spellings) if len(spellings) == len(found) else None
