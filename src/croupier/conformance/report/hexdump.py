"""Hex dumps: expected and actual bytes side by side, with the first wrong byte marked."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from croupier.core.text import printable as escaped

BYTES_PER_ROW: Final = 8
"""Two columns of this many bytes fit on a terminal."""

CONTEXT_ROWS: Final = 3
"""The number of rows before and after the row with the first wrong byte."""

MISSING_BYTE: Final = "--"
"""Shown in the place of a missing byte."""


class DumpLine(Struct, frozen=True):
    """A line of a dump: its text, and a `mark` after it if the line above has the first wrong byte."""

    text: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.text}{self.mark}"


def first_difference(expected: bytes, actual: bytes) -> int | None:
    """Return the offset of the first byte that is wrong, missing or too many; None if all are right.

    Example:
        >>> first_difference(b"STRT P_1", b"STRT P_2")
        7
    """
    for at, (one, other) in enumerate(zip(expected, actual, strict=False)):
        if one != other:
            return at
    return None if len(expected) == len(actual) else min(len(expected), len(actual))


def hex_diff(expected: bytes, actual: bytes) -> Sequence[DumpLine]:
    """Both byte strings as lines of hexadecimal text of 74 columns, with `^^` below the first wrong byte.

    Shows the rows around the first wrong byte, at most seven; the first rows if nothing is wrong.
    """
    wrong = first_difference(expected, actual)
    middle = 0 if wrong is None else wrong // BYTES_PER_ROW
    last = (max(len(expected), len(actual), 1) - 1) // BYTES_PER_ROW
    lines = [DumpLine(f"{'':6}{'expected':35}{'actual'}")]
    for row in range(max(0, middle - CONTEXT_ROWS), min(last, middle + CONTEXT_ROWS) + 1):
        at = row * BYTES_PER_ROW
        wanted, got = (data[at : at + BYTES_PER_ROW] for data in (expected, actual))
        is_marked = wrong is not None and row == middle
        came = [_hexadecimal(got)] if got else []
        if is_marked and wrong == len(actual):
            came.append(MISSING_BYTE)
        columns = f"{_hexadecimal(wanted):23}  {_characters(wanted):8}  {' '.join(came):23}  {_characters(got)}"
        lines.append(DumpLine(f"{at:04X}  {columns}".rstrip()))
        if wrong is not None and is_marked:
            lines.append(DumpLine(" " * (41 + 3 * (wrong - at)), "^^"))
    return lines


def hex_dump(data: bytes) -> Sequence[DumpLine]:
    """Bytes as lines of hexadecimal text, sixteen a line, with their characters."""
    lines = []
    width = 3 * min(len(data), 2 * BYTES_PER_ROW) - 1
    for at in range(0, len(data), 2 * BYTES_PER_ROW):
        part = data[at : at + 2 * BYTES_PER_ROW]
        lines.append(DumpLine(f"{at:04X}  {_hexadecimal(part):{width}}  {_characters(part)}"))
    return lines


def _hexadecimal(data: bytes) -> str:
    return data.hex(" ").upper()


def _characters(data: bytes) -> str:
    """Bytes as characters, with a full stop for those that are not printable."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def is_plain_text(data: bytes) -> bool:
    """Whether bytes can be shown as text alone: printable ASCII without surrounding white space."""
    return data.isascii() and data.decode("ascii").isprintable() and data == data.strip()


def is_utf8(data: bytes) -> bool:
    """Whether bytes are text in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def printable(text: str) -> str:
    """Escape untrusted text for a terminal and for XML: everything but tabs, line feeds and printable characters."""
    return escaped(text, len(text), keep="\n\t")
