"""The statuses that the transcripts of hold'em show: those of every route, in each dialect."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator

import pytest

from croupier.core.http_transcript import parse_expected_response, parse_request
from croupier.core.transcript import Transcript
from tests.rooms.holdem.transcript_harness import TRANSCRIPTS


def routes(transcripts: list[Transcript]) -> Iterator[tuple[str, str, int]]:
    """Yield the route, the dialect and the status of every response in the transcripts."""
    for transcript in transcripts:
        pending: defaultdict[str, deque[str]] = defaultdict(deque)
        for line in transcript.lines:
            if line.kind == ">":
                request = parse_request(re.sub(r"\$[a-z_][a-z0-9_]*", "x", line.text), {})
                path = request.path.partition("?")[0].strip("/").split("/")
                path[1::2] = [":" for _ in path[1::2]]
                pending[line.peer].append(f"{request.method} /{'/'.join(path)}")
            elif line.kind == "<":
                status = parse_expected_response(line.text).status
                yield pending[line.peer].popleft(), transcript.head.get("dialect", "readme"), status


EXPECTED_STATUSES = {
    "readme": {
        "POST /users": {201, 400, 403, 413},
        "GET /games": {200, 304, 400, 401, 429},
        "POST /games": {201, 401, 403, 413, 503},
        "GET /games/:": {200, 304, 400, 401, 404},
        "POST /games/:/players": {201, 202, 401, 403, 404, 409, 503},
        "POST /games/:/players/:/acts": {201, 400, 401, 403, 404, 413},
        "DELETE /games/:/players/:": {200, 401, 403, 404, 413},
    },
    "hspe-go": {
        "POST /users": {201, 400, 403},
        "GET /games": {200},
        "POST /games": {202, 400, 401, 403},
        "GET /games/:": {200, 304, 400, 401, 403, 404},
        "POST /games/:/players": {202, 400, 401, 404, 409},
        "POST /games/:/players/:/acts": {201, 400, 401, 403, 404, 409},
        "DELETE /games/:/players/:": {200, 400, 401, 403, 404},
    },
}
"""The statuses of every route (holdem-8.2), without 405."""


@pytest.mark.parametrize("dialect", EXPECTED_STATUSES)
def test_every_status_of_every_route_is_shown(dialect: str) -> None:
    shown = defaultdict(set)
    for route, shown_dialect, status in routes(TRANSCRIPTS):
        if shown_dialect == dialect:
            shown[route].add(status)
    missing = {route: statuses - shown[route] for route, statuses in EXPECTED_STATUSES[dialect].items()}
    assert not any(missing.values()), missing
