"""Text of others, fit to be shown: names, error messages and garbage of peers never reach a terminal or a log raw."""

from typing import Final

MAX_CHARS: Final = 2000
"""Longer texts of others are cut where they are shown on one line."""


def printable(text: str, limit: int = MAX_CHARS, *, keep: str = "") -> str:
    r"""A text on one line of which a terminal obeys nothing: what is not printable is escaped as in `\x1b` or `\u202e`.

    Control characters, line ends, bidirectional overrides and characters of no width are escaped, but those in `keep`.
    More than `limit` characters are cut to it, with a note of how many there were.
    """
    if len(text) > limit:
        text, more = text[:limit], f"... ({len(text):,} characters)"
    else:
        more = ""
    if text.isprintable():
        return text + more
    return "".join(sign if sign.isprintable() or sign in keep else repr(sign)[1:-1] for sign in text) + more
