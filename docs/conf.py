"""Sphinx builds these pages: `make docs`."""

import re

from sphinx.application import Sphinx

project = "croupier"
copyright = "the croupier developers"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "croupier"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings: list[str] = []

CITATION = re.compile(r"\[(?=§\d|[GKSBHOP]\d)[^\[\]]+\](?!\()")
"""The sources of a clause, as they stand at its end: `[§3.1; K5]`."""
RULING = re.compile(r"\b[GKSBHO]\d{1,2}\b")


def link_rulings(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make every ruling that a clause cites a link to its text."""
    if page.startswith("protocols/"):
        source[0] = CITATION.sub(lambda cited: RULING.sub(_link, cited[0]), source[0])


def _link(ruling: re.Match[str]) -> str:
    return f"[{ruling[0]}](#ruling-{ruling[0].lower()})"


def setup(app: Sphinx) -> None:
    app.connect("source-read", link_rulings)
