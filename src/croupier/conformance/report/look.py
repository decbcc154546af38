"""How results look in terminals and browsers, and the frame of a page."""

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from croupier.conformance.report.hexdump import printable


class Look(NamedTuple):
    """How a kind of result looks: a sign that is readable without colour, and a style of rich.

    `light` and `dark` are its colours in a browser in light and in dark mode, chosen for contrast and colour-blind
    readers.
    """

    sign: str
    style: str
    light: str
    dark: str

    def rule(self, selector: str) -> str:
        """The colour as a rule of a style sheet."""
        return f"{selector} {{ color: light-dark({self.light}, {self.dark}); }}"


def page(title: str, stylesheet: str, body: Iterable[str]) -> str:
    """A self-contained page of HTML without scripts. The title is text, the lines of the body are HTML."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f"<title>{html_text(title)}</title>",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{stylesheet}</style>\n</head>\n<body>\n<h1>{html_text(title)}</h1>",
    )
    return "\n".join([*head, *body, "</body>\n</html>\n"])


def html_text(text: str) -> str:
    """Escape untrusted text for HTML."""
    return escape(printable(text))
