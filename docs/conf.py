"""Sphinx builds these pages: `make docs`."""

from sphinx.application import Sphinx

from croupier.web.protocols import link_rulings

project = "croupier"
copyright = "the croupier developers"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "croupier"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings: list[str] = []


def link_cited_rulings(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make every ruling that a clause cites a link to its text."""
    if page.startswith("protocols/"):
        source[0] = link_rulings(source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", link_cited_rulings)
