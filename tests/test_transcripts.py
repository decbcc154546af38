"""Paper runs: every transcript against our house, our player and our referee."""

from functools import partial

import pytest

from croupier.core.referee import HOUSE, RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, house_settings, is_strict, make_harness, play_transcript
from tests.transcripts import ALL_TRANSCRIPTS, PlayerDriver, broken_clauses, is_playable_by_house, side_at_fault

PURSE = {"kuhn-7.2", "kuhn-7.3"}
"""Clauses that a client may break without knowing: only the house knows what is in the purse."""

IDS = [transcript.name for _, transcript in ALL_TRANSCRIPTS]
papers = pytest.mark.parametrize(("room", "transcript"), ALL_TRANSCRIPTS, ids=IDS)
house_papers = pytest.mark.parametrize(
    ("room", "transcript"),
    [p for p in ALL_TRANSCRIPTS if is_playable_by_house(p[1])],
    ids=[p[1].name for p in ALL_TRANSCRIPTS if is_playable_by_house(p[1])],
)


@pytest.mark.parametrize("chop", [0, 1, 2, 3, 7])
@house_papers
def test_our_house_plays_its_part_however_the_bytes_arrive(room: HouseRoom, transcript: Transcript, chop: int) -> None:
    verdicts: list[Verdict] = []
    bench = RefereeObserver(
        partial(room.referee, house_settings(room, transcript), is_strict(transcript)),
        lambda _, verdict: verdicts.append(verdict),
    )
    play_transcript(transcript, make_harness(room, transcript, chop, [bench]), room.patterns)
    assert [verdict for verdict in verdicts if verdict.end == HOUSE] == []
    clauses = {verdict.violation.clause for verdict in verdicts}
    assert clauses & broken_clauses(transcript) if side_at_fault(transcript) == "client" else not clauses - PURSE


@pytest.mark.parametrize("chop", [0, 1, 3])
@papers
def test_our_player_plays_its_part_in_reverse(room: HouseRoom, transcript: Transcript, chop: int) -> None:
    stage = PlayerDriver(room, transcript, chop)
    play_transcript(transcript, stage, room.patterns)
    match side_at_fault(transcript):
        case "client":
            assert stage.violations == []
        case "house":
            assert [violation.clause for violation in stage.violations] == list(transcript.clauses[:1])
        case _:
            assert stage.violations == []
