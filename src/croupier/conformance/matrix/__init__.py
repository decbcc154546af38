"""A class: every client plays at every server."""
