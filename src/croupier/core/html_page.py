"""The frame and the style that all self-contained pages of HTML share: reports, the matrix, results of the arena."""

from collections.abc import Iterable
from html import escape
from typing import Final

from croupier.core.text import printable

FRAME_STYLESHEET: Final = """
:root { color-scheme: light dark; --line: #8886; --paper: light-dark(#fff, #181818); --shade: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--paper); }
"""
CONTENT_STYLESHEET: Final = """
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2rem; } .wide { position: relative; overflow-x: auto; }
pre, code { font: 0.875rem/1.45 ui-monospace, monospace; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; } summary { cursor: pointer; }
details { border: 1px solid var(--line); border-radius: 0.3rem; margin: 0.25rem 0; padding: 0.25rem 0.75rem; }
"""


def page(title: str, stylesheet: str, body: Iterable[str]) -> str:
    """A self-contained page of HTML without scripts. The title is text, the lines of the body are HTML."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<title>{html_text(title)}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{FRAME_STYLESHEET}{CONTENT_STYLESHEET}{stylesheet}</style>\n</head>\n<body>\n<h1>{html_text(title)}</h1>",
    )
    return "\n".join([*head, *body, "</body>\n</html>\n"])


def html_text(text: str) -> str:
    r"""Escape untrusted text for HTML.

    >>> html_text("<b>\x1b")
    '&lt;b&gt;\\x1b'
    """
    return escape(printable(text, len(text), keep="\n\t"))
