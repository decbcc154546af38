"""Hold'em on the terminal: a person's seat at a table of a server."""

from croupier.tui.holdem.table import person

__all__ = ["person"]
