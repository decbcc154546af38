"""What can be set about a table of Old Maid: how many play, and how long everybody waits."""

from dataclasses import dataclass

from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.wire import Dialect

MAX_SECONDS = 366 * 86_400.0
"""The longest time that can be set, in seconds."""


@dataclass(frozen=True)
class Settings:
    """What can be set about the table of Old Maid."""

    players: int = 4
    """How many have to join before a game starts, 2 to 8."""

    join_window: float = 10.0
    """A game also starts so many seconds after the second player has joined."""

    stuck_seconds: float = 120.0
    """A game in which nothing happens for so long is void."""

    dialect: Dialect = "document"
    """How the players are listed: as the document says, or as the table of the exercise did."""

    def check(self) -> None:
        """Raise ValueError on what makes no sense."""
        for name, found, least, most in (
            ("players", self.players, MIN_PLAYERS, MAX_PLAYERS),
            ("seconds to join in", self.join_window, 0.0, MAX_SECONDS),
            ("seconds until a game is stuck", self.stuck_seconds, 0.001, MAX_SECONDS),
        ):
            if not least <= found <= most:
                raise ValueError(f"found {name}: {found}; allowed: {least:,} to {most:,}")
