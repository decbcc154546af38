"""Transcript tests of the player: every transcript with `side: player`, with several chunkings."""

import pytest

from croupier.core.transcript import Transcript
from tests.rooms.oldmaid.player_harness import PLAYER_TRANSCRIPTS, PlayerHarness
from tests.transcript_drivers import play_json_transcript


@pytest.mark.parametrize("transcript", PLAYER_TRANSCRIPTS, ids=lambda transcript: transcript.name)
def test_player_follows_the_transcript(transcript: Transcript) -> None:
    for chunk_size in (0, 1, 3):
        play_json_transcript(transcript, PlayerHarness(transcript), chunk_size)


def test_player_transcripts_exist() -> None:
    assert len(PLAYER_TRANSCRIPTS) > 70
