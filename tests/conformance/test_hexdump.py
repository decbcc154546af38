"""Hex dumps mark the first wrong byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.report.hexdump import (
    BYTES_PER_ROW,
    first_difference,
    hex_diff,
    hex_dump,
    is_plain_text,
    printable,
)


@pytest.mark.parametrize(
    ("wanted", "got", "at"),
    [
        (b"CARD", b"CARD", None),
        (b"", b"", None),
        (b"CARD", b"card", 0),
        (b"CARD", b"CAR", 3),
        (b"CARD", b"CARD\n", 4),
        (b"", b"x", 0),
    ],
)
def test_the_first_wrong_byte_is_wrong_missing_or_too_many(wanted: bytes, got: bytes, at: int | None) -> None:
    assert first_difference(wanted, got) == at


def test_both_stand_side_by_side_with_a_mark_below_the_first_wrong_byte() -> None:
    assert [*map(str, hex_diff(b"CARD C_Q", b'CARD "C_Q"'))] == [
        "      expected                           actual",
        '0000  43 41 52 44 20 43 5F 51  CARD C_Q  43 41 52 44 20 22 43 5F  CARD "C_',
        "                                                        ^^",
        '0008                                     51 22                    Q"',
    ]


def test_where_a_byte_is_missing_there_are_dashes() -> None:
    assert [*map(str, hex_diff(b"DISC", b"DIS"))][1:] == [
        "0000  44 49 53 43              DISC      44 49 53 --              DIS",
        "                                                  ^^",
    ]


def test_of_long_ones_the_rows_around_the_first_wrong_byte_are_shown() -> None:
    _, *rows = hex_diff(bytes(1000), bytes(500) + b"\1" + bytes(499))
    assert [row.text[:4].strip() for row in rows] == ["01D8", "01E0", "01E8", "01F0", "", "01F8", "0200", "0208"]


@given(st.binary(max_size=64), st.binary(max_size=64))
def test_the_mark_stands_below_the_first_wrong_byte(wanted: bytes, got: bytes) -> None:
    at = first_difference(wanted, got)
    lines = hex_diff(wanted, got)
    marks = [number for number, line in enumerate(lines) if line.mark]
    assert len(marks) == (at is not None)
    for number in marks:
        place = len(lines[number].text)
        assert (place - 41) // 3 == at % BYTES_PER_ROW
        assert lines[number - 1].text[place : place + 2] in {f"{got[at]:02X}" if at < len(got) else "--"}


def test_a_dump_shows_bytes_and_letters() -> None:
    (line,) = hex_dump(b"HELLO, YOUR CARD")
    assert line.text == "0000  48 45 4C 4C 4F 2C 20 59 4F 55 52 20 43 41 52 44  HELLO, YOUR CARD"
    assert hex_dump(b"\0\x7f")[0].text.endswith("  ..")
    assert len(hex_dump(bytes(40))) == 3


def test_plain_text_needs_no_hexadecimal() -> None:
    assert is_plain_text(b"CARD C_Q")
    assert not any(map(is_plain_text, (b"CARD C_Q\n", b"\0H", b" STRT", "7½".encode())))


@given(st.text())
def test_the_text_of_strangers_is_made_harmless(text: str) -> None:
    found = printable(text)
    assert all(c.isprintable() or c in "\n\t" for c in found)
    assert printable(found) == found
    found.encode()
