"""The clock of a hold'em server, and the time that it gives a player."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Final

from croupier.clients.holdem_api import ApiRequest, ApiResponse, HoldemApi
from croupier.rooms.holdem.table.wording import parse_expiry

MAX_CLOCK_SKEW_SECONDS: Final = 2.0
"""Larger differences to the server's clock are corrected. Its Date header has a resolution of one second."""


async def clock_offset(api: HoldemApi, clock: Callable[[], float]) -> float:
    """Return the seconds by which the server's clock is ahead of `clock`; 0.0 if the difference is small or unknown."""
    reply = await api.exchange.request(ApiRequest("GET", "/games/"))
    try:
        date = parsedate_to_datetime(reply.headers["date"] if isinstance(reply, ApiResponse) else "")
    except (KeyError, ValueError):
        return 0.0
    offset = date.timestamp() + 0.5 - clock()
    return offset if abs(offset) > MAX_CLOCK_SKEW_SECONDS else 0.0


def seconds_left(expiry: str, now: float) -> int | None:
    """Return the whole seconds from `now` (seconds since the epoch) to an expiry time, None if it cannot be parsed.

    >>> seconds_left("1970-01-01T00:01:00Z", 45.0)
    15
    """
    end = parse_expiry(expiry)
    return None if end is None else max(0, ceil(end - now))
