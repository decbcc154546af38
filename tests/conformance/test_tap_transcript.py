"""What was heard becomes a transcript: read again it is the same, and our house plays it again."""

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.conversation import Conversation
from croupier.conformance.tap.connection import Passage
from croupier.conformance.tap.transcript import Script, spelt
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Effect, Event, Left, Peer, Say, Session
from croupier.core.transcript import Rehearsal, Transcript, data, hall, play, read, rehearsal, settings, strict
from croupier.rooms import HOUSES
from tests.transcripts import ALL, broken, for_the_house

MESSAGES = [
    pytest.param(room, message, id=f"{room.name} {message}") for room in HOUSES.values() for message in room.vocabulary
]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_again(found: bytes) -> None:
    line = f"p> {spelt(found)}"
    assert line.isascii()
    assert line.isprintable()
    (read_line,) = read(f"title: x\nclause: x\n{line}", "x").lines
    assert data(read_line.text) == found


@pytest.mark.parametrize(("room", "message"), MESSAGES)
def test_any_message_is_read_again(room: HouseRoom, message: object) -> None:
    sent = room.codec(False, None).encode(message)
    assert data(spelt(sent, message)) == sent


@pytest.mark.parametrize(
    ("sent", "message", "text"),
    [
        (b"MON\0\0\x03\xe8", HOUSES["blackjack"].vocabulary[0], "MON{hex:000003e8}"),
        (b" a b\n", None, "{sp}a b{lf}"),
        (b"{x}\xe9", None, "{hex:7b}x{hex:7de9}"),
        (b"\0T\0\0", None, "{char16:T}{hex:0000}"),
    ],
)
def test_bytes_are_spelt_as_plainly_as_can_be(sent: bytes, message: object, text: str) -> None:
    assert spelt(sent, message) == text


def script(
    paper: Conversation, heard: Conversation, closed: Sequence[Peer], title: str, head: Mapping[str, str]
) -> str:
    """What was heard, as it is written down."""
    passage = Passage(1, None, heard, 0.0)
    passage.closed += closed
    writing = Script(paper, StringIO())
    writing.heard(passage, heard.lines, heard.faults)
    writing.ended(passage)
    return "".join(writing.paper(title, head))


class Overheard:
    """A house, and what it says to its one client: as a session, so that paper can be played on it."""

    def __init__(self, house: Session[Any, Any], codec: Any, heard: Conversation) -> None:
        self.closed: list[Peer] = []
        self._house = house
        self._codec = codec
        self._heard = heard

    @property
    def alarm(self) -> float | None:
        return self._house.alarm

    def on(self, event: Event[Any], now: float) -> list[Effect[Any]]:
        effects = [*self._house.on(event, now)]
        for effect in effects:
            if isinstance(effect, Say):
                self._heard.heard(HOUSE, self._codec.encode(effect.message), now)
            elif isinstance(effect, Drop):
                self.closed.append(HOUSE)
        if isinstance(event, Left):
            self.closed.append(CLIENT)
        return effects


class Listening(Rehearsal[Any, Any]):
    """A stage on which all bytes of both ends are heard."""

    def __init__(self, room: HouseRoom, transcript: Transcript, heard: Conversation) -> None:
        own = settings(room, transcript)
        self.heard = heard
        self.house = Overheard(hall(room, transcript), room.codec(strict(transcript), own), heard)
        super().__init__(self.house, lambda: room.codec(strict(transcript), own))

    def say(self, peer: str, data: bytes) -> None:
        self.heard.heard(CLIENT, data, self.now)
        super().say(peer, data)


SIMPLE = [
    (room, paper)
    for room, paper in ALL
    if for_the_house(paper)
    and {line.peer for line in paper.lines} == {"p"}
    and not {line.kind for line in paper.lines} & {"pass", "halted"}
]


@pytest.mark.parametrize(("room", "paper"), SIMPLE, ids=[paper.name for _, paper in SIMPLE])
def test_a_paper_that_was_played_and_heard_is_played_again(room: HouseRoom, paper: Transcript) -> None:
    def conversation() -> Conversation:
        return Conversation(room, settings(room, paper), strict=strict(paper))

    heard = conversation()
    stage = Listening(room, paper, heard)
    play(paper, stage, room.patterns)
    head = {name: value for name, value in paper.head.items() if name not in {"title", "clause", "fault"}}
    text = script(conversation(), heard, stage.house.closed, paper.title, head)
    again = read(text, "again")
    play(again, rehearsal(room, again), room.patterns)
    said = [b"".join(data(line.text) for line in one.lines if line.kind == ">") for one in (paper, again)]
    assert said[0] == said[1]
    if heard.faults:
        assert again.head["fault"].startswith("client ")
        assert {*again.clauses} & broken(paper) or paper.head.get("fault") is None


def test_a_verdict_stands_behind_the_line_that_shows_it() -> None:
    heard = Conversation(HOUSES["kuhn"])
    heard.heard(CLIENT, b"STRT P_1", 0.0)
    heard.heard(HOUSE, b"CARD C_QACTN\0", 0.0)
    heard.left(HOUSE, 1.0)
    assert script(Conversation(HOUSES["kuhn"]), heard, [HOUSE], "A story", {"strict": "yes"}).splitlines() == [
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
