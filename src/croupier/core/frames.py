"""Frames: a codec that parses and renders messages by one description of a protocol's frames.

A frame is a code followed by fields. Where a field ends follows from the bytes before its end, so the length of a frame
is known even if a value in it is invalid, and parsing goes on after it. Bytes from which no length follows make the
rest of the stream unreadable.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct as BinaryStruct
from typing import Any, ClassVar, Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.core.codec import printable_bytes
from croupier.core.errors import Violation

MAX_CACHED_FRAMES: Final = 2048
"""The most frames that a cache keeps; later ones are rendered each time."""


WHITESPACE_PATTERN: Final = re.compile(rb"[\r\n ]+")


class FrameMessage(Struct, frozen=True, gc=False):
    """A message; as text, its code and its fields."""

    def __str__(self) -> str:
        return " ".join([type(self).__name__.upper(), *map(str, astuple(self))])


class UnreadableError(Exception):
    """The end of a frame cannot be relied on.

    Its arguments are the end of the bytes that show this, what was allowed, with `{code}` for the code of the frame,
    and whether this code was read as one.
    """


SPACE_AFTER_CODE: Final = "one space after {code}"


@dataclass(frozen=True)
class Field[V]:
    """A field with a value, in `size` bytes; None if the size varies.

    `parse` returns the value in its bytes, None if they are invalid, and `render` the bytes of a value. `allowed`
    describes the valid values; an invalid one breaks `clause`. `values` are all of them with their bytes, None if they
    are too many to list.
    """

    size: int | None
    parse: Callable[[bytes], V | None]
    render: Callable[[V], bytes]
    allowed: str = ""
    values: Mapping[V, bytes] | None = None
    name: str = ""
    clause: str = ""

    def end(self, data: bytes, at: int) -> int | None:
        """Where the field that starts at `at` ends, None if the data is incomplete. Raises UnreadableError."""
        assert self.size is not None, "a field of varying size has an `end` of its own"
        end = at + self.size
        return end if end <= len(data) else None


BIG_ENDIAN_INT32: Final = BinaryStruct(">i")

INT32: Final[Field[int]] = Field(4, lambda data: BIG_ENDIAN_INT32.unpack(data)[0], BIG_ENDIAN_INT32.pack)
"""A signed integer, the most significant byte first."""


def choice[V](
    values: Mapping[V, bytes], allowed: str = "", normalize: Callable[[bytes], bytes] = bytes, clause: str = ""
) -> Field[V]:
    """A field with one of these values. `normalize` is applied to received bytes, for example to ignore their case."""
    by_bytes = {data: value for value, data in values.items()}
    (size,) = set(map(len, by_bytes))
    allowed = allowed or ", ".join(map(bytes.decode, by_bytes))
    return Field(size, lambda data: by_bytes.get(normalize(data)), values.__getitem__, allowed, values, clause=clause)


@dataclass(frozen=True, kw_only=True)
class Counted[V](Field[V]):
    """A field of a number and that many items: `count` is the field of the number, `item_size` the bytes of an item."""

    size: None = None
    count: Field[int]
    item_size: int = 1

    def end(self, data: bytes, at: int) -> int | None:
        """See `Field.end`."""
        first = self.count.end(data, at)
        if first is None:
            return None
        count = self.count.parse(data[at:first])
        if count is None:
            raise UnreadableError(first, f"{{code}} with {self.count.allowed}", False)
        end = first + count * self.item_size
        return end if end <= len(data) else None


class Frame[M: FrameMessage]:
    """The frames of one kind of message: a code, which is the name of the class, and a field for each of its fields.

    The separator precedes every field. `size` is the length in bytes, None if it varies.
    """

    def __init__(self, kind: type[M], *fields: Field[Any], separator: bytes = b" ") -> None:
        self.kind = kind
        self.code = kind.__name__.upper().encode()
        self.fields = fields
        self.separator = separator
        sizes = [len(separator) + field.size for field in fields if field.size is not None]
        self.size = len(self.code) + sum(sizes) if len(sizes) == len(fields) else None

    def split(self, data: bytes, *, waits: bool = False) -> tuple[Sequence[bytes], int] | None:
        """The bytes of each field, and the length of the frame at the start of the data.

        None if the data is incomplete. Raises UnreadableError; if it `waits`, for a wrong separator only when all
        fields have arrived.
        """
        parts: list[bytes] = []
        at = len(self.code)
        unseparated: UnreadableError | None = None
        for field in self.fields:
            start = at + len(self.separator)
            if unseparated is None and data[at:start] not in {b"", self.separator}:
                allowed = f"one space before the {field.name}" if parts else SPACE_AFTER_CODE
                unseparated = UnreadableError(start, allowed, bool(parts))
                if not waits:
                    raise unseparated
            end = field.end(data, start)
            if end is None:
                return None
            parts.append(data[start:end])
            at = end
        if unseparated is not None:
            raise unseparated
        return parts, at

    def render(self, message: M) -> bytes:
        """The bytes of a message."""
        data = self.code
        values = iter(astuple(message))
        for field in self.fields:
            data += self.separator + field.render(next(values))
        return data


class FrameTable[M: FrameMessage](dict[M, bytes]):
    """The bytes of each message of a protocol, by its `frames` in the order of the document.

    Frames of a fixed size are kept, at most `MAX_CACHED_FRAMES` of them. `canonical` maps the bytes of the `listed`
    messages, and of the `sequences` of them that often arrive together, to these messages.
    """

    def __init__(
        self,
        frames: Sequence[Frame[Any]],
        listed: Iterable[M],
        sequences: Iterable[Sequence[M]] = (),
        *,
        ignores_case: bool = False,
    ) -> None:
        super().__init__()
        self.frames: Mapping[bytes, Frame[M]] = {frame.code: frame for frame in frames}
        self.code_size = len(frames[0].code)
        self.ignores_case = ignores_case
        self._frame_by_kind = {frame.kind: frame for frame in frames}
        reads = [*((message,) for message in listed), *sequences]
        self.canonical = {b"".join(self[message] for message in read): read for read in reads}

    def __missing__(self, message: M) -> bytes:
        frame = self._frame_by_kind[type(message)]
        data = frame.render(message)
        if frame.size is not None and len(self) < MAX_CACHED_FRAMES:
            self[message] = data
        return data


type ParseResult[M] = tuple[M | Violation | None, int]
"""A message or violation, None if the data is incomplete, and the number of bytes used."""


class FrameCodec[M: FrameMessage]:
    """A codec of frames that follow each other without separators. See `Codec`; a room defines `encode`.

    A read that is exactly one canonical message of the table, or a sequence of them, is one look-up. `MAX_FRAME_BYTES`
    bytes always suffice to read one frame or to detect a violation. `WHITESPACE_CLAUSE` is the clause that tolerates
    white space between frames, empty if the protocol has none, and `UNREADABLE_CLAUSE` the clause that unreadable bytes
    break. `CODE_NOUN` is what the document calls its codes. If it `waits`, it finds a wrong separator only when the
    whole frame has arrived.
    """

    MAX_FRAME_BYTES: ClassVar[int]
    WHITESPACE_CLAUSE: ClassVar[str] = ""
    UNREADABLE_CLAUSE: ClassVar[str]
    CODE_NOUN: ClassVar[str] = "codes"

    __slots__ = ("_buffer", "_canonical", "_is_fatal", "_strict", "_table", "tolerated", "waits")

    encode: Callable[[M], bytes]

    def __init__(self, table: FrameTable[M], *, strict: bool = False) -> None:
        self.tolerated: frozenset[str] = frozenset()  # one shared object for most connections
        self.waits = False
        self._table = table
        self._canonical = table.canonical
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

    def feed_with_ends(self, data: bytes) -> Sequence[tuple[M | Violation, int]]:
        """As `feed`, each with the offset in `data` at which it ends. See `SpanCodec`."""
        buffered = len(self._buffer)
        if not buffered and len(messages := self._canonical.get(data, ())) == 1:
            return ((messages[0], len(data)),)
        ends: list[int] = []
        items = self._parse_messages(self._buffer + data, ends)
        return [(item, end - buffered) for item, end in zip(items, ends, strict=True)]

    def _parse_messages(self, data: bytes, ends: list[int] | None = None) -> Sequence[M | Violation]:
        """Parse all complete frames. If `ends` is given, the offset in `data` after each of them is added to it."""
        items: list[M | Violation] = []
        at = 0
        while at < len(data) and not self._is_fatal:
            if self.WHITESPACE_CLAUSE and not self._strict and (space := WHITESPACE_PATTERN.match(data, at)):
                self.tolerated |= {self.WHITESPACE_CLAUSE}
                at = space.end()
                continue
            item, length = self._read(data[at : at + self.MAX_FRAME_BYTES])
            if item is None:
                break
            items.append(item)
            at += length
            if ends is not None:
                ends.append(at)
            self._is_fatal = type(item) is Violation and item.fatal
        # After a fatal violation the buffer is never empty, so `feed` does not take the fast path.
        self._buffer = b"?" if self._is_fatal else data[at:]
        return items

    def _read(self, data: bytes) -> ParseResult[M]:
        table = self._table
        code = data[: table.code_size]
        if len(code) < table.code_size:
            return None, 0
        frame = table.frames.get(code.upper() if table.ignores_case else code)
        if frame is None:
            return self._unreadable(code, f"one of the {self.CODE_NOUN} {', '.join(map(bytes.decode, table.frames))}")
        if frame.size is not None and (messages := self._canonical.get(data[: frame.size])):
            return messages[0], frame.size
        try:
            split = frame.split(data, waits=self.waits)
        except UnreadableError as error:
            end, allowed, is_code = error.args
            name = frame.code.decode()
            return self._unreadable(data[:end], allowed.format(code=name), name if is_code else "")
        if split is None:
            return None, 0
        parts, length = split
        values = []
        for field, part in zip(frame.fields, parts, strict=True):
            value = field.parse(part)
            if value is None:
                return self._read_invalid(frame, field, data[:length]), length
            values.append(value)
        return frame.kind(*values), length

    def _read_invalid(self, frame: Frame[M], field: Field[Any], data: bytes) -> M | Violation:
        """The violation of a frame in which the value of a field is invalid, or the message if it is tolerated."""
        code = frame.code.decode()
        return Violation(field.clause, printable_bytes(data), f"{code} with {field.allowed}", code=code)

    def _unreadable(self, data: bytes, allowed: str, code: str = "") -> ParseResult[M]:
        """The violation of bytes after which the next frame cannot be found."""
        return Violation(self.UNREADABLE_CLAUSE, printable_bytes(data), allowed, fatal=True, code=code), len(data)
