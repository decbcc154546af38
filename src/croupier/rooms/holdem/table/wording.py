"""Text forms of turn expiries and of the reasons for invalid bets."""

from datetime import UTC, datetime
from functools import lru_cache

from croupier.rooms.holdem.engine.legal import Legal
from croupier.rooms.holdem.wire import MAX_AMOUNT


def format_expiry(unix_microseconds: int) -> str:
    """Format a Unix time in microseconds by RFC 3339, in UTC with six decimals (holdem-5.11).

    Example:
        >>> format_expiry(1_411_570_493_021_303)
        '2014-09-24T14:54:53.021303Z'
    """
    second, millionths = divmod(unix_microseconds, 1_000_000)
    return f"{_format_second(second)}.{millionths:06}Z"


@lru_cache(maxsize=64)
def _format_second(seconds: int) -> str:
    """Format whole seconds. Cached because many turns end within the same second."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def invalid_bet_reason(chips: int, legal: Legal) -> str:
    """Return the reason why a bet is invalid, in ASCII, with the found and the allowed amounts (holdem-4.7)."""
    found = chips if -MAX_AMOUNT < chips < MAX_AMOUNT else "a number of 19 digits or more"
    allowed = f"{legal.call} to call" if legal.call else "0 to check"
    match legal.raise_range:
        case (low, high) if low < high:
            allowed += f", {low} to {high} to raise"
        case (low, _):
            allowed += f", {low} to raise"
    return f"found {found}; allowed: {allowed}"
