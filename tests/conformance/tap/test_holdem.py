"""Hold'em is overheard: our house is right about everything that is on paper, and others are found out."""

from typing import Any

import pytest

from croupier.core.http_transcript import TranscriptRequest, play_http_transcript
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript, parse_transcript
from tests.conformance.tap.random_session import Overheard
from tests.rooms.holdem.transcript_harness import TRANSCRIPTS, InProcessDriver
from tests.sampling import sampled

NAMED = {paper.name: paper for paper in TRANSCRIPTS}


def listened(paper: Transcript, chop: int = 0) -> Overheard:
    """A paper that was played to its end, overheard."""
    with Overheard(paper, chop) as stage:
        play_http_transcript(paper, stage)
    return stage


@pytest.mark.parametrize("chop", [0, 1], ids=["whole", "byte-by-byte"])
@pytest.mark.parametrize("paper", sampled(TRANSCRIPTS, 16), ids=lambda paper: paper.name)
def test_our_house_is_right_about_every_paper(paper: Transcript, chop: int) -> None:
    assert listened(paper, chop).found(HOUSE) == set()


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("a-bet-beyond-the-wealth", "holdem-4.7"),
        ("acts-that-are-no-json", "holdem-4.4"),
        ("acting-for-somebody-else", "holdem-8.8"),
        ("credentials-are-missing", "holdem-2.7"),
        ("a-wrong-password", "holdem-2.7"),
    ],
)
def test_a_client_is_wrong_by_the_clause_of_the_paper(name: str, clause: str) -> None:
    assert clause in listened(NAMED[name]).found(CLIENT)


SEATED = """title: At the table
clause: holdem-4.7
ann> POST /users/
ann< 201 "$ann"
bob> POST /users/
bob< 201 "$bob"
nobody> GET /games/
nobody< 200 [{"gameID": "$game", "table": [], "turn": "$_", "cards": "$_", "pots": "$_"}]
ann> POST /games/$game/players/
ann< 201 "$ann"
bob> POST /games/$game/players/
bob< 201 "$bob"
nobody> GET /games/$game
nobody< 200
"""
"""Ann has the button, and the small blind."""


@pytest.mark.parametrize(
    ("amount", "clause"), [(-1, "holdem-4.8"), (10_000, "holdem-4.9"), (5, "holdem-4.10"), (20, "holdem-4.11")]
)
def test_an_invalid_bet_is_named_by_its_clause_where_the_hand_is_followed(amount: int, clause: str) -> None:
    act = f'ann> POST /games/$game/players/$ann/acts/ {{"action": 1, "betAmount": {amount}}}\nann< 201\n'
    stage = listened(parse_transcript(SEATED + act, "invalid"))
    assert stage.found(CLIENT) == {clause}
    assert stage.found(HOUSE) == set()


def test_hands_are_followed() -> None:
    assert listened(NAMED["a-hand-from-deal-to-showdown"]).hands == 2


@pytest.mark.parametrize("name", ["a-hand-from-deal-to-showdown", "a-new-user", "a-side-pot", "a-full-table"])
def test_what_was_overheard_is_played_again(name: str) -> None:
    paper = NAMED[name]
    stage = listened(paper)
    head = {key: value for key, value in paper.head.items() if key not in {"title", "clause", "fault"}}
    again = parse_transcript("".join(stage.papers.transcript("Again", head)), "again")
    assert [line.kind for line in again.lines] == [line.kind for line in paper.lines]
    with InProcessDriver(again) as hall:
        play_http_transcript(again, hall)


def test_no_password_is_written_down() -> None:
    stage = listened(NAMED["a-wrong-password"])
    told = "".join(stage.papers.transcript("Secret", {}))
    assert "secret" not in told
    assert "Basic " not in told


# A house that is wrong.


BREAKS = {
    "a-status": ("a-hand-from-deal-to-showdown", "holdem-4.1", lambda method, path, status, body: (200, body)),
    "a-pot": (
        "a-hand-from-deal-to-showdown",
        "holdem-5.15",
        lambda method, path, status, body: (status, body.replace(b'"size":80', b'"size":81')),
    ),
    "a-turn": (
        "a-hand-from-deal-to-showdown",
        "holdem-6.8",
        lambda method, path, status, body: (status, body.replace(b'"minimum_raise":20', b'"minimum_raise":10')),
    ),
    "a-key": (
        "a-hand-from-deal-to-showdown",
        "holdem-5.7",
        lambda method, path, status, body: (status, body.replace(b'"wealth"', b'"Wealth"')),
    ),
    "no-json": ("a-hand-from-deal-to-showdown", "holdem-1.5", lambda method, path, status, body: (status, b"<html>")),
    "a-failure": ("a-hand-from-deal-to-showdown", "holdem-8.2", lambda method, path, status, body: (500, b"")),
}


class Broken(Overheard):
    """A house whose answers are changed on their way to who listens."""

    def __init__(self, paper: Transcript, change: Any) -> None:
        super().__init__(paper)
        self._change = change

    async def _exchange(self, user: str, ask: TranscriptRequest) -> Any:
        self._asked_last = ask
        return await super()._exchange(user, ask)

    def feed(self, passage: Any, side: int, data: bytes) -> None:
        if side == HOUSE:
            head, _, body = data.partition(b"\r\n\r\n")
            status = int(head.split()[1])
            ask = self._asked_last
            new, body = self._change(ask.method, ask.path, status, body) if status < 300 else (status, body)
            data = b"HTTP/1.1 %d Told\r\ncontent-length: %d\r\n\r\n%s" % (new, len(body), body)
        super().feed(passage, side, data)


@pytest.mark.parametrize("name", BREAKS)
def test_a_house_that_is_wrong_is_found_out(name: str) -> None:
    paper, clause, change = BREAKS[name]
    with Broken(NAMED[paper], change) as stage:
        play_http_transcript(NAMED[paper], stage)
    assert clause in stage.found(HOUSE)
