"""Paper runs of the player: every transcript with `side: player`, however the bytes arrive."""

import pytest

from croupier.core.json_transcript import play_json_transcript
from croupier.core.transcript import Transcript
from tests.rooms.oldmaid.player_harness import PLAYERS_PAPERS, Alone


@pytest.mark.parametrize("chop", [0, 1, 3])
@pytest.mark.parametrize("transcript", PLAYERS_PAPERS, ids=lambda transcript: transcript.name)
def test_our_player_plays_his_part_however_the_bytes_arrive(transcript: Transcript, chop: int) -> None:
    play_json_transcript(transcript, Alone(transcript, chop))


def test_there_are_papers_for_the_player() -> None:
    assert len(PLAYERS_PAPERS) > 70
