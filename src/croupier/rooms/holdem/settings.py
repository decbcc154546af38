"""What can be set about a house of hold'em: the blinds, the chips, the seats and the pace."""

from dataclasses import dataclass

from croupier.rooms.holdem.rules import MAX_SEATS
from croupier.rooms.holdem.wire import Dialect

MAX_CHIPS = 10**12
"""The most chips a player may bring: ten times as many are still exact in any JSON reader."""

MAX_SECONDS = 366 * 86_400.0
"""The longest time that can be set, in seconds."""


@dataclass(frozen=True)
class Settings:
    """What can be set about the house of hold'em."""

    blinds: str = "10/20"
    """The small and the big blind, in chips."""

    stack: int = 10_000
    """The chips that everybody brings who sits down."""

    seats: int = 10
    """The seats of a table, 2 to 10."""

    turn_seconds: float = 15.0
    """How long a player has for an act before he is removed."""

    ante: int = 0
    """The chips that everybody puts in before every hand."""

    straddle: int = 0
    """A third blind, behind the big blind, where more than two play: twice the big blind or more, or 0 for none."""

    pause_seconds: float = 0.0
    """How long the end of a hand is shown before the next one begins."""

    dialect: Dialect = "readme"
    """How the document is read: as it stands, or as the published server speaks it."""

    games: int = 10_000
    """How many games there are before nobody may open another one."""

    games_per_user: int = 20
    """Games that one user may be in at the same time, seats and queues together; 0: no limit."""

    empty_seconds: float = 3600.0
    """Remove a game that nobody has joined for this long, if another one has a free seat; 0: never."""

    listed: int = 100
    """Games in one answer to GET /games/, at most; the others are on further pages."""

    history: int = 100
    """How many finished hands of every game are kept for export."""

    requests_per_minute: int | None = None
    """How many requests from one address are answered in a minute; without it as many as come."""

    def check(self) -> None:
        """Raise ValueError on what makes no sense."""
        small, big = self.blind_amounts
        if not 0 <= small <= big or big == 0:
            raise ValueError(
                f"found the blinds {self.blinds}; allowed: two amounts, the big blind positive and the larger"
            )
        for name, found, least, most in (
            ("a stack", self.stack, 1, MAX_CHIPS),
            ("seats", self.seats, 2, MAX_SEATS),
            ("an ante", self.ante, 0, MAX_CHIPS),
            ("a big blind", big, 1, MAX_CHIPS),
            ("games", self.games, 1, MAX_CHIPS),
            ("games of a user", self.games_per_user, 0, MAX_CHIPS),
            ("seconds for an empty game", self.empty_seconds, 0.0, MAX_SECONDS),
            ("games in a list", self.listed, 1, MAX_CHIPS),
            ("kept hands", self.history, 0, MAX_CHIPS),
            ("requests a minute", 1 if self.requests_per_minute is None else self.requests_per_minute, 1, MAX_CHIPS),
            ("seconds for an act", self.turn_seconds, 0.001, MAX_SECONDS),
            ("seconds between hands", self.pause_seconds, 0.0, MAX_SECONDS),
        ):
            if not least <= found <= most:
                raise ValueError(f"found {name}: {found}; allowed: {least:,} to {most:,}")
        if self.straddle and not 2 * big <= self.straddle <= MAX_CHIPS:
            raise ValueError(f"found a straddle of {self.straddle}; allowed: 0, or {2 * big} and more")

    def check_compatible(self, saved: "Settings") -> None:
        """Raise ValueError where the tables of these settings cannot go on with what was played by other ones."""
        for name in ("blinds", "stack", "seats", "ante", "straddle", "dialect"):
            found, allowed = getattr(self, name), getattr(saved, name)
            if found != allowed:
                raise ValueError(f"found {name} {found} for tables that were kept; allowed: theirs, {allowed}")

    @property
    def blind_amounts(self) -> tuple[int, int]:
        """The small and the big blind. Raises ValueError where they are not two numbers."""
        small, slash, big = self.blinds.partition("/")
        if not (slash and small.isdecimal() and small.isascii() and big.isdecimal() and big.isascii()):
            raise ValueError(f"found the blinds {self.blinds!r}; allowed: two whole numbers, as 10/20")
        return int(small[:20]), int(big[:20])
