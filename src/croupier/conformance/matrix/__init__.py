"""Matrix of a class: every client plays against every server."""
