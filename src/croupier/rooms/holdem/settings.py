"""Settings of a hold'em house: blinds, stacks, seats, timeouts and limits."""

from dataclasses import dataclass

from croupier.core.ranges import MAX_SECONDS, check_ranges
from croupier.rooms.holdem.engine.stakes import MAX_SEATS, STARTING_STACK, Stakes
from croupier.rooms.holdem.wire import Dialect

MAX_CHIPS = 10**12
"""The largest stack: a table of ten such stacks still has an exact sum in any JSON reader."""


@dataclass(frozen=True)
class Settings:
    """Settings of a hold'em house. The command line has a flag for each field.

    Example:
        >>> settings = Settings(blinds="50/100")
        >>> settings.stakes.big_blind, settings.seats
        (100, 10)
    """

    blinds: str = "10/20"
    """The small and the big blind, in chips."""

    stack: int = STARTING_STACK
    """The chips with which a player sits down."""

    seats: int = 10
    """The seats of a table, 2 to 10."""

    turn_seconds: float = 15.0
    """Seconds a player has to act before they are removed."""

    ante: int = 0
    """The chips that each player puts in before every hand."""

    straddle: int = 0
    """A third blind, left of the big blind, with three or more players: at least twice the big blind; 0: none."""

    pause_seconds: float = 0.0
    """Seconds to show the end of a hand before the next one begins."""

    dialect: Dialect = "readme"
    """The dialect of the protocol: as in the document, or as the published server speaks it."""

    games: int = 10_000
    """The most games; no more can be opened."""

    games_per_user: int = 20
    """The most games that a user may be in at the same time, seated or queued; 0: no limit."""

    empty_seconds: float = 3600.0
    """Seconds before a game without players is removed, if another one has a free seat; 0: never."""

    listed: int = 100
    """The most games in one answer to GET /games/; the others are on further pages."""

    history: int = 100
    """The number of finished hands of each game to keep for export."""

    requests_per_minute: int | None = None
    """The most requests per minute from one address. [default: no limit]"""

    def check(self) -> None:
        """Validate all settings. Raises ValueError on the first invalid one."""
        stakes = self.stakes
        small, big = stakes.small_blind, stakes.big_blind
        if not 0 <= small <= big or big == 0:
            raise ValueError(f"found the blinds {self.blinds}; allowed: SMALL/BIG, with 0 <= SMALL <= BIG and BIG >= 1")
        check_ranges(
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
        )
        if self.straddle and not 2 * big <= self.straddle <= MAX_CHIPS:
            raise ValueError(f"found a straddle of {self.straddle}; allowed: 0, or {2 * big} and more")

    def check_compatible(self, saved: "Settings") -> None:
        """Check that tables saved under other settings can continue under these. Raises ValueError if they cannot."""
        for name in ("blinds", "stack", "seats", "ante", "straddle", "dialect"):
            found, allowed = getattr(self, name), getattr(saved, name)
            if found != allowed:
                raise ValueError(f"found {name} {found} for saved tables; allowed: {allowed}, as saved")

    @property
    def stakes(self) -> Stakes:
        """The forced bets of every hand. Raises ValueError if `blinds` is not two numbers."""
        small, slash, big = self.blinds.partition("/")
        if not (slash and small.isdecimal() and small.isascii() and big.isdecimal() and big.isascii()):
            raise ValueError(f"found the blinds {self.blinds!r}; allowed: two whole numbers such as 10/20")
        return Stakes(int(small[:20]), int(big[:20]), self.ante, self.straddle)
