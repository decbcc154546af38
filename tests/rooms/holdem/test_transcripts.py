"""Tests that replay the hold'em transcripts against the service, in this process and over sockets."""

import pytest

from croupier.core.transcript import Transcript, parse_transcript
from tests.rooms.holdem.transcript_harness import TRANSCRIPTS, InProcessDriver, SocketDriver
from tests.sampling import extended, sampled
from tests.transcript_drivers import play_http_transcript

every_transcript = pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda transcript: transcript.name)


def is_timeless(transcript: Transcript) -> bool:
    """Return whether a transcript has only requests that are answered immediately."""
    return "".join(line.kind for line in transcript.lines) == "><" * (len(transcript.lines) // 2)


@pytest.mark.parametrize("chop", extended([0, 1], 2), ids=["whole", "byte-by-byte"])
@every_transcript
def test_the_service_replays_the_transcript(transcript: Transcript, chop: int) -> None:
    with InProcessDriver(transcript, chop) as driver:
        play_http_transcript(transcript, driver)


@pytest.mark.parametrize("chop", extended([0, 7], 2), ids=["whole", "in-sevens"])
@pytest.mark.parametrize("transcript", sampled(filter(is_timeless, TRANSCRIPTS), 3), ids=lambda each: each.name)
def test_the_service_replays_the_transcript_over_a_socket(transcript: Transcript, chop: int) -> None:
    with SocketDriver(transcript, chop) as driver:
        play_http_transcript(transcript, driver)


WRONG_TRANSCRIPTS = {
    "another-status": 'ann> POST /users/\nann< 200 "$ann"',
    "another-body": "nobody> GET /games/\nnobody< 200 []",
    "a-header-that-is-missing": "nobody> GET /games/\nnobody< 200 [Location: *]",
    "a-header-too-many": "nobody> GET /games/\nnobody< 200 [ETag:]",
    "a-response-that-is-not-received": "nobody> GET /games/",
    "a-response-without-a-request": "nobody> GET /games/\nnobody< 200\nnobody< 200",
}


@pytest.mark.parametrize("body", WRONG_TRANSCRIPTS.values(), ids=WRONG_TRANSCRIPTS.keys())
def test_a_wrong_transcript_fails(body: str) -> None:
    transcript = parse_transcript(f"title: Wrong\nclause: holdem-5.1\n{body}\n", "wrong")
    with InProcessDriver(transcript) as driver, pytest.raises(AssertionError):
        play_http_transcript(transcript, driver)


def test_a_missing_response_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.rooms.holdem.transcript_harness.RESPONSE_TIMEOUT_SECONDS", 0.2)
    asked = "nobody> GET /games/\nnobody< 200 [{}]\nnobody> GET /games/$game?wait=5\nnobody< 200\n"
    game = '{"gameID": "$game", "table": "$_", "turn": "$_", "cards": "$_", "pots": "$_"}'
    transcript = parse_transcript(f"title: Wrong\nclause: holdem-9.3\n{asked.format(game)}", "wrong")
    with InProcessDriver(transcript) as driver, pytest.raises(AssertionError, match="no response arrives"):
        play_http_transcript(transcript, driver)
