"""What a server implements: operations that have worked, and optional features that it has shown."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from croupier.conformance.holdem.deviations import HttpDeviation
from croupier.conformance.holdem.operations import operation_name
from croupier.conformance.results import Outcome
from croupier.http.wire import ReceivedResponse, SentRequest

NOT_FOUND_STATUSES: Final = frozenset({404, 405, 501})
"""The statuses of an operation that the server does not have."""

HSPE_GO_USER_PATTERN: Final = re.compile(rb'\s*\{\s*"PlayerID"\s*:')
"""The response to POST /users/ in dialect hspe-go."""


def _has_header(header: str) -> Callable[[str, ReceivedResponse], bool]:
    return lambda _, answer: header in answer.headers


def _serves(operation: str) -> Callable[[str, ReceivedResponse], bool]:
    return lambda name, answer: name == operation and answer.status == 200


OPTIONAL_FEATURES: Final[Mapping[str, Callable[[str, ReceivedResponse], bool]]] = {
    **dict.fromkeys((f"holdem-9.{number}" for number in (1, 3, 4, 5)), _has_header("x-game-version")),
    "holdem-9.2": _has_header("etag"),
    "holdem-9.6": _serves("get_events"),
    "holdem-9.7": _serves("get_hand"),
    "holdem-9.8": _serves("get_openapi"),
    "holdem-9.12": _has_header("link"),
    "holdem-9.9": lambda _, answer: "problem+json" in answer.headers.get("content-type", ""),
}
"""Whether a response of an operation shows that the server has the feature of an optional clause."""


class ServerFeatures:
    """The features of one server, observed during a run."""

    def __init__(self) -> None:
        self.is_hspe_go = False  # whether new users are answered as in dialect hspe-go
        self._operations: set[tuple[str, str]] = set()  # with the method, for HEAD may be refused where GET is not
        self._additions: set[str] = set()

    def record_response(self, request: SentRequest, response: ReceivedResponse) -> None:
        """Record the response to a request."""
        name = operation_name(request.target)
        if 200 <= response.status < 300:
            self._operations.add((request.method, name))
            self.is_hspe_go = self.is_hspe_go or (
                name == "post_users" and bool(HSPE_GO_USER_PATTERN.match(response.body))
            )
        self._additions.update(
            clause for clause, shows_feature in OPTIONAL_FEATURES.items() if shows_feature(name, response)
        )

    def lacks(self, deviation: HttpDeviation) -> bool:
        """Whether a deviation means that the server lacks a feature."""
        if deviation.clause in OPTIONAL_FEATURES:
            return deviation.outcome is Outcome.CHOICE and deviation.clause not in self._additions
        if deviation.exchange is None or deviation.wanted_status is None or deviation.wanted_status >= 300:
            return False
        request, response = deviation.exchange
        is_unknown = (request.method, operation_name(request.target)) not in self._operations
        return response.status in NOT_FOUND_STATUSES and is_unknown
