"""User names: validation, normalization, and detection of names that look alike.

Names are stored in Unicode normalization form NFKC. All letters of a name are of one script, or of scripts that are
written together (the "highly restrictive" level of Unicode TS #39), and it has no invisible characters. Names with the
same skeleton look alike, so a skeleton may belong to only one user.
"""

# ruff: noqa: RUF001 -- this module lists confusable characters

from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from unicodedata import category, decimal, name, normalize

MAX_NAME_CHARACTERS: Final = 64
MAX_COMBINING_MARKS: Final = 4
"""The maximum number of consecutive combining marks on a letter."""

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
"""The scripts in everyday use (Unicode Annex #31, table 5), as the first word of the names of their letters."""

WRITTEN_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
COMMON_LETTERS: Final = frozenset({"KATAKANA-HIRAGANA", "IDEOGRAPHIC", "MODIFIER"})
"""The first words of the names of letters that belong to no single script."""

EVERYDAY_RANGES: Final[Mapping[str, tuple[range, ...]]] = {
    "LATIN": (range(0x250), range(0x1E00, 0x1F00)),
    "GREEK": (range(0x370, 0x400), range(0x1F00, 0x2000)),
    "CYRILLIC": (range(0x400, 0x530),),
}
"""The allowed ranges of scripts with confusable letters; phonetic, historic and ornamental letters are rejected."""

INVISIBLE_CODE_POINTS: Final = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
INVISIBLE_RANGES: Final = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))
"""Invisible letters, marks and symbols; all characters of the categories C and Z are invisible as well."""

CLICK_LETTERS: Final = "ǀǁǂǃ"

CAPITAL_CONFUSABLES: Final = str.maketrans("ΗΜΝΥ", "hmny")
"""Capitals that resemble a different Latin letter than their lower-case forms."""

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
"""Decomposed lower-case letters and marks that resemble another: mainly Latin, Greek, Cyrillic and Armenian."""

CONFUSABLE_PAIRS: Final = (("l\u0307", "l"), ("rn", "m"), ("vv", "w"))
"""Sequences that resemble a single letter."""


GUEST_PREFIX: Final = "guest:"
BOT_PREFIX: Final = "bot:"
"""Guests, and bots of the server, play without an account; no account that can log in has a name with a colon."""


class InvalidUsername(ValueError):
    """A name that is not allowed for a new user."""


def guest_name(suffix: str) -> str:
    """The name of a guest.

    >>> guest_name("7f3a")
    'guest:7f3a'
    """
    return f"{GUEST_PREFIX}{suffix}"


def has_account(name: str) -> bool:
    """Whether a name can be that of an account: not that of a guest or of a bot of the server.

    >>> has_account("ann"), has_account("bot:1")
    (True, False)
    """
    return not name.startswith((GUEST_PREFIX, BOT_PREFIX))


def normalize_username(text: str) -> str:
    """The NFKC form, in which names are stored and compared."""
    return text if text.isascii() else normalize("NFKC", text)


def validate_username(text: str) -> str:
    """The normalized name of a new user. Raises InvalidUsername.

    >>> validate_username("\\uff41nn")  # a full-width a
    'ann'
    """
    if (
        not 0 < len(text) <= MAX_NAME_CHARACTERS
        or not 0 < len(normalized := normalize_username(text)) <= MAX_NAME_CHARACTERS
    ):
        raise InvalidUsername(
            f"found the name {text[:MAX_NAME_CHARACTERS]!r}; allowed: 1 to {MAX_NAME_CHARACTERS} characters"
        )
    for character in normalized:
        if character == ":" or _is_invisible(character):
            allowed = "no colon, no control and no invisible character"
            raise InvalidUsername(f"found U+{ord(character):04X} in the name {normalized!r}; allowed: {allowed}")
    if normalized != normalized.strip() or "  " in normalized:
        raise InvalidUsername(f"found spaces in the name {normalized!r}; allowed: single ones between other characters")
    _check_scripts(normalized)
    _check_marks(normalized)
    return normalized


@lru_cache(4096)
def skeleton(text: str) -> str:
    """A text that is the same for all names that look alike, ignoring case.

    >>> skeleton("paypaI") == skeleton("PayPal")
    True
    """
    letters = []
    for character in normalize("NFD", normalize("NFKC", text).translate(CAPITAL_CONFUSABLES).casefold()):
        kind = category(character)
        if kind == "Nd":
            character = str(decimal(character))  # noqa: PLW2901 -- digits of all scripts are equal
        elif kind == "Pd" or character == "−":
            character = "-"  # noqa: PLW2901 -- all dashes are equal
        letters.append(CONFUSABLES.get(character, character))
    result = "".join(letters)
    for pair, letter in CONFUSABLE_PAIRS:
        result = result.replace(pair, letter)
    return result


def _is_invisible(character: str) -> bool:
    code = ord(character)
    if code < 0x7F:
        return code < 0x20
    return (
        category(character)[0] in "CZ"
        or code in INVISIBLE_CODE_POINTS
        or any(code in invisible for invisible in INVISIBLE_RANGES)
    )


def _check_scripts(text: str) -> None:
    if text.isascii():
        return
    scripts = {script for character in text if category(character)[0] == "L" and (script := _script(character, text))}
    if len(scripts) > 1 and not any(scripts <= group for group in WRITTEN_TOGETHER):
        names = " and ".join(sorted(scripts))
        raise InvalidUsername(f"found letters of {names} in the name {text!r}; allowed: those of one script")
    if len({ord(character) - decimal(character) for character in text if category(character) == "Nd"}) > 1:
        raise InvalidUsername(f"found digits of several scripts in the name {text!r}; allowed: those of one")


def _script(letter: str, text: str) -> str | None:
    """The script of a letter of a name, None if the letter belongs to no single script. Raises InvalidUsername."""
    script = name(letter, "").partition(" ")[0]
    if script in COMMON_LETTERS:
        return None
    code = ord(letter)
    everyday = EVERYDAY_RANGES.get(script)
    is_unknown = script not in SCRIPTS or letter in CLICK_LETTERS
    if is_unknown or (everyday is not None and not any(code in letters for letters in everyday)):
        raise InvalidUsername(f"found U+{code:04X} in the name {text!r}; allowed: letters of scripts in everyday use")
    return script


def _check_marks(text: str) -> None:
    marks = 0  # consecutive marks so far
    for at, character in enumerate(text):
        marks = marks + 1 if category(character)[0] == "M" else 0
        base = text[at - marks] if at >= marks else ""
        if marks and (marks > MAX_COMBINING_MARKS or not base.isalpha() or character == text[at - 1]):
            raise InvalidUsername(
                f"found a mark in the name {text!r} without a letter of its own; allowed: 1 to {MAX_COMBINING_MARKS}"
            )
