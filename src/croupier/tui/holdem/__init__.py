"""Terminal interface for hold'em."""

from croupier.tui.holdem.interaction import interact

__all__ = ["interact"]
