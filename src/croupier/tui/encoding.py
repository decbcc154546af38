"""Texts that the terminal can show: its encoding may lack characters, and texts of others may hold control codes."""

import sys


def encodable_or(text: str, fallback: str) -> str:
    """Return `text`, or `fallback` if standard output cannot encode it."""
    try:
        text.encode(getattr(sys.__stdout__, "encoding", "ascii"))  # sys.stdout may be a proxy without encoding
    except UnicodeEncodeError:
        return fallback
    return text


def terminal_text(text: object) -> str:
    """Return a text with `?` for every character that is not printable or that the terminal cannot show.

    >>> terminal_text("a\\x1b[2J")
    'a?[2J'
    """
    return "".join(encodable_or(sign, "?") if sign.isprintable() else "?" for sign in str(text))
