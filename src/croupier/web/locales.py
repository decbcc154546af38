"""Languages of the web app: the catalogues that are installed, and which of them a browser gets."""

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


def choose_locale(chosen: str | None, accept_language: str) -> str:
    """Return the locale that was chosen, or else the first language that a browser accepts and that has a catalogue.

    >>> choose_locale(None, "xx, en;q=0.5"), choose_locale("xx", "")
    ('en', 'en')
    """
    wanted = [] if chosen is None else [chosen]
    wanted += [language for _, language in sorted(map(_weigh, accept_language.split(",")), key=lambda each: -each[0])]
    for language in wanted:
        short = language.strip().lower().partition("-")[0]
        if (locale := ALIASES.get(short, short)) in locales():
            return locale
    return DEFAULT_LOCALE


def _weigh(element: str) -> tuple[float, str]:
    """Return the weight and the language of an element of Accept-Language."""
    language, _, weight = element.partition(";q=")
    try:
        return float(weight or 1), language
    except ValueError:
        return 0.0, language
