"""Hex dumps: expected and actual bytes side by side, with the first wrong byte marked."""

from typing import Final, NamedTuple

from croupier.core.text import printable as escaped

BYTES_PER_ROW: Final = 8
"""Two columns of this many bytes fit on a terminal."""

CONTEXT_ROWS: Final = 3
"""The number of rows before and after the row with the first wrong byte."""

MISSING_BYTE: Final = "--"
"""Shown in the place of a missing byte."""

type ByteColumn = tuple[int | None, ...]
"""The bytes of one column of a row, None where there is none."""


class HexRow(NamedTuple):
    """A row of a dump: the offset of its first byte, and its expected and actual bytes.

    `first_wrong` is the index in this row of the first wrong byte of the dump, None if that is in another row.
    """

    offset: int
    expected: ByteColumn
    actual: ByteColumn
    first_wrong: int | None = None


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


def hex_rows(expected: bytes, actual: bytes) -> tuple[HexRow, ...]:
    """Return the rows around the first wrong byte, at most seven; the first rows if nothing is wrong."""
    wrong = first_difference(expected, actual)
    middle = 0 if wrong is None else wrong // BYTES_PER_ROW
    last = max(len(expected), len(actual), 1) - 1
    found = []
    for number in range(max(0, middle - CONTEXT_ROWS), min(last // BYTES_PER_ROW, middle + CONTEXT_ROWS) + 1):
        at = number * BYTES_PER_ROW
        place = None if wrong is None or number != middle else wrong - at
        found.append(HexRow(at, _column(expected, at), _column(actual, at), place))
    return tuple(found)


def _column(data: bytes, at: int) -> ByteColumn:
    return tuple(data[place] if place < len(data) else None for place in range(at, at + BYTES_PER_ROW))


def hex_byte(byte: int | None) -> str:
    """A byte as two hexadecimal digits, or as blanks if there is none."""
    return "  " if byte is None else f"{byte:02X}"


def printable_byte(byte: int | None) -> str:
    """A byte as a character, or a full stop if it is not printable."""
    if byte is None:
        return " "
    return chr(byte) if 0x20 <= byte < 0x7F else "."


def hex_diff(expected: bytes, actual: bytes) -> str:
    """Both byte strings as hexadecimal text, with `^^` below the first wrong byte; 74 columns."""
    lines = [f"{'':6}{'expected':35}{'actual'}"]
    for row in hex_rows(expected, actual):
        came = [hex_byte(byte) for byte in row.actual]
        if row.first_wrong is not None and row.actual[row.first_wrong] is None:
            came[row.first_wrong] = MISSING_BYTE
        columns = (
            " ".join(map(hex_byte, row.expected)),
            f"{''.join(map(printable_byte, row.expected)):8}",
            " ".join(came),
            "".join(map(printable_byte, row.actual)),
        )
        lines.append(f"{row.offset:04X}  {'  '.join(columns)}".rstrip())
        if row.first_wrong is not None:
            lines.append(f"{'':{41 + 3 * row.first_wrong}}^^")
    return "\n".join(lines)


def hex_dump(data: bytes) -> str:
    """Bytes as hexadecimal text, sixteen a line, with their characters."""
    lines = []
    wide = 3 * min(len(data), 2 * BYTES_PER_ROW) - 1
    for at in range(0, len(data), 2 * BYTES_PER_ROW):
        part = data[at : at + 2 * BYTES_PER_ROW]
        lines.append(f"{at:04X}  {part.hex(' ').upper():{wide}}  {''.join(map(printable_byte, part))}")
    return "\n".join(lines)


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
