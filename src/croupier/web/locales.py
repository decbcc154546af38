"""Languages of the web app: which of the installed catalogues a browser gets."""

from collections.abc import Callable
from functools import cache

from croupier.core.languages import catalogue, first_locale
from croupier.core.presentation import Text


def choose_locale(chosen: str | None, accept_language: str) -> str:
    """Return the locale that was chosen, or else the first language that a browser accepts and that has a catalogue.

    >>> choose_locale(None, "xx, en;q=0.5"), choose_locale("xx", "")
    ('en', 'en')
    """
    wanted = [] if chosen is None else [chosen]
    wanted += [language for _, language in sorted(map(_weigh, accept_language.split(",")), key=lambda each: -each[0])]
    return first_locale(wanted)


@cache
def translator(locale: str) -> Callable[[Text], str]:
    """Return a function that translates texts into a language."""
    translations = catalogue(locale)
    return lambda text: text.translate(translations)


def _weigh(element: str) -> tuple[float, str]:
    """Return the weight and the language of an element of Accept-Language."""
    language, _, weight = element.partition(";q=")
    try:
        return float(weight or 1), language
    except ValueError:
        return 0.0, language
