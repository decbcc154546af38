"""Hold'em on the terminal: a person's seat at a table of a server."""

from croupier.tui.holdem.interaction import interact

__all__ = ["interact"]
