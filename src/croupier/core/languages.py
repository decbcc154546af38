"""The languages of the texts for people: the catalogues that are installed, by locale."""

from collections.abc import Sequence
from functools import cache
from gettext import NullTranslations, translation
from pathlib import Path
from typing import Final

CATALOGUES: Final = Path(__file__).parents[1] / "locales"
DOMAIN: Final = "croupier"
DEFAULT_LOCALE: Final = "en"
ALIASES: Final = {"no": "nb", "nn": "nb"}
"""Languages whose readers get the catalogue of another one."""


@cache
def locales() -> Sequence[str]:
    """Return the locales with a catalogue, and English, sorted."""
    found = {path.parents[1].name for path in CATALOGUES.glob(f"*/LC_MESSAGES/{DOMAIN}.mo")}
    return sorted(found | {DEFAULT_LOCALE})


@cache
def catalogue(locale: str) -> NullTranslations:
    """Return the catalogue of a locale; English texts are their own translations."""
    return translation(DOMAIN, CATALOGUES, [locale], fallback=True)


def first_locale(languages: Sequence[str]) -> str:
    """Return the locale of the first of some language tags that has a catalogue, English if none has.

    >>> first_locale(["xx", "en-GB"]), first_locale(["C.UTF-8"])
    ('en', 'en')
    """
    for language in languages:
        short = language.strip().lower().replace("_", "-").partition("-")[0].partition(".")[0]
        if (locale := ALIASES.get(short, short)) in locales():
            return locale
    return DEFAULT_LOCALE
