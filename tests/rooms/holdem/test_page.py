"""Tests of the protocol document of hold'em: its clauses, and their coverage by the transcripts."""

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.core.http_transcript import parse_expected_response, parse_request
from croupier.core.transcript import Transcript
from tests.rooms.holdem.transcript_harness import ROOT, TRANSCRIPTS
from tests.sampling import looped

PAGE = (ROOT / "docs" / "protocols" / "holdem.md").read_text()
CLAUSES = re.findall(
    r"^\((holdem-\d+\.\d+)\)=\n\*\*(holdem-\d+\.\d+)\*\* (.+?)(?=\n\n|\Z)", PAGE, re.MULTILINE | re.DOTALL
)
NAMES = [anchor for anchor, _, _ in CLAUSES]
UNSHOWN = re.findall(
    r"^- \*\*(holdem-\d+\.\d+)\*\*", PAGE.partition("## Clauses that no conversation shows")[2], re.MULTILINE
)
SOURCES = [
    path
    for folder in ("rooms/holdem", "http", "recording", "clients", "app")
    for path in sorted((ROOT / "src" / "croupier" / folder).rglob("*.py"))
]

every_transcript = looped(TRANSCRIPTS, lambda transcript: transcript.name)


def test_every_clause_occurs_once_with_its_own_anchor() -> None:
    assert len(NAMES) >= 100
    assert len(set(NAMES)) == len(NAMES) == len(re.findall(r"^\(holdem-", PAGE, re.MULTILINE))
    assert all(anchor == shown for anchor, shown, _ in CLAUSES)


def test_clauses_are_numbered_without_gaps() -> None:
    numbers = [tuple(map(int, name.removeprefix("holdem-").split("."))) for name in NAMES]
    assert numbers == [
        (section, number)
        for section in range(1, 1 + max(section for section, _ in numbers))
        for number in range(1, 1 + sum(section == other for other, _ in numbers))
    ]


def test_every_clause_names_its_source() -> None:
    source = re.compile(r"\[[^\]]*(§\d|[A-Z]\d)[^\]]*\]$")
    assert [name for name, _, text in CLAUSES if not source.search(text.partition("\n|")[0].strip())] == []


def test_project_rulings_are_cited_and_cited_rulings_exist() -> None:
    rulings = re.findall(r"^- \*\*(P\d+)\*\*", PAGE.partition("## Rulings of the project")[2], re.MULTILINE)
    cited = {
        found for _, _, text in CLAUSES for found in re.findall(r"\bP\d+\b", text.partition("\n|")[0].rsplit("[", 1)[1])
    }
    assert rulings == [f"P{number}" for number in range(1, len(rulings) + 1)]
    assert cited == set(rulings)


def test_links_on_the_page_lead_to_clauses() -> None:
    linked = {*re.findall(r"\(#(holdem-[\d.]+)\)", PAGE)}
    assert linked
    assert linked <= set(NAMES)


@looped(SOURCES)
def test_clauses_cited_in_the_code_exist(source: Path) -> None:
    assert {*re.findall(r"\bholdem-\d+\.\d+", source.read_text())} <= set(NAMES)


@looped(NAMES)
def test_every_clause_is_shown_by_a_transcript_or_listed_as_unshown(clause: str) -> None:
    assert any(clause in transcript.clauses for transcript in TRANSCRIPTS) or clause in UNSHOWN


def test_clauses_listed_as_unshown_exist_and_are_not_shown() -> None:
    assert UNSHOWN
    assert set(UNSHOWN) <= set(NAMES)
    assert [clause for clause in UNSHOWN if any(clause in transcript.clauses for transcript in TRANSCRIPTS)] == []


@every_transcript
def test_clauses_cited_in_transcripts_exist(transcript: Transcript) -> None:
    assert transcript.clauses
    assert set(transcript.clauses) <= set(NAMES)


def test_there_are_enough_transcripts_and_no_duplicates() -> None:
    assert len(TRANSCRIPTS) >= 120
    assert len({transcript.title for transcript in TRANSCRIPTS}) == len(TRANSCRIPTS)
    assert len(
        {(transcript.lines, transcript.head.get("deck"), transcript.head.get("dialect")) for transcript in TRANSCRIPTS}
    ) == len(TRANSCRIPTS)


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
