"""Games that were played, to be looked at again step by step, from the store or from a file."""

from croupier.tui.replay.reader import read_replay
from croupier.tui.replay.screen import replay_lines, show_replay
from croupier.tui.replay.steps import GameReplay, ReplayStep

__all__ = ["GameReplay", "ReplayStep", "read_replay", "replay_lines", "show_replay"]
