"""What a server implements: routes that have worked, and optional features that it has shown."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from croupier.conformance.channel.http import ReceivedResponse, SentRequest
from croupier.conformance.holdem.deviations import Deviation
from croupier.conformance.results import Outcome

NOT_FOUND_STATUSES: Final = frozenset({404, 405, 501})
"""The statuses of a route that the server does not have."""

HSPE_GO_USER_PATTERN: Final = re.compile(rb'\s*\{\s*"PlayerID"\s*:')
"""The response to POST /users/ in dialect hspe-go."""

PATH_PARAMETERS_PATTERN: Final = re.compile(r"(?<=games/)[^/]+|(?<=players/)[^/]+|(?<=hands/)[^/]+")
"""The variable parts of paths."""


def _has_header(header: str) -> Callable[[str, ReceivedResponse], bool]:
    return lambda _, answer: header in answer.headers


def _serves_path(path: str) -> Callable[[str, ReceivedResponse], bool]:
    return lambda route, answer: route == f"GET {path}" and answer.status == 200


OPTIONAL_FEATURES: Final[Mapping[str, Callable[[str, ReceivedResponse], bool]]] = {
    **dict.fromkeys((f"holdem-9.{number}" for number in (1, 3, 4, 5)), _has_header("x-game-version")),
    "holdem-9.2": _has_header("etag"),
    "holdem-9.6": _serves_path("games/:/events"),
    "holdem-9.7": _serves_path("games/:/hands/:"),
    "holdem-9.8": _serves_path("openapi.json"),
    "holdem-9.12": _has_header("link"),
    "holdem-9.9": lambda _, answer: "problem+json" in answer.headers.get("content-type", ""),
}
"""Whether a response to a route shows that the server has the feature of an optional clause."""


class ServerFeatures:
    """The features of one server, observed during a run."""

    def __init__(self) -> None:
        self.is_hspe_go = False  # whether new users are answered as in dialect hspe-go
        self._routes: set[str] = set()
        self._additions: set[str] = set()

    def record_response(self, request: SentRequest, response: ReceivedResponse) -> None:
        """Record the response to a request."""
        route = route_of(request)
        if 200 <= response.status < 300:
            self._routes.add(route)
            self.is_hspe_go = self.is_hspe_go or (
                route == "POST users" and bool(HSPE_GO_USER_PATTERN.match(response.body))
            )
        self._additions.update(
            clause for clause, shows_feature in OPTIONAL_FEATURES.items() if shows_feature(route, response)
        )

    def lacks(self, deviation: Deviation) -> bool:
        """Whether a deviation means that the server lacks a feature."""
        if deviation.clause in OPTIONAL_FEATURES:
            return deviation.outcome is Outcome.CHOICE and deviation.clause not in self._additions
        if deviation.exchange is None or deviation.wanted_status is None or deviation.wanted_status >= 300:
            return False
        request, response = deviation.exchange
        return response.status in NOT_FOUND_STATUSES and route_of(request) not in self._routes


def route_of(request: SentRequest) -> str:
    """Return the route of a request, with `:` for variable parts."""
    path = request.path.partition("?")[0].strip("/")
    return f"{request.method} {PATH_PARAMETERS_PATTERN.sub(':', path)}"
