"""User names: scripts, invisible characters, and names that look alike."""

# ruff: noqa: RUF001 -- this module tests confusable characters

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.usernames import (
    CONFUSABLES,
    MAX_NAME_CHARACTERS,
    InvalidUsername,
    normalize_username,
    skeleton,
    validate_username,
)
from tests.sampling import in_one_test

GOOD = {
    "ann": "ann",
    "Señor Nuñez": "Señor Nuñez",
    "Zoe\u0308": "Zo\u00eb",
    "\uff21\uff4e\uff4e": "Ann",
    "\u24b6nn": "Ann",
    "Пётр": "Пётр",
    "Σωκράτης": "Σωκράτης",
    "Արմեն": "Արմեն",
    "محمد": "محمد",
    "דָּוִד": normalize("NFKC", "דָּוִד"),
    "देवनागरी": normalize("NFKC", "देवनागरी"),
    "日本語テスト": "日本語テスト",
    "スーパーMario": "スーパーMario",
    "한국어": "한국어",
    "王Li": "王Li",
    "♠♥": "♠♥",
    "user_1@example.org": "user_1@example.org",
    "٣٤": "٣٤",
    "n" * 64: "n" * 64,
}

BAD = [
    "",
    "n" * 65,
    "\ufdfa" * 20,  # more than 64 characters when normalized
    "a:b",
    "a\uff1ab",  # a colon when normalized
    "a\nb",
    "a\x7fb",
    "a\u0085b",
    "a\u00adb",  # soft hyphen
    "a\u200bb",  # zero width space
    "a\u200db",  # joiner
    "a\u2060b",
    "a\u202eb",  # right to left
    "a\ufeffb",
    "a\u034fb",
    "a\u115fb",
    "a\u3164b",  # Hangul filler
    "a\u2800b",  # Braille without dots
    "a\ufe0fb",  # variation selector
    "a\U000e0041b",  # tag
    "a\ue000b",  # private use
    "a\u0378b",  # unassigned
    "a\u1680b",
    " a",
    "a\u00a0",
    "a  b",
    "\u0430nn",  # Cyrillic and Latin
    "\u0391nn",  # Greek and Latin
    "ab日к",
    "かな한",  # kana with Hangul
    "\u0251nn",  # phonetic
    "\u01c3a",  # click
    "\u13aa\u13b3",  # Cherokee
    "\u0301a",
    "a \u0301",
    "a\u0334\u0334",
    "a" + "\u0316\u0317\u0318\u0319\u031c",
    "1\u0663",
]

ALIKES = [
    ("Ann", "ann", "ANN"),
    ("pope", "роре", "POPE", "РОРЕ"),
    ("maxi", "МАХІ", "ΜΑΧΙ"),
    ("Bill", "BiII", "B1ll", "Bı||"),
    ("Otto", "0tt0", "ОТТО"),
    ("Arnold", "Amold"),
    ("wow", "vvovv"),
    ("a-b", "a\u2010b", "a\u2014b"),
    ("O'Neil", "O\u2019Neil"),
    ("Straße", "STRASSE"),
    ("İl", "il"),
]


@in_one_test
@pytest.mark.parametrize(("text", "name"), GOOD.items(), ids=map(ascii, GOOD))
def test_valid_name_is_normalized(text: str, name: str) -> None:
    assert validate_username(text) == name
    assert validate_username(name) == name
    assert normalize_username(text) == name


@in_one_test
@pytest.mark.parametrize("text", BAD, ids=map(ascii, BAD))
def test_invalid_name_is_rejected(text: str) -> None:
    with pytest.raises(InvalidUsername, match="; allowed: "):
        validate_username(text)


@pytest.mark.parametrize("names", ALIKES, ids=[ascii(names[0]) for names in ALIKES])
def test_names_that_look_alike_have_the_same_skeleton(names: tuple[str, ...]) -> None:
    assert len({skeleton(name) for name in names}) == 1


def test_names_that_look_different_have_different_skeletons() -> None:
    names = ["ann", "anna", "Änn", "bob", "user 2", "user 3", "Пётр", "Петр", "王", "玉", "a b", "ab", "a-b", "a_b"]
    assert len({skeleton(name) for name in names}) == len(names)


def test_confusables_map_to_characters_that_are_their_own_skeleton() -> None:
    for character, letter in CONFUSABLES.items():
        assert normalize("NFD", normalize("NFKC", character).casefold()) == character
        assert letter not in CONFUSABLES


@given(st.text(max_size=70))
def test_any_text_is_a_valid_name_or_is_rejected(text: str) -> None:
    try:
        name = validate_username(text)
    except InvalidUsername:
        return
    assert 0 < len(name) <= MAX_NAME_CHARACTERS
    assert name == normalize("NFKC", name) == validate_username(name)
    assert ":" not in name
    assert skeleton(name) == skeleton(text) == skeleton(skeleton(name))
