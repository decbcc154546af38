"""The pages of the list of games: what is asked for behind the question mark (holdem-9.12)."""

import re
from typing import Final
from urllib.parse import parse_qs

from croupier.http.responses import Failed
from croupier.http.views import Pages, Shown

NATURAL: Final = re.compile(r"[0-9]+")


def listed(pages: Pages, user: str | None, query: bytes) -> Shown:
    """The list of games as a user sees it, or the page of it that a query asks for. Raises Failed."""
    found = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    if "limit" not in found and "after" not in found:
        return pages.list(user)
    limit = _number(found, "limit", least=1)
    return pages.part(user, _number(found, "after", least=0) or 0, limit)


def _number(found: dict[str, list[str]], name: str, *, least: int) -> int | None:
    """The number of a parameter, None where it is not given. Raises Failed."""
    if name not in found:
        return None
    text = found[name][-1]
    number = int(text[:20]) if NATURAL.fullmatch(text) else -1
    if number < least:
        raise Failed(400, "holdem-9.12", f"found {name}={text[:40]!r}; allowed: a whole number, {least} or more")
    return number
