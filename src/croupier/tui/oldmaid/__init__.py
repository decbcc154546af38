"""Terminal interface for Old Maid."""

from croupier.tui.oldmaid.interaction import interact

__all__ = ["interact"]
