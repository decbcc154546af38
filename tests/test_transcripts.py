"""Plays every transcript against croupier's house, player and referee."""

from functools import partial

import pytest

from croupier.core.referee import HOUSE, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, house_settings, is_strict
from croupier.replay.transcript_house import make_harness
from tests.transcript_drivers import play_transcript
from tests.transcripts import ALL_TRANSCRIPTS, PlayerDriver, broken_clauses, is_playable_by_house, side_at_fault

PURSE = {"kuhn-7.2", "kuhn-7.3"}
"""Clauses that a client may break unknowingly: only the house knows the balance of the purse."""

IDS = [transcript.name for _, transcript in ALL_TRANSCRIPTS]
every_transcript = pytest.mark.parametrize(("room", "transcript"), ALL_TRANSCRIPTS, ids=IDS)
HOUSE_TRANSCRIPTS = [item for item in ALL_TRANSCRIPTS if is_playable_by_house(item[1])]
every_house_transcript = pytest.mark.parametrize(
    ("room", "transcript"), HOUSE_TRANSCRIPTS, ids=[transcript.name for _, transcript in HOUSE_TRANSCRIPTS]
)


@every_house_transcript
def test_the_house_plays_its_part_with_any_chunking(room: HouseRoom, transcript: Transcript) -> None:
    for chunk_size in (0, 1, 2, 3, 7):
        assert_house_plays(room, transcript, chunk_size)


def assert_house_plays(room: HouseRoom, transcript: Transcript, chunk_size: int) -> None:
    verdicts: list[Verdict] = []
    observer = RefereeObserver(
        partial(room.referee, house_settings(room, transcript), is_strict(transcript)),
        lambda _, verdict: verdicts.append(verdict),
    )
    play_transcript(transcript, make_harness(room, transcript, [observer]), room.patterns, chunk_size)
    assert [verdict for verdict in verdicts if verdict.party == HOUSE] == []
    clauses = {verdict.violation.clause for verdict in verdicts}
    assert clauses & broken_clauses(transcript) if side_at_fault(transcript) == "client" else not clauses - PURSE


@every_transcript
def test_the_player_plays_its_part_in_reverse(room: HouseRoom, transcript: Transcript) -> None:
    for chunk_size in (0, 1, 3):
        assert_player_plays(room, transcript, chunk_size)


def assert_player_plays(room: HouseRoom, transcript: Transcript, chunk_size: int) -> None:
    harness = PlayerDriver(room, transcript, chunk_size)
    play_transcript(transcript, harness, room.patterns)
    match side_at_fault(transcript):
        case "client":
            assert harness.violations == []
        case "house":
            (violation,) = harness.violations
            assert violation.clause in transcript.clauses
        case _:
            assert harness.violations == []
