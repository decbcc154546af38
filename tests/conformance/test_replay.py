"""Transcripts are replayed to a server as long as it answers as in the transcript."""

from random import Random

import pytest

from croupier.conformance.conversation import Conversation
from croupier.conformance.resources import transcripts
from croupier.conformance.servers.replay import HouseReplayStep, is_playable, record, replay
from croupier.conformance.servers.scripted_client import HangUp
from croupier.conformance.servers.test_data import ScenarioContext
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript, parse_transcript
from tests.conformance.suites import SERVER_TEST_DATA

KUHN = SERVER_TEST_DATA["kuhn"]
BLACKJACK = SERVER_TEST_DATA["blackjack"]


def paper(name: str, room: str = "kuhn") -> Transcript:
    return next(found for found in transcripts(room) if found.name == name)


def talk(ground: str = "kuhn") -> ScenarioContext:
    found = SERVER_TEST_DATA[ground]
    return ScenarioContext(Conversation(found.room), Random(1), found, found.room.codec(True, None).encode)


@pytest.mark.parametrize("room", SERVER_TEST_DATA)
def test_every_room_has_its_transcripts(room: str) -> None:
    assert len(transcripts(room)) > 50


def test_a_room_without_transcripts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"found no transcripts of 'chess'; allowed: .*transcripts"):
        transcripts("chess")


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("bet-call-p2", True),
        ("action-before-start", True),
        ("hang-up-in-a-game", True),
        ("house-forgets-the-card", False),
        ("house-says-goodbye", False),
        ("idle-between-games", False),
        ("closing-room-idle", False),
        ("no-coin-for-a-bet", False),
        ("typed-by-hand-strict", False),
    ],
)
def test_a_client_can_play_what_needs_no_time_no_settings_and_no_fault_of_the_house(name: str, fits: bool) -> None:
    assert is_playable(paper(name), KUHN.harmless_settings) == fits


def test_several_clients_are_not_one() -> None:
    assert not is_playable(paper("private-tables", "sevenhalf"), SERVER_TEST_DATA["sevenhalf"].harmless_settings)


def test_a_setting_that_changes_nothing_about_the_answers_may_stand_in_the_head() -> None:
    text = "title: t\nclause: sevenhalf-4.1\nbet: {}\np> STRT\n"
    assert is_playable(parse_transcript(text.format(10), "ten"), SERVER_TEST_DATA["sevenhalf"].harmless_settings)
    assert not is_playable(
        parse_transcript(text.format(1073741823), "most"), SERVER_TEST_DATA["sevenhalf"].harmless_settings
    )


def test_a_passage_is_what_is_said_and_what_comes_of_it() -> None:
    assert record(KUHN, paper("refusal-changes-nothing")) == (
        HouseReplayStep(b"STRT P_1", ("CARD",), (), None),
        HouseReplayStep(b"STRT P_2", ("FAIL W_A",), ("kuhn-6.3",), None),
        HouseReplayStep(b"ACTN FLD", ("FAIL W_A",), ("kuhn-6.1",), None),
        HouseReplayStep(b"ACTN BET", ("CARD",), (), None),
    )
    assert record(KUHN, paper("hang-up-in-a-game"))[-1].sent is None


@pytest.mark.parametrize("room", SERVER_TEST_DATA)
def test_our_own_house_plays_all_that_a_client_can_play(room: str) -> None:
    ground = SERVER_TEST_DATA[room]
    papers = [found for found in transcripts(room) if is_playable(found, ground.harmless_settings)]
    assert len(papers) > 30
    for found in papers:
        spoken = sum(line.kind in {">", "left"} for line in found.lines)
        assert len(record(ground, found)) == spoken, found.name


def test_the_cards_matter_where_the_paper_is_about_them() -> None:
    assert all(passage.outline is None for passage in record(BLACKJACK, paper("bytes-of-a-round", "blackjack")))
    assert any(passage.outline for passage in record(BLACKJACK, paper("21-by-a-hit-soft", "blackjack")))


def test_other_cards_are_accepted_but_not_another_course_of_the_game() -> None:
    stranger = talk()
    script = replay(record(KUHN, paper("bet-call-p2")))(stranger)
    hear = stranger.conversation.on_data
    assert next(script) == b"STRT P_2"
    hear(CLIENT, b"STRT P_2", 0.0)
    hear(HOUSE, b"CARD C_JACTN BET", 0.0)
    assert next(script) == b"ACTN CAL"
    hear(CLIENT, b"ACTN CAL", 0.0)
    hear(HOUSE, b"CARD C_Q", 0.0)
    with pytest.raises(StopIteration) as end:
        next(script)
    assert end.value.value is None


def test_the_skip_reason_names_the_missing_answers() -> None:
    stranger = talk()
    script = replay(record(KUHN, paper("bet-call-p2")))(stranger)
    next(script)
    stranger.conversation.on_data(CLIENT, b"STRT P_2", 0.0)
    stranger.conversation.on_data(HOUSE, b"CARD C_JACTN CHK", 0.0)
    with pytest.raises(StopIteration) as end:
        next(script)
    assert end.value.value == "the case needs CARD ACTN BET here; the server sent CARD ACTN CHK"


@pytest.mark.parametrize(
    ("bet", "more"), [(100, ""), (25, "; the house begins with STBT 25, the transcript with STBT 100")]
)
def test_the_skip_reason_names_another_starting_bet(bet: int, more: str) -> None:
    stranger = talk("sevenhalf")
    script = replay(record(SERVER_TEST_DATA["sevenhalf"], paper("ante-too-much", "sevenhalf")))(stranger)
    answers = {b"STRT": b"STBT " + bet.to_bytes(4), b"DRAW": b"CARD 7o"}
    reason = ""
    while not reason:
        try:
            sent = next(script)
        except StopIteration as end:
            reason = end.value
        else:
            assert isinstance(sent, bytes)
            stranger.conversation.on_data(CLIENT, sent, 0.0)
            stranger.conversation.on_data(HOUSE, answers.get(sent, b""), 0.0)
    assert reason == f"the case needs ERRO here; the server sent nothing{more}"


def test_faults_of_the_client_in_the_transcript_have_to_recur() -> None:
    stranger = talk("sevenhalf")
    script = replay((HouseReplayStep(b"ERRO 00", (), ("sevenhalf-7.3",), None),))(stranger)
    next(script)
    stranger.conversation.on_data(CLIENT, b"ERRO 00", 0.0)
    with pytest.raises(StopIteration) as end:
        next(script)
    assert end.value.value == "the message of the case was allowed with these cards"


def test_the_client_hangs_up_where_it_does_on_paper() -> None:
    script = replay((HouseReplayStep(None, (), (), None),))(talk())
    assert next(script) == HangUp()
