"""Old Maid on the terminal: a person's seat in a ring."""

from croupier.tui.oldmaid.table import person

__all__ = ["person"]
