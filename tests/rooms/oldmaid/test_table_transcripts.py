"""Transcript tests of the table, with several chunkings."""

import pytest

from croupier.core.transcript import Transcript, parse_transcript
from croupier.replay.transcript_table import table_harness
from tests.rooms.oldmaid.tables import TABLE_TRANSCRIPTS
from tests.transcript_drivers import play_json_transcript

transcripts = pytest.mark.parametrize("transcript", TABLE_TRANSCRIPTS, ids=lambda transcript: transcript.name)


@transcripts
def test_table_follows_the_transcript(transcript: Transcript) -> None:
    for chunk_size in (0, 1, 3):
        play_json_transcript(transcript, table_harness(transcript), chunk_size)


GUESSED = {
    "another-answer": 'p> {"cmd": "draw"}\np< {"result": "error", "message": "oldmaid-4.5: $_"}',
    "an-answer-that-is-not-received": 'p> {"cmd": "draw"}',
    "an-answer-to-nothing": 'p> {"cmd": "join", "nick": "ann"}\np< {"result": "ok"}',
    "a-drop-that-is-not-expected": 'p> \'{\\xff}\'\np< {"result": "error", "message": "oldmaid-8.8: $_"}',
    "a-drop-that-did-not-happen": 'p> {"cmd": "join", "nick": "ann"}\n* dropped p',
}


@pytest.mark.parametrize("body", GUESSED.values(), ids=GUESSED.keys())
def test_wrong_transcript_fails(body: str) -> None:
    transcript = parse_transcript(f"title: Wrong\nclause: oldmaid-1.1\n{body}\n", "wrong")
    with pytest.raises(AssertionError):
        play_json_transcript(transcript, table_harness(transcript))
