"""Dialects that are common to all rooms: other spellings of integers, spaces, quotes, letters and line ends."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from croupier.conformance.conversation import MESSAGE_SECTION
from croupier.conformance.diagnosis.dialect import (
    CODE_FIELD,
    Dialect,
    FieldPattern,
    MessageFields,
    Normalizer,
    NotInDialectError,
    one_of,
)

MAX_INT32: Final = 2**31 - 1
"""The largest integer on the wire; the smallest is one below its negative."""

QUOTE_PATTERN: Final = rb"(?:[\"'`\x91-\x94]|\xe2\x80[\x98\x99\x9c\x9d])"
"""A quotation mark in ASCII, Windows-1252 or UTF-8."""


class RoomDialect(NamedTuple):
    """A dialect of one room alone. See `Dialect`; `fields` are the changed ones.

    `section` is empty if the clause about the fields is the one from which the dialect departs.
    """

    description: str
    fields: Mapping[str, FieldPattern]
    section: str = ""
    option: str = ""


@dataclass(frozen=True)
class ProtocolLayout:
    """The layout of the messages of a room, and the fields from which its dialects are generated.

    `fields` are the fields as the protocol spells them. `sections` are the numbers of the clauses about some fields;
    all others depart from the clause of MESSAGE_SECTION. `code_aliases` are other names that programs use for
    codes. `digit_fields` are the integer fields written in decimal digits; `text_fields` the names of those that
    programs may put into quotes, or send with two bytes for each letter; `quoted_fields` further fields as they are
    inside the quotes, and `repeated_fields` the letters of those that repeat them up to a space. `lower_case_fields`
    are the fields in lower case letters, if the protocol is case-sensitive.
    """

    layout: MessageFields
    fields: Mapping[str, FieldPattern]
    sections: Mapping[str, str]
    code_aliases: Mapping[bytes, bytes]
    room_dialects: Sequence[RoomDialect]
    digit_fields: Mapping[str, FieldPattern] = field(default_factory=dict)
    text_fields: Sequence[str] = ()
    quoted_fields: Mapping[str, FieldPattern] = field(default_factory=dict)
    repeated_fields: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    lower_case_fields: Mapping[str, FieldPattern] | None = None

    def dialect(
        self, description: str, fields: Mapping[str, FieldPattern] | None = None, codes: FieldPattern | None = None
    ) -> Dialect:
        """A dialect with these changed fields."""
        own = one_of({code: code for code in self.layout}, is_case_sensitive=self.lower_case_fields is not None)
        changed = {**(fields or {}), **({CODE_FIELD: codes} if codes else {})}
        named = [self.sections[name] for name in changed if name in self.sections]
        section = named[0] if named else MESSAGE_SECTION
        return Dialect(description, self.layout, {CODE_FIELD: own, **self.fields}, changed, section=section)


# Integers.


def pack_int32(value: int) -> bytes:
    """Encode a number as four bytes in big-endian order. Raises NotInDialectError if it does not fit."""
    if not ~MAX_INT32 <= value <= MAX_INT32:
        raise NotInDialectError
    return value.to_bytes(4, signed=True)


def parse_signed(data: bytes, order: Literal["big", "little"] = "big") -> int:
    """Decode a signed integer of any length."""
    return int.from_bytes(data, order, signed=True)


def binary_field(size: int, normalize: Normalizer = bytes) -> FieldPattern:
    """A field of `size` arbitrary bytes."""
    return FieldPattern((b".",) * size, normalize=normalize)


def swap_bytes(data: bytes) -> bytes:
    """Turn a little-endian signed integer of any length into four big-endian bytes. Raises NotInDialectError."""
    return pack_int32(parse_signed(data, "little"))


def widen_to_int32(data: bytes) -> bytes:
    """Turn a big-endian signed integer of any length into four bytes. Raises NotInDialectError if it does not fit."""
    return pack_int32(parse_signed(data))


def _minus(data: bytes) -> bytes:
    return pack_int32(-abs(parse_signed(data[1:]))) if len(data) == 5 else data


def _sign_bit(data: bytes) -> bytes:
    value = int.from_bytes(data)
    return pack_int32(value if value < 2**31 else 2**31 - value)


def _upper_half(data: bytes) -> bytes:
    """Turn what `htons` makes of a number that is then sent as four bytes into those of the number."""
    return data if any(data[2:]) else widen_to_int32(data[:2])


def _from_float(data: bytes) -> bytes:
    """Turn a big-endian floating-point number into four big-endian bytes. Raises NotInDialectError."""
    (value,) = struct.unpack(">f" if len(data) == 4 else ">d", data)
    if not value.is_integer():
        raise NotInDialectError
    return pack_int32(int(value))


LITTLE_ENDIAN: Final = "sends its integers with the least significant byte first"

INTEGER_DIALECTS: Final[Mapping[str, FieldPattern]] = {
    LITTLE_ENDIAN: binary_field(4, swap_bytes),
    "sends its integers in eight bytes": binary_field(8, widen_to_int32),
    "sends its integers in eight bytes, the least significant first": binary_field(8, swap_bytes),
    "sends its integers in two bytes": binary_field(2, widen_to_int32),
    "sends its integers in two bytes, the least significant first": binary_field(2, swap_bytes),
    "sends its integers in one byte": binary_field(1, widen_to_int32),
    "sends its integers in the upper two bytes of four": binary_field(4, _upper_half),
    "sends its integers as floating-point numbers of four bytes": binary_field(4, _from_float),
    "sends its integers as floating-point numbers of eight bytes": binary_field(8, _from_float),
    "writes a minus sign before its integers": FieldPattern(
        (rb"-", *(b".",) * 4), (rb"[^-]", *(b".",) * 3), normalize=_minus
    ),
    "sets the highest bit of its integers for a minus sign": binary_field(4, _sign_bit),
}
"""Other spellings of integers."""

SINGLE_INTEGER_CAUSES: Final[Mapping[str, Normalizer]] = {
    "sends an integer without its sign": lambda data: pack_int32(-abs(parse_signed(data))),
    "sends an integer with the wrong sign": lambda data: pack_int32(-parse_signed(data)),
}
"""Explanations of a single integer, which are no dialects for a whole stream."""

DIGITS_FIELD: Final = FieldPattern((rb" *", rb"[+-]?", rb"\d+"), normalize=lambda data: pack_int32(int(data)))


# Quotes.


class QuotedPattern(FieldPattern):
    """A field in quotes, or without them."""

    def __init__(self, pattern: FieldPattern) -> None:
        super().__init__((QUOTE_PATTERN,))
        self._pattern = pattern

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """See `FieldPattern.read`."""
        if data[at:] in {b"\xe2", b"\xe2\x80"}:  # an incomplete quotation mark in UTF-8
            return None
        try:
            opened = super().read(data, at)
        except NotInDialectError:
            return self._pattern.read(data, at)
        found = opened and self._pattern.read(data, opened[1])
        closed = found and super().read(data, found[1])
        return (found[0], closed[1]) if found and closed else None


# All dialects of a room.

LOWER_CASE: Final = "writes lower case letters"
CASE_SECTION: Final = "2.5"
"""The clause on upper case of the room whose letters are case-sensitive."""


def all_dialects(protocol: ProtocolLayout) -> Iterator[Dialect]:
    """Yield every dialect of a room, the most likely first."""
    yield from _around(protocol)
    if protocol.digit_fields:
        yield protocol.dialect("writes its integers as text", protocol.digit_fields)
        for description, part in INTEGER_DIALECTS.items():
            yield protocol.dialect(description, dict.fromkeys(protocol.digit_fields, part))
    if protocol.text_fields:
        inside = {**{name: protocol.fields[name] for name in protocol.text_fields}, **protocol.quoted_fields}
        quoted = {name: QuotedPattern(part) for name, part in inside.items()}
        yield replace(protocol.dialect("puts quotes around its arguments", quoted), section=MESSAGE_SECTION)
    if "space" in protocol.fields:
        for description, space in SPACE_DIALECTS.items():
            yield protocol.dialect(description, {"space": space})
    for description, parts, section, option in protocol.room_dialects:
        dialect = protocol.dialect(description, parts)
        yield replace(dialect, section=section or dialect.section, option=option)
    if protocol.lower_case_fields is not None:
        lower = protocol.dialect(LOWER_CASE, protocol.lower_case_fields, one_of({c: c for c in protocol.layout}))
        yield replace(lower, section=CASE_SECTION)
        for name, gap in (("space", b" "), ("NUL", b"\0")):
            codes = one_of(
                {code + gap * bool(parts): code for code, parts in protocol.layout.items()}, is_case_sensitive=True
            )
            yield replace(protocol.dialect(f"puts a {name} after its headers", codes=codes), section=MESSAGE_SECTION)
    yield protocol.dialect(
        "spells its codes in another way", codes=one_of({**{c: c for c in protocol.layout}, **protocol.code_aliases})
    )
    yield _wide(protocol, "sends every letter in two bytes", b"\0", b"")
    yield _wide(protocol, "sends every letter in two bytes, the less significant first", b"", b"\0")
    for description, normalize in SINGLE_INTEGER_CAUSES.items():
        if protocol.digit_fields:
            yield replace(
                protocol.dialect(description, dict.fromkeys(protocol.digit_fields, binary_field(4, normalize))),
                is_consistent=False,
            )


SPACE_DIALECTS: Final[Mapping[str, FieldPattern]] = {
    "forgets the space": FieldPattern((rb" ?",), normalize=lambda _: b" "),
    "puts more than one space": FieldPattern((rb" +",), normalize=lambda _: b" "),
    "puts something else where a space belongs": FieldPattern((rb" *[\t,:;=_-] *",), normalize=lambda _: b" "),
}


def _around(protocol: ProtocolLayout) -> Iterator[Dialect]:
    """Dialects that add something around whole messages."""
    yield replace(protocol.dialect("ends its messages with a line end"), suffix=FieldPattern((rb"[\r\n]+",)))
    yield replace(protocol.dialect("ends its messages with a NUL"), suffix=FieldPattern((rb"\0+",)))
    yield replace(protocol.dialect("puts blanks between its messages"), suffix=FieldPattern((rb"[ \t]+",)))
    yield replace(protocol.dialect("puts commas between its messages"), suffix=FieldPattern((rb"[ ,;|]+",)))
    length = FieldPattern((rb"\0{0,7}", rb"[\x01-\x1f]", rb"\0{0,7}"), (rb"0*[1-9]\d*", rb"[ :]?"))
    yield replace(protocol.dialect("sends a length before its messages"), prefix=length)
    quotes = replace(
        protocol.dialect("puts quotes around its messages"),
        prefix=FieldPattern((QUOTE_PATTERN + b"?",)),
        suffix=FieldPattern((QUOTE_PATTERN,)),
    )
    yield quotes


def _wide(protocol: ProtocolLayout, description: str, high: bytes, low: bytes) -> Dialect:
    """A dialect with two bytes per letter, and perhaps a byte order mark."""
    codes = {b"".join(high + bytes((letter,)) + low for letter in code): code for code in protocol.layout}
    strip_nuls: Normalizer = lambda data: data.replace(b"\0", b"")  # noqa: E731 -- used for every field
    names = [name for name in ("space", *protocol.text_fields) if name in protocol.fields]
    parts = {name: protocol.fields[name].widened(high, low) for name in names}
    for name, letters in protocol.repeated_fields.items():
        row = b"(?:%s)*" % b"".join(high + letter + low for letter in letters)
        partial = row + b".{0,%d}" % (2 * len(letters) - 1)
        parts[name] = FieldPattern((b"%s(?=%s %s)" % (row, high, low),), partial=partial, normalize=strip_nuls)
    mark = FieldPattern((b"\xff", b"\xfe"), (b"\xfe", b"\xff"), ())
    return replace(protocol.dialect(description, parts, one_of(codes)), prefix=mark, section=MESSAGE_SECTION)
