"""Query parameters and conditions of read requests."""

import re
from typing import Final
from urllib.parse import parse_qs

from croupier.http.messages import HTTPError

DECIMAL_PATTERN: Final = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
INTEGER_PATTERN: Final = re.compile(r"-?[0-9]+")
NATURAL_PATTERN: Final = re.compile(r"[0-9]+")


def parse_wait_parameters(query: bytes) -> tuple[float | None, int | None]:
    """The seconds to wait and the known version in a query, or None for each that is absent. Raises HTTPError."""
    parameters = _parse_query(query)
    wait: float | None = None
    since: int | None = None
    if "wait" in parameters:
        text = parameters["wait"][-1]
        if not DECIMAL_PATTERN.fullmatch(text):
            raise HTTPError(400, "holdem-9.5", f"found wait={text[:40]!r}; allowed: seconds, 0 or more")
        wait = float(text)
    if "since" in parameters:
        text = parameters["since"][-1]
        if not INTEGER_PATTERN.fullmatch(text):
            raise HTTPError(400, "holdem-9.5", f"found since={text[:40]!r}; allowed: an integer, the version of a game")
        since = int(text[:20])  # no version has more digits
    return wait, since


def parse_page_parameters(query: bytes) -> tuple[int, int | None] | None:
    """The place after which a page of games begins and its size, None for all; None without such a parameter.

    Raises HTTPError.
    """
    parameters = _parse_query(query)
    if "limit" not in parameters and "after" not in parameters:
        return None
    limit = _parse_number(parameters, "limit", minimum=1)
    return _parse_number(parameters, "after", minimum=0) or 0, limit


def _parse_query(query: bytes) -> dict[str, list[str]]:
    return parse_qs(query.decode("latin-1"), keep_blank_values=True)


def _parse_number(parameters: dict[str, list[str]], name: str, *, minimum: int) -> int | None:
    """The number of a parameter, or None if it is absent. Raises HTTPError."""
    if name not in parameters:
        return None
    text = parameters[name][-1]
    number = int(text[:20]) if NATURAL_PATTERN.fullmatch(text) else -1
    if number < minimum:
        raise HTTPError(400, "holdem-9.12", f"found {name}={text[:40]!r}; allowed: a whole number, {minimum} or more")
    return number


def etag_matches(if_none_match: bytes, etag: bytes) -> bool:
    """Whether If-None-Match contains an entity tag (RFC 9110, 13.1.2, weak comparison)."""
    if if_none_match == etag:
        return True
    tags = [tag.strip().removeprefix(b"W/") for tag in if_none_match.split(b",")]
    return etag in tags or tags == [b"*"]
