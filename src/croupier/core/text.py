"""Escaping of untrusted text (names, peers' messages and errors) before it reaches a terminal or a log."""

from typing import Final

MAX_CHARS: Final = 2000
"""The default maximum length of untrusted text on one line."""


def printable(text: str, limit: int = MAX_CHARS, *, keep: str = "") -> str:
    r"""Escape unprintable characters, as in `\x1b` or `\u202e`, so that the text is one harmless line on a terminal.

    Control characters, line ends, bidirectional overrides and zero-width characters are escaped, except those in
    `keep`. Text of more than `limit` characters is cut, and a note gives its length.

    >>> print(printable("\x1b[2Jann"))
    \x1b[2Jann
    >>> printable("abcdef", 3)
    'abc... (6 characters)'
    """
    if len(text) > limit:
        text, more = text[:limit], f"... ({len(text):,} characters)"
    else:
        more = ""
    if text.isprintable():
        return text + more
    return "".join(char if char.isprintable() or char in keep else repr(char)[1:-1] for char in text) + more
