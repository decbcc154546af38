"""Paper runs: the service says what is on the paper, in this process and through a socket."""

import pytest

from croupier.core.http_transcript import play_http_transcript
from croupier.core.transcript import Transcript, parse_transcript
from tests.rooms.holdem.transcript_harness import PAPERS, Hall, Wired
from tests.sampling import sampled

papers = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


def is_timeless(paper: Transcript) -> bool:
    """Whether nothing happens in a paper but requests that are answered at once."""
    return "".join(line.kind for line in paper.lines) == "><" * (len(paper.lines) // 2)


@pytest.mark.parametrize("chop", [0, 1], ids=["whole", "byte-by-byte"])
@papers
def test_the_service_replays_the_transcript(paper: Transcript, chop: int) -> None:
    with Hall(paper, chop) as hall:
        play_http_transcript(paper, hall)


@pytest.mark.parametrize("chop", [0, 7], ids=["whole", "in-sevens"])
@pytest.mark.parametrize("paper", sampled(filter(is_timeless, PAPERS), 3), ids=lambda paper: paper.name)
def test_the_service_replays_the_transcript_over_a_socket(paper: Transcript, chop: int) -> None:
    with Wired(paper, chop) as wired:
        play_http_transcript(paper, wired)


GUESSED = {
    "another-status": 'ann> POST /users/\nann< 200 "$ann"',
    "another-body": "nobody> GET /games/\nnobody< 200 []",
    "a-header-that-is-missing": "nobody> GET /games/\nnobody< 200 [Location: *]",
    "a-header-too-many": "nobody> GET /games/\nnobody< 200 [ETag:]",
    "an-answer-that-is-not-heard": "nobody> GET /games/",
    "an-answer-to-nothing": "nobody> GET /games/\nnobody< 200\nnobody< 200",
}


@pytest.mark.parametrize("body", GUESSED.values(), ids=GUESSED.keys())
def test_a_wrong_transcript_fails(body: str) -> None:
    paper = parse_transcript(f"title: Wrong\nclause: holdem-5.1\n{body}\n", "wrong")
    with Hall(paper) as hall, pytest.raises(AssertionError):
        play_http_transcript(paper, hall)


def test_a_missing_response_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.rooms.holdem.transcript_harness.PATIENCE", 0.2)
    asked = "nobody> GET /games/\nnobody< 200 [{}]\nnobody> GET /games/$game?wait=5\nnobody< 200\n"
    game = '{"gameID": "$game", "table": "$_", "turn": "$_", "cards": "$_", "pots": "$_"}'
    paper = parse_transcript(f"title: Wrong\nclause: holdem-9.3\n{asked.format(game)}", "wrong")
    with Hall(paper) as hall, pytest.raises(AssertionError, match="no answer comes"):
        play_http_transcript(paper, hall)
