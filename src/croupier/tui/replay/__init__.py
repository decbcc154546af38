"""Step-by-step replay of recorded games, from the store or from a file."""

from croupier.tui.replay.reader import read_replay
from croupier.tui.replay.steps import GameReplay, ReplayStep, replay_lines

__all__ = ["GameReplay", "ReplayStep", "read_replay", "replay_lines"]
