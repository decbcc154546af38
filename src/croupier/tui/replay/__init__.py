"""Games that were played, to be looked at again step by step, from the store or from a file."""

from croupier.tui.replay.reader import read
from croupier.tui.replay.screen import show, told
from croupier.tui.replay.steps import Step, Story

__all__ = ["Step", "Story", "read", "show", "told"]
