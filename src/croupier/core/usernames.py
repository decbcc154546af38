"""What a user may be called, and which names look alike: one rule for every way to make a user.

Names are kept in Unicode normalization form NFKC. A name has letters of one script only, or of those that are written
together (the "highly restrictive" level of Unicode TS #39), no invisible characters, and its skeleton is its own: two
names of the same skeleton cannot be told apart by a reader.
"""

# ruff: noqa: RUF001 -- characters that look like others are what this is about

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from unicodedata import category, decimal, name, normalize

MAX_NAME_CHARACTERS: Final = 64
MAX_COMBINING_MARKS: Final = 4
"""How many combining marks in a row a letter may carry."""

SCRIPTS: Final = frozenset(
    {
        "ARABIC",
        "ARMENIAN",
        "BENGALI",
        "BOPOMOFO",
        "CJK",
        "CYRILLIC",
        "DEVANAGARI",
        "ETHIOPIC",
        "GEORGIAN",
        "GREEK",
        "GUJARATI",
        "GURMUKHI",
        "HANGUL",
        "HEBREW",
        "HIRAGANA",
        "KANNADA",
        "KATAKANA",
        "KHMER",
        "LAO",
        "LATIN",
        "MALAYALAM",
        "MYANMAR",
        "ORIYA",
        "SINHALA",
        "TAMIL",
        "TELUGU",
        "THAANA",
        "THAI",
        "TIBETAN",
    }
)
"""The scripts in everyday use (Unicode Annex #31, table 5), as the names of their letters begin."""

WRITTEN_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
COMMON_LETTERS: Final = frozenset({"KATAKANA-HIRAGANA", "IDEOGRAPHIC", "MODIFIER"})
"""How the names of letters begin that belong to no script of their own."""

EVERYDAY_RANGES: Final[Mapping[str, tuple[range, ...]]] = {
    "LATIN": (range(0x250), range(0x1E00, 0x1F00)),
    "GREEK": (range(0x370, 0x400), range(0x1F00, 0x2000)),
    "CYRILLIC": (range(0x400, 0x530),),
}
"""Where the letters of the scripts that look alike are: phonetic, historic and ornamental ones are refused."""

INVISIBLE_CODE_POINTS: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
INVISIBLE_RANGES: Final = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))
"""Characters that show nothing though they are letters, marks or symbols; those of categories C and Z are others."""

CLICK_LETTERS: Final = "ǀǁǂǃ"

CAPITAL_CONFUSABLES: Final = str.maketrans("ΗΜΝΥ", "hmny")
"""Capitals that look like another letter than their small ones do."""

CONFUSABLES: Final = {
    character: letter
    for letter, characters in {
        "a": "аα",
        "b": "вβ",
        "c": "с",
        "d": "ԁ",
        "e": "еεҽ",
        "g": "ց",
        "h": "нհһ",
        "j": "јյϳ",
        "k": "кκĸ",
        "l": "i1|ıɩιіӏוןا",
        "m": "м",
        "n": "ηոռпπ",
        "o": "0оοօסه",
        "p": "рρ",
        "q": "ԛզ",
        "r": "г",
        "s": "ѕƽտ",
        "t": "тτ",
        "u": "υμս",
        "v": "νѵ",
        "w": "ωѡԝա",
        "x": "хχ×",
        "y": "уγү",
        "z": "ζ",
        "'": "’‘`ʹʼʻʽ′ˈ՚׳",
        '"': "“”„ˮ״",
        ",": "‚،",
        "·": "•∙⋅・",
        "ə": "ә",
        "ʒ": "зӡ",
        "λ": "л",
        "φ": "ф",
        "þ": "ϸ",
    }.items()
    for character in characters
}
"""Small letters and marks, decomposed, that look like another one: chiefly of Latin, Greek, Cyrillic and Armenian."""

CONFUSABLE_PAIRS: Final = (("l\u0307", "l"), ("rn", "m"), ("vv", "w"))
"""What looks like one letter."""


class InvalidUsername(ValueError):
    """A name that no new user may have. The text says what was found and what is allowed."""


def normalize_username(text: str) -> str:
    """The one spelling under which a name is kept and compared."""
    return text if text.isascii() else normalize("NFKC", text)


def validate_username(text: str) -> str:
    """The name of a new user, normalized. Raises Misnamed."""
    if (
        not 0 < len(text) <= MAX_NAME_CHARACTERS
        or not 0 < len(found := normalize_username(text)) <= MAX_NAME_CHARACTERS
    ):
        raise InvalidUsername(
            f"found the name {text[:MAX_NAME_CHARACTERS]!r}; allowed: 1 to {MAX_NAME_CHARACTERS} characters"
        )
    for character in found:
        if character == ":" or _is_invisible(character):
            told = "no colon, no control and no invisible character"
            raise InvalidUsername(f"found U+{ord(character):04X} in the name {found!r}; allowed: {told}")
    if found != found.strip() or "  " in found:
        raise InvalidUsername(f"found spaces in the name {found!r}; allowed: single ones between other characters")
    _check_scripts(found)
    _check_marks(found)
    return found


@lru_cache(4096)
def skeleton(text: str) -> str:
    """The same text for all names that look alike, whatever the case of their letters."""
    letters = []
    for character in normalize("NFD", normalize("NFKC", text).translate(CAPITAL_CONFUSABLES).casefold()):
        kind = category(character)
        if kind == "Nd":
            character = str(decimal(character))  # noqa: PLW2901 -- the same digit
        elif kind == "Pd" or character == "−":
            character = "-"  # noqa: PLW2901 -- the same dash
        letters.append(CONFUSABLES.get(character, character))
    found = "".join(letters)
    for pair, letter in CONFUSABLE_PAIRS:
        found = found.replace(pair, letter)
    return found


def _is_invisible(character: str) -> bool:
    code = ord(character)
    if code < 0x7F:
        return code < 0x20
    return (
        category(character)[0] in "CZ"
        or code in INVISIBLE_CODE_POINTS
        or any(code in invisible for invisible in INVISIBLE_RANGES)
    )


def _check_scripts(found: str) -> None:
    if found.isascii():
        return
    scripts = {_script(character, found) for character in found if category(character)[0] == "L"} - {""}
    if len(scripts) > 1 and not any(scripts <= together for together in WRITTEN_TOGETHER):
        told = " and ".join(sorted(scripts))
        raise InvalidUsername(f"found letters of {told} in the name {found!r}; allowed: those of one script")
    if len({ord(character) - decimal(character) for character in found if category(character) == "Nd"}) > 1:
        raise InvalidUsername(f"found digits of several scripts in the name {found!r}; allowed: those of one")


def _script(letter: str, found: str) -> str:
    """The script of a letter, empty where it belongs to none. Raises Misnamed."""
    script = name(letter, "").partition(" ")[0]
    if script in COMMON_LETTERS:
        return ""
    code = ord(letter)
    everyday = EVERYDAY_RANGES.get(script)
    unknown = script not in SCRIPTS or letter in CLICK_LETTERS
    if unknown or (everyday is not None and not any(code in letters for letters in everyday)):
        raise InvalidUsername(f"found U+{code:04X} in the name {found!r}; allowed: letters of scripts in everyday use")
    return script


def _check_marks(found: str) -> None:
    row = 0
    for place, character in enumerate(found):
        row = row + 1 if category(character)[0] == "M" else 0
        base = found[place - row] if place >= row else ""
        if row and (row > MAX_COMBINING_MARKS or not base.isalpha() or character == found[place - 1]):
            raise InvalidUsername(
                f"found a mark in the name {found!r} without a letter of its own; allowed: 1 to {MAX_COMBINING_MARKS}"
            )
