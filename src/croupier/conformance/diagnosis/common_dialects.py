"""The ways in which programs spell their messages otherwise than the protocol has them, whatever the room."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from croupier.conformance.diagnosis.dialect import CODE, Layout, Mend, Part, Spelling, Unlike, listed

LARGEST: Final = 2**31 - 1
"""The largest integer on the wire; the least is one below its negative."""

QUOTE: Final = rb"(?:[\"'`\x91-\x94]|\xe2\x80[\x98\x99\x9c\x9d])"
"""A quotation mark in ASCII, Windows' code page or UTF-8."""


@dataclass(frozen=True)
class Tongue:
    """What the spellings of a room are made from: its layout, and its parts as the protocol has them.

    `names` are other names of codes that programs write in their place; `digits` the parts that are integers, each as
    it is in decimal digits; `quoted` the parts that are put into quotes, as they are within them; `wide` those that are
    text, as rows of letters, and `rows` those that are such rows again and again up to a space; `own` the parts that
    are spelt otherwise in this room alone, by what is said of that. `lower` are the parts in lower case letters, where
    the protocol tells these from others.
    """

    layout: Layout
    parts: Mapping[str, Part]
    names: Mapping[bytes, bytes]
    own: Mapping[str, Mapping[str, Part]]
    digits: Mapping[str, Part] = field(default_factory=dict)
    quoted: Mapping[str, Part] = field(default_factory=dict)
    wide: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    rows: Mapping[str, Sequence[bytes]] = field(default_factory=dict)
    lower: Mapping[str, Part] | None = None

    def spelt(self, told: str, parts: Mapping[str, Part] | None = None, codes: Part | None = None) -> Spelling:
        """A spelling in which these parts are other than in the protocol."""
        own = listed({code: code for code in self.layout}, cases=self.lower is not None)
        changed = {**(parts or {}), **({CODE: codes} if codes else {})}
        return Spelling(told, self.layout, {CODE: own, **self.parts}, changed)


# Integers.


def packed(value: int) -> bytes:
    """A number as four bytes, the most significant first. Raises Unlike when it does not fit."""
    if not ~LARGEST <= value <= LARGEST:
        raise Unlike
    return value.to_bytes(4, signed=True)


def signed(data: bytes, order: Literal["big", "little"] = "big") -> int:
    """A signed integer of any length."""
    return int.from_bytes(data, order, signed=True)


def binary(size: int, mend: Mend = bytes) -> Part:
    """A part of so many bytes, whatever they are."""
    return Part((b".",) * size, mend=mend)


def swapped(data: bytes) -> bytes:
    """A signed integer of any length, the least significant byte first, in four bytes. Raises Unlike as `packed`."""
    return packed(signed(data, "little"))


def widened(data: bytes) -> bytes:
    """A signed integer of any length in four bytes. Raises Unlike when it does not fit."""
    return packed(signed(data))


def _minus(data: bytes) -> bytes:
    return packed(-abs(signed(data[1:]))) if len(data) == 5 else data


def _sign_bit(data: bytes) -> bytes:
    value = int.from_bytes(data)
    return packed(value if value < 2**31 else 2**31 - value)


def _complement(data: bytes) -> bytes:
    value = signed(data)
    return packed(value + 1 if value < 0 else value)


TEXT: Final = "writes its integers as text"

NUMBERS: Final[Mapping[str, Part]] = {
    "sends its integers with the least significant byte first": binary(4, swapped),
    "sends its integers in eight bytes": binary(8, widened),
    "sends its integers in eight bytes, the least significant first": binary(8, swapped),
    "sends its integers in two bytes": binary(2, widened),
    "sends its integers in two bytes, the least significant first": binary(2, swapped),
    "sends its integers in one byte": binary(1, widened),
    "writes a minus sign before its integers": Part((rb"-", *(b".",) * 4), (rb"[^-]", *(b".",) * 3), mend=_minus),
    "sets the highest bit of its integers for a minus sign": binary(4, _sign_bit),
    "sends negative integers as the complement of one": binary(4, _complement),
}
"""Integers that are spelt otherwise."""

SINGLE: Final[Mapping[str, Mend]] = {
    "sends an integer without its sign": lambda data: packed(-abs(signed(data))),
    "sends an integer with the wrong sign": lambda data: packed(-signed(data)),
}
"""What explains one integer, and nothing can be read by."""

DIGITS: Final = Part((rb" *", rb"[+-]?", rb"\d+"), mend=lambda data: packed(int(data)))


# What surrounds a part.


class Quoted(Part):
    """A part in quotes, or without them."""

    def __init__(self, part: Part) -> None:
        super().__init__((QUOTE,))
        self._part = part

    def read(self, data: bytes, at: int) -> tuple[bytes, int] | None:
        """As in `Part`."""
        if data[at:] in {b"\xe2", b"\xe2\x80"}:  # how one begins in UTF-8
            return None
        try:
            opened = super().read(data, at)
        except Unlike:
            return self._part.read(data, at)
        found = opened and self._part.read(data, opened[1])
        closed = found and super().read(data, found[1])
        return (found[0], closed[1]) if found and closed else None


# All spellings of a room.


def every(tongue: Tongue) -> Iterator[Spelling]:
    """Every spelling of a room, the likeliest first."""
    yield from _around(tongue)
    if tongue.digits:
        yield tongue.spelt(TEXT, tongue.digits)
        for told, part in NUMBERS.items():
            yield tongue.spelt(told, dict.fromkeys(tongue.digits, part))
    if tongue.quoted:
        quoted = {name: Quoted(part) for name, part in tongue.quoted.items()}
        yield tongue.spelt("puts quotes around its arguments", quoted)
    if "space" in tongue.parts:
        for told, space in SPACES.items():
            yield tongue.spelt(told, {"space": space})
    for told, parts in tongue.own.items():
        yield tongue.spelt(told, parts)
    if tongue.lower is not None:
        yield tongue.spelt("writes lower case letters", tongue.lower, listed({c: c for c in tongue.layout}))
        spaced = {code + b" " * bool(parts): code for code, parts in tongue.layout.items()}
        yield tongue.spelt("puts a space behind its headers", codes=listed(spaced, cases=True))
    yield tongue.spelt(
        "spells its codes in another way", codes=listed({**{c: c for c in tongue.layout}, **tongue.names})
    )
    yield _wide(tongue, "sends every letter in two bytes", b"\0", b"")
    yield _wide(tongue, "sends every letter in two bytes, the less significant first", b"", b"\0")
    for told, mend in SINGLE.items():
        if tongue.digits:
            yield replace(tongue.spelt(told, dict.fromkeys(tongue.digits, binary(4, mend))), throughout=False)


SPACES: Final[Mapping[str, Part]] = {
    "forgets the space": Part((rb" ?",), mend=lambda _: b" "),
    "puts more than one space": Part((rb" +",), mend=lambda _: b" "),
    "puts something else where a space belongs": Part((rb" *[\t,:;=_-] *",), mend=lambda _: b" "),
}


def _around(tongue: Tongue) -> Iterator[Spelling]:
    """What stands around whole messages."""
    yield replace(tongue.spelt("ends its messages with a line end"), behind=Part((rb"[\r\n]+",)))
    yield replace(tongue.spelt("ends its messages with a NUL"), behind=Part((rb"\0+",)))
    yield replace(tongue.spelt("puts blanks between its messages"), behind=Part((rb"[ \t]+",)))
    yield replace(tongue.spelt("puts commas between its messages"), behind=Part((rb"[ ,;|]+",)))
    length = Part((rb"\0{0,7}", rb"[\x01-\x1f]", rb"\0{0,7}"), (rb"0*[1-9]\d*", rb"[ :]?"))
    yield replace(tongue.spelt("sends a length before its messages"), before=length)
    quotes = replace(
        tongue.spelt("puts quotes around its messages"), before=Part((QUOTE + b"?",)), behind=Part((QUOTE,))
    )
    yield quotes


def _wide(tongue: Tongue, told: str, high: bytes, low: bytes) -> Spelling:
    """Everything that is text in two bytes a letter, perhaps with a byte order mark."""
    codes = {b"".join(high + bytes((letter,)) + low for letter in code): code for code in tongue.layout}
    narrow: Mend = lambda data: data.replace(b"\0", b"")  # noqa: E731 -- of all parts
    parts = {
        name: Part(tuple(byte for letter in letters for byte in (high, letter, low) if byte), mend=narrow)
        for name, letters in tongue.wide.items()
    }
    for name, letters in tongue.rows.items():
        row = b"(?:%s)*" % b"".join(high + letter + low for letter in letters)
        begun = row + b".{0,%d}" % (2 * len(letters) - 1)
        parts[name] = Part((b"%s(?=%s %s)" % (row, high, low),), begun=begun, mend=narrow)
    mark = Part((b"\xff", b"\xfe"), (b"\xfe", b"\xff"), ())
    return replace(tongue.spelt(told, parts, listed(codes)), before=mark)
