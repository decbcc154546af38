"""The time of a person at a table, who keeps the seat when it runs out (holdem-9.15)."""

from typing import Final

from msgspec import Struct

TIME_BANK_SECONDS: Final = 60.0
"""The most that a time bank holds, and what it holds at the start."""

TIME_BANK_SECONDS_PER_HAND: Final = 5.0
MAX_TIMEOUTS: Final = 2
"""A person is away after this many turns in a row without an act."""

AWAY_TURN_SECONDS: Final = 1.0
"""The time of a turn of a person who is away: long enough for the others to see what happens."""

SHOWDOWN_SECONDS: Final = 3.0
"""The least time for which people see the cards of a showdown."""

MAX_MISSED_BLINDS: Final = 15
"""A person who is away loses the seat after this many big blinds."""


class PersonClock(Struct):
    """The time of a person: the seconds left in the time bank, turns in a row without an act, and big blinds missed."""

    bank: float = TIME_BANK_SECONDS
    timeouts: int = 0
    missed_blinds: int = 0

    @property
    def is_away(self) -> bool:
        """Whether nobody seems to be there."""
        return self.timeouts >= MAX_TIMEOUTS

    @property
    def has_left(self) -> bool:
        """Whether the person has been away for so long that the seat is free."""
        return self.missed_blinds >= MAX_MISSED_BLINDS

    def turn_seconds(self, seconds: float) -> float:
        """Return the time of a turn, which is `seconds` for programs."""
        return AWAY_TURN_SECONDS if self.is_away else seconds + self.bank

    def begin_hand(self, *, is_big_blind: bool) -> None:
        """Add to the time bank; count the blinds that are missed."""
        self.bank = min(TIME_BANK_SECONDS, self.bank + TIME_BANK_SECONDS_PER_HAND)
        self.missed_blinds += is_big_blind and self.is_away

    def act(self, seconds_left: float) -> None:
        """Note an act of the person, with this much time left."""
        if not self.is_away:
            self.bank = max(0.0, min(self.bank, seconds_left))
        self.come_back()

    def time_out(self) -> None:
        """Note that a turn has passed without an act."""
        if not self.is_away:
            self.bank = 0.0
        self.timeouts += 1

    def come_back(self) -> None:
        """Note that the person is there."""
        self.timeouts = self.missed_blinds = 0
