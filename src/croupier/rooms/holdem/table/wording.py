"""How a table of hold'em puts times and reasons into words."""

from datetime import UTC, datetime
from functools import lru_cache

from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.wire import MAX_AMOUNT


def to_microseconds(seconds: float) -> int:
    """A time in whole microseconds, which is as exact as a time of today in a float can be."""
    return round(seconds * 1_000_000)


def format_expiry(unix_microseconds: int) -> str:
    """A time in microseconds since 1970 as in RFC 3339, in UTC, with six decimals (holdem-5.11)."""
    second, millionths = divmod(unix_microseconds, 1_000_000)
    return f"{_format_second(second)}.{millionths:06}Z"


@lru_cache(maxsize=64)
def _format_second(seconds: int) -> str:
    """The beginning of a time, kept because everybody who is asked within a second has the same."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def invalid_bet_reason(chips: int, legal: Legal) -> str:
    """Why a bet is invalid, in ASCII: what was found, and what was allowed (holdem-4.7)."""
    found = chips if -MAX_AMOUNT < chips < MAX_AMOUNT else "a number of 19 digits or more"
    allowed = f"{legal.call} to call" if legal.call else "0 to check"
    match legal.raise_range:
        case (low, high) if low < high:
            allowed += f", {low} to {high} to raise"
        case (low, _):
            allowed += f", {low} to raise"
    return f"found {found}; allowed: {allowed}"
