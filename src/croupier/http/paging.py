"""Query parameters of the list of games: `limit` and `after` (holdem-9.12)."""

import re
from typing import Final
from urllib.parse import parse_qs

from croupier.http.responses import HTTPError
from croupier.http.views import Representation, ViewCache

NATURAL_PATTERN: Final = re.compile(r"[0-9]+")


def find_list_view(views: ViewCache, user: str | None, query: bytes) -> Representation:
    """The list of games for a user, or the page of it that the query requests. Raises HTTPError."""
    parameters = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    if "limit" not in parameters and "after" not in parameters:
        return views.list_view(user)
    limit = _parse_number(parameters, "limit", minimum=1)
    return views.list_page(user, _parse_number(parameters, "after", minimum=0) or 0, limit)


def _parse_number(parameters: dict[str, list[str]], name: str, *, minimum: int) -> int | None:
    """The number of a parameter, or None if it is absent. Raises HTTPError."""
    if name not in parameters:
        return None
    text = parameters[name][-1]
    number = int(text[:20]) if NATURAL_PATTERN.fullmatch(text) else -1
    if number < minimum:
        raise HTTPError(400, "holdem-9.12", f"found {name}={text[:40]!r}; allowed: a whole number, {minimum} or more")
    return number
