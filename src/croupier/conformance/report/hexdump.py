"""Two strings of bytes side by side: what the document fixes, what came, and the first byte that is wrong."""

from typing import Final, NamedTuple

from croupier.core.text import printable as escaped

WIDTH: Final = 8
"""So many bytes stand in a row: two columns of them fit on a terminal."""

AROUND: Final = 3
"""So many rows are shown before the row of the first wrong byte, and behind it."""

MISSING: Final = "--"
"""Stands where a byte should be and none came."""

type Side = tuple[int | None, ...]
"""The bytes of one column of a row, None where there is none."""


class Row(NamedTuple):
    """A row of a dump: where its first byte stands, and what is there and should be there.

    `wrong` is the place in this row of the first wrong byte of all, None if it stands elsewhere.
    """

    at: int
    wanted: Side
    got: Side
    wrong: int | None = None

    @property
    def differs(self) -> tuple[bool, ...]:
        """For each place of the row whether the columns differ there."""
        return tuple(wanted != got for wanted, got in zip(self.wanted, self.got, strict=True))


def first_wrong(wanted: bytes, got: bytes) -> int | None:
    """Where the first byte stands that is wrong, missing or too many; None where all are right."""
    for at, (one, other) in enumerate(zip(wanted, got, strict=False)):
        if one != other:
            return at
    return None if len(wanted) == len(got) else min(len(wanted), len(got))


def rows(wanted: bytes, got: bytes) -> tuple[Row, ...]:
    """The rows around the first wrong byte, at most seven; the first ones where nothing is wrong."""
    wrong = first_wrong(wanted, got)
    middle = 0 if wrong is None else wrong // WIDTH
    last = max(len(wanted), len(got), 1) - 1
    found = []
    for number in range(max(0, middle - AROUND), min(last // WIDTH, middle + AROUND) + 1):
        at = number * WIDTH
        place = None if wrong is None or number != middle else wrong - at
        found.append(Row(at, _column(wanted, at), _column(got, at), place))
    return tuple(found)


def _column(data: bytes, at: int) -> Side:
    return tuple(data[place] if place < len(data) else None for place in range(at, at + WIDTH))


def hexed(byte: int | None) -> str:
    """A byte as two digits, as blanks where there is none."""
    return "  " if byte is None else f"{byte:02X}"


def letter(byte: int | None) -> str:
    """A byte as the letter that it is, a full stop where it is none."""
    if byte is None:
        return " "
    return chr(byte) if 0x20 <= byte < 0x7F else "."


def side_by_side(wanted: bytes, got: bytes) -> str:
    """Both as hexadecimal text, `^^` below the first wrong byte; 74 columns."""
    lines = [f"{'':6}{'expected':35}{'actual'}"]
    for row in rows(wanted, got):
        came = [hexed(byte) for byte in row.got]
        if row.wrong is not None and row.got[row.wrong] is None:
            came[row.wrong] = MISSING
        columns = (
            " ".join(map(hexed, row.wanted)),
            f"{''.join(map(letter, row.wanted)):8}",
            " ".join(came),
            "".join(map(letter, row.got)),
        )
        lines.append(f"{row.at:04X}  {'  '.join(columns)}".rstrip())
        if row.wrong is not None:
            lines.append(f"{'':{41 + 3 * row.wrong}}^^")
    return "\n".join(lines)


def dump(data: bytes) -> str:
    """Bytes as hexadecimal text, sixteen a line, with their letters."""
    lines = []
    wide = 3 * min(len(data), 2 * WIDTH) - 1
    for at in range(0, len(data), 2 * WIDTH):
        part = data[at : at + 2 * WIDTH]
        lines.append(f"{at:04X}  {part.hex(' ').upper():{wide}}  {''.join(map(letter, part))}")
    return "\n".join(lines)


def plain(data: bytes) -> bool:
    """Whether bytes can be shown as text alone: ASCII letters, digits, signs and single spaces."""
    return data.isascii() and data.decode("ascii").isprintable() and data == data.strip()


def printable(text: str) -> str:
    """Text of a stranger, fit for a terminal and for XML: all but tabs, line ends and what is printable is escaped."""
    return escaped(text, len(text), keep="\n\t")
