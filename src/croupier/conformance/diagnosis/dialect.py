"""Dialects: systematic departures from the spelling of a protocol, and codecs that read them.

A `DialectReader` reads a stream of messages that all depart from the protocol in the same manner, and returns them as
the protocol spells them. The dialects of each room are in `layouts.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from croupier.conformance.conversation import MESSAGE_SECTION
from croupier.conformance.diagnosis.cause import CONJUNCTION
from croupier.core.codec import printable_start

MAX_UNREAD_BYTES: Final = 1 << 12
"""At most this many bytes of an incomplete message are held back."""

type Normalizer = Callable[[bytes], bytes]
"""Turns bytes of a dialect into those of the protocol. Raises NotInDialectError."""


class NotInDialectError(Exception):
    """These bytes are not spelled in this dialect."""


class FieldPattern:
    """A field of a message: its possible spellings, and its normal form.

    Each alternative is a sequence of regular expressions, so that an incomplete field differs from a wrong one;
    `partial` matches further beginnings. Matching ignores case unless `is_case_sensitive`.
    """

    def __init__(
        self,
        *alternatives: Sequence[bytes],
        normalize: Normalizer = bytes,
        partial: bytes = b"",
        is_case_sensitive: bool = False,
    ) -> None:
        flags = re.DOTALL | (0 if is_case_sensitive else re.IGNORECASE)
        self._whole = re.compile(b"|".join(b"".join(alternative) for alternative in alternatives), flags)
        self._partial = re.compile(b"(?:%s)\\Z" % b"|".join([partial, *map(_proper_prefixes, alternatives)]), flags)
        self._alternatives = alternatives
        self._normalize = normalize

    def widened(self, high: bytes, low: bytes) -> "FieldPattern":
        """The field with two bytes for each letter: `high` before it, or `low` after it."""
        return FieldPattern(
            *(
                tuple(byte for letter in letters for byte in (high, letter, low) if byte)
                for letters in self._alternatives
            ),
            normalize=lambda data: self._normalize(data.replace(b"\0", b"")),
        )

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """Return the normal form of the field at `at` and its end; None if incomplete. Raises NotInDialectError."""
        whole, begun = self._whole.match(data, at), self._partial.match(data, at)
        if begun and not (whole and whole.end() == begun.end()):
            return None
        if whole:
            return self._normalize(whole[0]), whole.end()
        raise NotInDialectError


def _proper_prefixes(alternative: Sequence[bytes]) -> bytes:
    """A pattern for every proper beginning of an alternative."""
    found = b""
    for piece in reversed(alternative[:-1]):
        found = b"(?:%s%s)?" % (piece, found)
    return found


class EitherPattern(FieldPattern):
    """A field that matches one of several patterns."""

    def __init__(self, *patterns: FieldPattern) -> None:
        super().__init__(())
        self._patterns = patterns

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """See `FieldPattern.read`; the first pattern that matches completely wins."""
        begun = False
        for part in self._patterns:
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
    """A field that is one of these words, each with its normal form; the longest match wins."""
    alternatives = [tuple(re.escape(bytes((c,))) for c in word) for word in sorted(words, key=len, reverse=True)]
    known = words if is_case_sensitive else {word.upper(): meant for word, meant in words.items()}
    return FieldPattern(
        *alternatives,
        normalize=lambda data: known[data if is_case_sensitive else data.upper()],
        is_case_sensitive=is_case_sensitive,
    )


CODE_FIELD: Final = "code"
"""The name of the field that every message begins with."""

type MessageFields = Mapping[bytes, Sequence[str]]
"""The messages of a protocol: the names of the fields after each code."""


@dataclass(frozen=True, eq=False)
class Dialect:
    """A spelling of all messages of a room that departs from the protocol.

    `description` completes a sentence that begins with "it": `puts quotes around its arguments`. `protocol_fields` are
    the fields as the protocol spells them, CODE_FIELD among them; `changed_fields` replace some of them; `prefix` and
    `suffix` surround every message, and `greeting` comes before the first one. `section` is the number of the clause
    from which it departs. A dialect that is not `is_consistent` explains a single message, but a stream cannot be read
    in it: a number without its sign may be either. `option` is the name that the room has for the dialect
    (`--dialect`), empty if it has none. `combined` are the dialects that were added to each other, empty if there are
    none.
    """

    description: str
    layout: MessageFields
    protocol_fields: Mapping[str, FieldPattern]
    changed_fields: Mapping[str, FieldPattern]
    prefix: FieldPattern | None = None
    suffix: FieldPattern | None = None
    greeting: bytes = b""
    section: str = MESSAGE_SECTION
    is_consistent: bool = True
    option: str = ""
    combined: tuple["Dialect", ...] = ()

    @property
    def parts(self) -> tuple["Dialect", ...]:
        """The dialects that were added to each other; the dialect itself if there are none."""
        return self.combined or (self,)

    def read(self, data: bytes) -> tuple[bytes, int] | None:
        """Return the first message, as the protocol spells it, and its length; None if it is incomplete.

        Raises NotInDialectError if the data is not spelled in this dialect.
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
        """Combine two dialects. A field that both change may be spelled as in either of them."""
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
            other.greeting or self.greeting,
            self.section,
            self.is_consistent and other.is_consistent,
            combined=(*self.parts, *other.parts),
        )


def greets_with(greeting: bytes) -> str:
    """The description of the dialect of a program that sends this greeting."""
    return f"greets every client with {printable_start(greeting)} before the client has sent anything"


def greeting_end(greeting: bytes, data: bytes) -> int | None:
    """Where a greeting ends at the beginning of the data, 0 if there is none, None if the data is incomplete.

    Its numbers may differ: a server may count its clients.

    >>> [greeting_end(b"Client 9:", data) for data in (b"Client 10:CARD", b"CARD", b"Cli")]
    [10, 0, None]
    """
    if found := re.match(re.sub(rb"\d+", rb"\\d+", re.escape(greeting)), data):
        return found.end()
    return None if without_digits(greeting).startswith(without_digits(data)) else 0


def without_digits(data: bytes) -> bytes:
    """The data without its digits."""
    return data.translate(None, b"0123456789")


class DialectReader:
    """Reads the stream of one end in a dialect and returns it as the protocol spells it.

    A number in digits ends with the chunk that it comes in, since nothing else may follow. A message that is spelled as
    in the protocol, and data that is neither in the dialect nor a message, are passed on unchanged, and `has_failed` is
    set. `message_count` messages of the dialect have been read.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.has_failed = False
        self.message_count = 0
        self._dialect = dialect
        self._protocol = Dialect("", dialect.layout, dialect.protocol_fields, {})
        self._awaits_greeting = bool(dialect.greeting)
        self._rest = b""

    @property
    def unread(self) -> bytes:
        """The beginning of an incomplete message."""
        return self._rest

    def feed(self, data: bytes) -> bytes:
        """Process data; return the messages that it completes."""
        rest, found = self._rest + data, b""
        if self._awaits_greeting:
            end = greeting_end(self._dialect.greeting, rest)
            if end is None:
                self._rest = rest
                return b""
            self._awaits_greeting = False
            rest = rest[end:]
        while rest:
            try:
                if self.message_count:
                    rest = self._skip_suffix(rest)
                reading = self._dialect.read(rest) if rest else None
                self.message_count += reading is not None
            except NotInDialectError:
                self.has_failed = True
                try:
                    reading = self._protocol.read(rest)
                    reading = None if reading is None else (rest[: reading[1]], reading[1])
                except NotInDialectError:
                    self._rest = b""
                    return found + rest
            if reading is None:
                break
            message, length = reading
            found += message
            rest = rest[length:]
        self._rest = rest if len(rest) < MAX_UNREAD_BYTES else b""
        return found if len(rest) < MAX_UNREAD_BYTES else found + rest

    def _skip_suffix(self, data: bytes) -> bytes:
        """Return the data after the suffix of a message."""
        suffix = self._dialect.suffix
        if suffix is None:
            return data
        try:
            found = suffix.read(data, 0)
        except NotInDialectError:
            return data
        return data if found is None else data[found[1] :]


class DialectCodec:
    """A codec for raw bytes; received bytes are read in a dialect if one is given."""

    tolerated: Set[str] = frozenset()

    def __init__(self, dialect: Dialect | None = None) -> None:
        self._reader = None if dialect is None else DialectReader(dialect)

    def feed(self, data: bytes) -> Sequence[bytes]:
        """Return the data as one message."""
        if self._reader is not None:
            data = self._reader.feed(data)
        return (data,) if data else ()

    def encode(self, message: bytes) -> bytes:
        """Return the bytes unchanged."""
        return message
