"""The ways in which programs spell their messages otherwise than the protocol has them, whatever the room."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

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
"""The largest integer on the wire; the least is one below its negative."""

QUOTE_PATTERN: Final = rb"(?:[\"'`\x91-\x94]|\xe2\x80[\x98\x99\x9c\x9d])"
"""A quotation mark in ASCII, Windows' code page or UTF-8."""


@dataclass(frozen=True)
class ProtocolLayout:
    """What the spellings of a room are made from: its layout, and its parts as the protocol has them.

    `names` are other names of codes that programs write in their place; `digits` the parts that are integers, each as
    it is in decimal digits; `quoted` the parts that are put into quotes, as they are within them; `wide` those that are
    text, as rows of letters, and `rows` those that are such rows again and again up to a space; `own` the parts that
    are spelt otherwise in this room alone, by what is said of that. `lower` are the parts in lower case letters, where
    the protocol tells these from others.
    """

    layout: MessageFields
    fields: Mapping[str, FieldPattern]
    code_aliases: Mapping[bytes, bytes]
    room_dialects: Mapping[str, Mapping[str, FieldPattern]]
    digit_fields: Mapping[str, FieldPattern] = field(default_factory=dict)
    quoted_fields: Mapping[str, FieldPattern] = field(default_factory=dict)
    wide_fields: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    repeated_fields: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    lower_case_fields: Mapping[str, FieldPattern] | None = None

    def dialect(
        self, description: str, fields: Mapping[str, FieldPattern] | None = None, codes: FieldPattern | None = None
    ) -> Dialect:
        """A spelling in which these parts are other than in the protocol."""
        own = one_of({code: code for code in self.layout}, is_case_sensitive=self.lower_case_fields is not None)
        changed = {**(fields or {}), **({CODE_FIELD: codes} if codes else {})}
        return Dialect(description, self.layout, {CODE_FIELD: own, **self.fields}, changed)


# Integers.


def pack_int32(value: int) -> bytes:
    """A number as four bytes, the most significant first. Raises Unlike when it does not fit."""
    if not ~MAX_INT32 <= value <= MAX_INT32:
        raise NotInDialectError
    return value.to_bytes(4, signed=True)


def parse_signed(data: bytes, order: Literal["big", "little"] = "big") -> int:
    """A signed integer of any length."""
    return int.from_bytes(data, order, signed=True)


def binary_field(size: int, normalize: Normalizer = bytes) -> FieldPattern:
    """A part of so many bytes, whatever they are."""
    return FieldPattern((b".",) * size, normalize=normalize)


def swap_bytes(data: bytes) -> bytes:
    """A signed integer of any length, the least significant byte first, in four bytes. Raises Unlike as `packed`."""
    return pack_int32(parse_signed(data, "little"))


def widen_to_int32(data: bytes) -> bytes:
    """A signed integer of any length in four bytes. Raises Unlike when it does not fit."""
    return pack_int32(parse_signed(data))


def _minus(data: bytes) -> bytes:
    return pack_int32(-abs(parse_signed(data[1:]))) if len(data) == 5 else data


def _sign_bit(data: bytes) -> bytes:
    value = int.from_bytes(data)
    return pack_int32(value if value < 2**31 else 2**31 - value)


def _complement(data: bytes) -> bytes:
    value = parse_signed(data)
    return pack_int32(value + 1 if value < 0 else value)


INTEGERS_AS_TEXT: Final = "writes its integers as text"

INTEGER_DIALECTS: Final[Mapping[str, FieldPattern]] = {
    "sends its integers with the least significant byte first": binary_field(4, swap_bytes),
    "sends its integers in eight bytes": binary_field(8, widen_to_int32),
    "sends its integers in eight bytes, the least significant first": binary_field(8, swap_bytes),
    "sends its integers in two bytes": binary_field(2, widen_to_int32),
    "sends its integers in two bytes, the least significant first": binary_field(2, swap_bytes),
    "sends its integers in one byte": binary_field(1, widen_to_int32),
    "writes a minus sign before its integers": FieldPattern(
        (rb"-", *(b".",) * 4), (rb"[^-]", *(b".",) * 3), normalize=_minus
    ),
    "sets the highest bit of its integers for a minus sign": binary_field(4, _sign_bit),
    "sends negative integers as the complement of one": binary_field(4, _complement),
}
"""Integers that are spelt otherwise."""

SINGLE_INTEGER_CAUSES: Final[Mapping[str, Normalizer]] = {
    "sends an integer without its sign": lambda data: pack_int32(-abs(parse_signed(data))),
    "sends an integer with the wrong sign": lambda data: pack_int32(-parse_signed(data)),
}
"""What explains one integer, and nothing can be read by."""

DIGITS_FIELD: Final = FieldPattern((rb" *", rb"[+-]?", rb"\d+"), normalize=lambda data: pack_int32(int(data)))


# What surrounds a part.


class QuotedPattern(FieldPattern):
    """A part in quotes, or without them."""

    def __init__(self, part: FieldPattern) -> None:
        super().__init__((QUOTE_PATTERN,))
        self._part = part

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """As in `Part`."""
        if data[at:] in {b"\xe2", b"\xe2\x80"}:  # how one begins in UTF-8
            return None
        try:
            opened = super().read(data, at)
        except NotInDialectError:
            return self._part.read(data, at)
        found = opened and self._part.read(data, opened[1])
        closed = found and super().read(data, found[1])
        return (found[0], closed[1]) if found and closed else None


# All spellings of a room.


def all_dialects(protocol: ProtocolLayout) -> Iterator[Dialect]:
    """Every spelling of a room, the likeliest first."""
    yield from _around(protocol)
    if protocol.digit_fields:
        yield protocol.dialect(INTEGERS_AS_TEXT, protocol.digit_fields)
        for told, part in INTEGER_DIALECTS.items():
            yield protocol.dialect(told, dict.fromkeys(protocol.digit_fields, part))
    if protocol.quoted_fields:
        quoted = {name: QuotedPattern(part) for name, part in protocol.quoted_fields.items()}
        yield protocol.dialect("puts quotes around its arguments", quoted)
    if "space" in protocol.fields:
        for told, space in SPACE_DIALECTS.items():
            yield protocol.dialect(told, {"space": space})
    for told, parts in protocol.room_dialects.items():
        yield protocol.dialect(told, parts)
    if protocol.lower_case_fields is not None:
        yield protocol.dialect(
            "writes lower case letters", protocol.lower_case_fields, one_of({c: c for c in protocol.layout})
        )
        spaced = {code + b" " * bool(parts): code for code, parts in protocol.layout.items()}
        yield protocol.dialect("puts a space behind its headers", codes=one_of(spaced, is_case_sensitive=True))
    yield protocol.dialect(
        "spells its codes in another way", codes=one_of({**{c: c for c in protocol.layout}, **protocol.code_aliases})
    )
    yield _wide(protocol, "sends every letter in two bytes", b"\0", b"")
    yield _wide(protocol, "sends every letter in two bytes, the less significant first", b"", b"\0")
    for told, mend in SINGLE_INTEGER_CAUSES.items():
        if protocol.digit_fields:
            yield replace(
                protocol.dialect(told, dict.fromkeys(protocol.digit_fields, binary_field(4, mend))), is_consistent=False
            )


SPACE_DIALECTS: Final[Mapping[str, FieldPattern]] = {
    "forgets the space": FieldPattern((rb" ?",), normalize=lambda _: b" "),
    "puts more than one space": FieldPattern((rb" +",), normalize=lambda _: b" "),
    "puts something else where a space belongs": FieldPattern((rb" *[\t,:;=_-] *",), normalize=lambda _: b" "),
}


def _around(tongue: ProtocolLayout) -> Iterator[Dialect]:
    """What stands around whole messages."""
    yield replace(tongue.dialect("ends its messages with a line end"), suffix=FieldPattern((rb"[\r\n]+",)))
    yield replace(tongue.dialect("ends its messages with a NUL"), suffix=FieldPattern((rb"\0+",)))
    yield replace(tongue.dialect("puts blanks between its messages"), suffix=FieldPattern((rb"[ \t]+",)))
    yield replace(tongue.dialect("puts commas between its messages"), suffix=FieldPattern((rb"[ ,;|]+",)))
    length = FieldPattern((rb"\0{0,7}", rb"[\x01-\x1f]", rb"\0{0,7}"), (rb"0*[1-9]\d*", rb"[ :]?"))
    yield replace(tongue.dialect("sends a length before its messages"), prefix=length)
    quotes = replace(
        tongue.dialect("puts quotes around its messages"),
        prefix=FieldPattern((QUOTE_PATTERN + b"?",)),
        suffix=FieldPattern((QUOTE_PATTERN,)),
    )
    yield quotes


def _wide(tongue: ProtocolLayout, told: str, high: bytes, low: bytes) -> Dialect:
    """Everything that is text in two bytes a letter, perhaps with a byte order mark."""
    codes = {b"".join(high + bytes((letter,)) + low for letter in code): code for code in tongue.layout}
    narrow: Normalizer = lambda data: data.replace(b"\0", b"")  # noqa: E731 -- of all parts
    parts = {
        name: FieldPattern(tuple(byte for letter in letters for byte in (high, letter, low) if byte), normalize=narrow)
        for name, letters in tongue.wide_fields.items()
    }
    for name, letters in tongue.repeated_fields.items():
        row = b"(?:%s)*" % b"".join(high + letter + low for letter in letters)
        begun = row + b".{0,%d}" % (2 * len(letters) - 1)
        parts[name] = FieldPattern((b"%s(?=%s %s)" % (row, high, low),), partial=begun, normalize=narrow)
    mark = FieldPattern((b"\xff", b"\xfe"), (b"\xfe", b"\xff"), ())
    return replace(tongue.dialect(told, parts, one_of(codes)), prefix=mark)
