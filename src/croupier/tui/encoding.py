"""Texts as the terminal can show them: in its language and encoding, and without control codes of others."""

import os
import sys
from functools import cache
from gettext import NullTranslations
from typing import Final

from croupier.core.languages import catalogue, first_locale
from croupier.core.presentation import Text

LANGUAGE_VARIABLES: Final = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables that name the languages of a person, the first of them that is set (as in gettext)."""


def terminal_locale() -> str:
    """Return the locale of the language of the environment."""
    set_variables = (os.environ[name] for name in LANGUAGE_VARIABLES if os.environ.get(name))
    return first_locale(next(set_variables, "").split(":"))


@cache
def terminal_catalogue() -> NullTranslations:
    """Return the catalogue of the language of the environment."""
    return catalogue(terminal_locale())


def encodable_or(text: str, fallback: str) -> str:
    """Return `text`, or `fallback` if standard output cannot encode it."""
    try:
        text.encode(getattr(sys.__stdout__, "encoding", "ascii"))  # sys.stdout may be a proxy without encoding
    except UnicodeEncodeError:
        return fallback
    return text


def terminal_text(text: Text | str) -> str:
    """Return a text in the person's language, with `?` for what is not printable or the terminal cannot show.

    >>> terminal_text("a\\x1b[2J")
    'a?[2J'
    """
    words = text if isinstance(text, str) else text.translate(terminal_catalogue())
    return "".join(encodable_or(sign, "?") if sign.isprintable() else "?" for sign in words)
