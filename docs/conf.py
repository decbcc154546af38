"""Sphinx builds these pages: `make docs`."""

project = "croupier"
copyright = "the croupier developers"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "croupier"
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings: list[str] = []
