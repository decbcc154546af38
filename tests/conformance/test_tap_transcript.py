"""A tapped conversation becomes a transcript that parses back and can be replayed."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.conversation import AnyClientReferee, Conversation
from croupier.conformance.tap.connection import BytesRelayed, TappedConnection
from croupier.conformance.tap.house_transcript import HouseTranscriptWriter, transcript_text
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Effect, Event, Left, Peer, Send, Session
from croupier.core.transcript import Transcript, encode_line, house_settings, is_strict, make_hall, parse_transcript
from croupier.replay.transcript_house import Harness, make_harness
from croupier.rooms import HOUSE_ROOMS
from tests.sampling import extended, in_one_test
from tests.transcript_drivers import play_transcript
from tests.transcripts import ALL_TRANSCRIPTS, broken_clauses, is_playable_by_house

MESSAGES = [
    pytest.param(room, message, id=f"{room.name} {message}")
    for room in HOUSE_ROOMS.values()
    for message in room.sample_messages
]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_again(found: bytes) -> None:
    line = f"p> {transcript_text(found)}"
    assert line.isascii()
    assert line.isprintable()
    (read_line,) = parse_transcript(f"title: x\nclause: x\n{line}", "x").lines
    assert encode_line(read_line.text) == found


@in_one_test
@pytest.mark.parametrize(("room", "message"), MESSAGES)
def test_any_message_is_read_again(room: HouseRoom, message: object) -> None:
    sent = room.codec(False, None).encode(message)
    assert encode_line(transcript_text(sent, message)) == sent


@pytest.mark.parametrize(
    ("sent", "message", "text"),
    [
        (b"MON\0\0\x03\xe8", HOUSE_ROOMS["blackjack"].sample_messages[0], "MON{hex:000003e8}"),
        (b" a b\n", None, "{sp}a b{lf}"),
        (b"{x}\xe9", None, "{hex:7b}x{hex:7de9}"),
        (b"\0T\0\0", None, "{char16:T}{hex:0000}"),
    ],
)
def test_bytes_are_spelt_as_plainly_as_can_be(sent: bytes, message: object, text: str) -> None:
    assert transcript_text(sent, message) == text


def script(
    referee: AnyClientReferee, heard: Conversation, closed: Sequence[Peer], title: str, head: Mapping[str, str]
) -> str:
    """What was heard, as it is written down."""
    passage = TappedConnection(1, None, heard, 0.0)
    passage.closed_sides += closed
    writing = HouseTranscriptWriter(referee, StringIO())
    writing.add_entries(passage, BytesRelayed(passage, 0.0, CLIENT, b"", heard.lines, heard.faults).entries)
    writing.add_end(passage)
    return "".join(writing.transcript(title, head))


class FollowedConversation:
    """A house, and what it says to its one client: as a session, so that paper can be played on it."""

    def __init__(self, house: Session[Any, Any], codec: Any, heard: Conversation) -> None:
        self.closed: list[Peer] = []
        self._house = house
        self._codec = codec
        self._heard = heard

    @property
    def deadline(self) -> float | None:
        return self._house.deadline

    def on(self, event: Event[Any], now: float) -> list[Effect[Any]]:
        effects = [*self._house.on(event, now)]
        for effect in effects:
            if isinstance(effect, Send):
                self._heard.on_data(HOUSE, self._codec.encode(effect.message), now)
            elif isinstance(effect, Drop):
                self.closed.append(HOUSE)
        if isinstance(event, Left):
            self.closed.append(CLIENT)
        return effects


class Listening(Harness[Any, Any]):
    """A stage on which all bytes of both ends are heard."""

    def __init__(self, room: HouseRoom, transcript: Transcript, heard: Conversation) -> None:
        own = house_settings(room, transcript)
        self.heard = heard
        self.house = FollowedConversation(make_hall(room, transcript), room.codec(is_strict(transcript), own), heard)
        super().__init__(self.house, lambda: room.codec(is_strict(transcript), own))

    def send(self, peer: str, data: bytes) -> None:
        self.heard.on_data(CLIENT, data, self.now)
        super().send(peer, data)


SIMPLE = [
    (room, paper)
    for room, paper in ALL_TRANSCRIPTS
    if is_playable_by_house(paper)
    and {line.peer for line in paper.lines} == {"p"}
    and not {line.kind for line in paper.lines} & {"pass", "halted"}
]


@pytest.mark.parametrize(("room", "paper"), extended(SIMPLE, 5), ids=[paper.name for _, paper in SIMPLE])
def test_a_paper_that_was_played_and_heard_is_played_again(room: HouseRoom, paper: Transcript) -> None:
    settings, strict = house_settings(room, paper), is_strict(paper)
    heard = Conversation(room, settings, strict=strict)
    stage = Listening(room, paper, heard)
    play_transcript(paper, stage, room.patterns)
    head = {name: value for name, value in paper.head.items() if name not in {"title", "clause", "fault"}}
    text = script(room.referee(settings, strict), heard, stage.house.closed, paper.title, head)
    again = parse_transcript(text, "again")
    play_transcript(again, make_harness(room, again), room.patterns)
    said = [b"".join(encode_line(line.text) for line in one.lines if line.kind == ">") for one in (paper, again)]
    assert said[0] == said[1]
    if heard.faults:
        assert again.head["fault"].startswith("client ")
        assert {*again.clauses} & broken_clauses(paper) or paper.head.get("fault") is None


def test_a_verdict_stands_behind_the_line_that_shows_it() -> None:
    heard = Conversation(HOUSE_ROOMS["kuhn"])
    heard.on_data(CLIENT, b"STRT P_1", 0.0)
    heard.on_data(HOUSE, b"CARD C_QACTN\0", 0.0)
    heard.on_disconnect(HOUSE, 1.0)
    assert script(
        HOUSE_ROOMS["kuhn"].referee(None, False), heard, [HOUSE], "A story", {"strict": "yes"}
    ).splitlines() == [
        "title: A story",
        "clause: kuhn-2.7",
        "fault: house kuhn-2.7",
        "strict: yes",
        "p> STRT P_1",
        "p< CARD C_Q",
        "p< ACTN{hex:00}",
        "# the house breaks kuhn-2.7: found 'ACTN\\x00'; allowed: one space after ACTN",
        "* dropped p",
        "* settled p ?",
    ]


def test_a_game_that_goes_on_after_a_silence_is_settled() -> None:
    kuhn = HOUSE_ROOMS["kuhn"]
    heard = Conversation(kuhn)
    heard.on_data(CLIENT, b"STRT P_1", 0.0)
    assert heard.on_timeout(10.0)
    heard.on_data(HOUSE, b"CARD C_Q", 11.0)
    heard.on_data(CLIENT, b"ACTN BET", 12.0)
    heard.on_data(HOUSE, b"ACTN FLD", 13.0)
    assert script(kuhn.referee(None, False), heard, [CLIENT], "A story", {}).splitlines()[-5:] == [
        "p< CARD C_Q",
        "p> ACTN BET",
        "p< ACTN FLD",
        "* settled p +1",
        "* left p",
    ]
