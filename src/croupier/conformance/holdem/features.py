"""What a server has: the routes on which something was ever done, and the additions of which there was any sign."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from croupier.conformance.conversation import Line
from croupier.conformance.holdem.requests import Answer
from croupier.conformance.holdem.tolerated import Departure
from croupier.conformance.results import Outcome
from croupier.core.referee import CLIENT

REFUSED: Final = re.compile(r"(?:404|405|501)\b")
"""How a server answers what it has not got."""

DONE: Final = re.compile(r"status 2\d\d")
"""What is expected of a request that should be done."""

OBJECT: Final = re.compile(rb'\s*\{\s*"PlayerID"\s*:')
"""What a new user is told in dialect hspe-go."""

NAMES: Final = re.compile(r"(?<=games/)[^/]+|(?<=players/)[^/]+|(?<=hands/)[^/]+")
"""What differs between two paths of the same route."""


def _has(header: str) -> Callable[[str, Answer], bool]:
    return lambda _, answer: header in answer.headers


def _serves(path: str) -> Callable[[str, Answer], bool]:
    return lambda route, answer: route == f"GET {path}" and answer.status == 200


ADDITIONS: Final[Mapping[str, Callable[[str, Answer], bool]]] = {
    **dict.fromkeys((f"holdem-9.{number}" for number in (1, 3, 4, 5)), _has("x-game-version")),
    "holdem-9.2": _has("etag"),
    "holdem-9.6": _serves("games/:/events"),
    "holdem-9.7": _serves("games/:/hands/:"),
    "holdem-9.8": _serves("openapi.json"),
    "holdem-9.12": _has("link"),
    "holdem-9.9": lambda _, answer: "problem+json" in answer.headers.get("content-type", ""),
}
"""By which answer to which route it shows that a server has what these clauses add."""


class Having:
    """What has been seen of a server, for one run."""

    def __init__(self) -> None:
        self.go = False  # whether it tells a new user as dialect hspe-go does
        self._routes: set[str] = set()
        self._additions: set[str] = set()

    def answered(self, asked: str, answer: Answer) -> None:
        """A request (its method and path) was answered."""
        route = _route(asked)
        if 200 <= answer.status < 300:
            self._routes.add(route)
            self.go = self.go or (route == "POST users" and bool(OBJECT.match(answer.body)))
        self._additions.update(clause for clause, sign in ADDITIONS.items() if sign(route, answer))

    def lacks(self, departure: Departure, lines: Sequence[Line]) -> bool:
        """Whether something departs because the server has not got it, by what was said up to there."""
        if departure.clause in ADDITIONS:
            return departure.outcome is Outcome.CHOICE and departure.clause not in self._additions
        asked = next((str(line.message) for line in reversed(lines) if line.side == CLIENT), "")
        refused = DONE.match(departure.expected) and REFUSED.match(departure.actual)
        return bool(refused) and _route(asked) not in self._routes


def _route(asked: str) -> str:
    """The route of a request."""
    method, _, path = asked.partition(" ")
    return f"{method} {NAMES.sub(':', path.partition('?')[0].strip('/'))}"
