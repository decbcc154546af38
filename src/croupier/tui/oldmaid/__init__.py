"""Old Maid on the terminal: a person's seat in a ring."""

from croupier.tui.oldmaid.interaction import interact

__all__ = ["interact"]
