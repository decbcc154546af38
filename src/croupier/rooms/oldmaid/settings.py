"""Settings of an Old Maid table."""

from dataclasses import dataclass

from croupier.core.ranges import MAX_SECONDS, check_ranges
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.wire import Dialect


@dataclass(frozen=True)
class Settings:
    """The settings of an Old Maid table.

    Example:
        >>> Settings(players=9).check()
        Traceback (most recent call last):
        ...
        ValueError: found players: 9; allowed: 2 to 8
    """

    players: int = 4
    """The number of players that a game starts with, 2 to 8."""

    join_window: float = 10.0
    """Seconds after the second player's join until a game starts with fewer players."""

    stuck_seconds: float = 120.0
    """Seconds without any action after which a game is void."""

    dialect: Dialect = "document"
    """The form of the player list: as in the document, or njaal: as the exercise's table sends it."""

    def check(self) -> None:
        """Raise ValueError if a setting is out of range."""
        check_ranges(
            ("players", self.players, MIN_PLAYERS, MAX_PLAYERS),
            ("seconds to join in", self.join_window, 0.0, MAX_SECONDS),
            ("seconds until a game is stuck", self.stuck_seconds, 0.001, MAX_SECONDS),
        )
