"""Escaping of untrusted text."""

import pytest

from croupier.core.text import printable


@pytest.mark.parametrize("text", ["", "Ann", "Zoë ♠ 小明", "a\\b 'c' \"d\" [bold]"])
def test_printable_text_is_unchanged(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\r\nb\tc\x00\x7f", r"a\r\nb\tc\x00\x7f"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u2028b\u200bc\ufeff", r"a\u2028b\u200bc\ufeff"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(text).isprintable()


def test_only_kept_characters_are_kept() -> None:
    assert printable("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


def test_long_text_is_cut_with_a_note_of_its_length() -> None:
    assert printable("x" * 3000, 10) == "xxxxxxxxxx... (3,000 characters)"
    assert printable("x" * 10, 10) == "x" * 10
