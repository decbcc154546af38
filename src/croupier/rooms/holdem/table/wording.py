"""Text forms of turn expiries, as they are written and read, and of the reasons for invalid bets."""

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


def parse_expiry(expiry: str) -> float | None:
    """Return an expiry time in seconds since the epoch, None if it cannot be parsed.

    The format is RFC 3339 (holdem-5.11), or that of the document's example.

    >>> parse_expiry("1970-01-01T00:01:00Z")
    60.0
    >>> parse_expiry("2014-09-24 15:14:53.021303798 -0400 EDT")
    1411586093.021303
    """
    date, *rest = expiry.split() or [""]
    try:
        end = datetime.fromisoformat(f"{date}T{''.join(rest[:2])}" if rest else date)
        return (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=64)
def _format_second(seconds: int) -> str:
    """Format whole seconds. Cached because many turns end within the same second."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def invalid_bet_reason(chips: int, legal: Legal) -> str:
    """Return the reason why a bet is invalid, in ASCII, with the found and the allowed amounts (holdem-4.7)."""
    found = chips if -MAX_AMOUNT < chips < MAX_AMOUNT else "a number of 19 digits or more"
    return f"found {found}; allowed: {allowed_bets(legal)}"


def allowed_bets(legal: Legal) -> str:
    """Return the amounts of the valid bets in words."""
    allowed = f"{legal.call} to call" if legal.call else "0 to check"
    match legal.raise_range:
        case (_, high) if not legal.can_be_answered:
            allowed += f", or more up to {high}, which counts as a call"
        case (low, high) if low < high:
            allowed += f", {low} to {high} to raise"
        case (low, _):
            allowed += f", {low} to raise"
    return allowed
