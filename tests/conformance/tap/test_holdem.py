"""Following hold'em conversations: our house is right in every transcript, and faulty ends are found."""

from typing import Any

import pytest

from croupier.core.http_transcript import TranscriptRequest
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.transcript import Transcript, parse_transcript
from tests.conformance.tap.random_session import FollowedHarness
from tests.rooms.holdem.transcript_harness import TRANSCRIPTS, InProcessDriver
from tests.sampling import extended, sampled
from tests.transcript_drivers import play_http_transcript

TRANSCRIPTS_BY_NAME = {transcript.name: transcript for transcript in TRANSCRIPTS}


def follow(transcript: Transcript, chop: int = 0) -> FollowedHarness:
    """Play a transcript to its end while following it."""
    with FollowedHarness(transcript, chop) as harness:
        play_http_transcript(transcript, harness)
    return harness


@pytest.mark.parametrize("transcript", sampled(TRANSCRIPTS, 16), ids=lambda transcript: transcript.name)
def test_our_house_is_right_in_every_transcript(transcript: Transcript) -> None:
    assert follow(transcript).found(HOUSE) == set()


@pytest.mark.parametrize("transcript", sampled(TRANSCRIPTS, 16, first_of=4), ids=lambda transcript: transcript.name)
def test_our_house_is_right_in_every_transcript_byte_by_byte(transcript: Transcript) -> None:
    assert follow(transcript, 1).found(HOUSE) == set()


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
def test_client_fault_has_the_clause_of_the_transcript(name: str, clause: str) -> None:
    assert clause in follow(TRANSCRIPTS_BY_NAME[name]).found(CLIENT)


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
"""Ann has the button and the small blind."""


@pytest.mark.parametrize(
    ("amount", "clause"), [(-1, "holdem-4.8"), (10_000, "holdem-4.9"), (5, "holdem-4.10"), (20, "holdem-4.11")]
)
def test_invalid_bet_has_its_clause(amount: int, clause: str) -> None:
    act = f'ann> POST /games/$game/players/$ann/acts/ {{"action": 1, "betAmount": {amount}}}\nann< 201\n'
    harness = follow(parse_transcript(SEATED + act, "invalid"))
    assert harness.found(CLIENT) == {clause}
    assert harness.found(HOUSE) == set()


BOB_ACTS = 'bob> POST /games/$game/players/$bob/acts/ {"action": 1, "betAmount": 0}\n'
BOB_IS_REFUSED = f"{BOB_ACTS}bob< 403\n"
ANN_CALLS = 'ann> POST /games/$game/players/$ann/acts/ {"action": 1, "betAmount": 10}\nann< 201\n'
BOB_LOOKS = "bob> GET /games/$game\nbob< 200\n"


@pytest.mark.parametrize(
    ("conversation", "clauses"),
    [
        (BOB_IS_REFUSED, {"holdem-4.13"}),
        (BOB_LOOKS + BOB_IS_REFUSED, {"holdem-4.13"}),
        (ANN_CALLS + ANN_CALLS.replace("201", "403"), {"holdem-4.14"}),
        (ANN_CALLS + BOB_LOOKS + "* 16 seconds pass\n" + BOB_ACTS + "bob< 404\n", set()),
    ],
    ids=["before-any-view", "after-a-view", "twice", "too-late"],
)
def test_act_out_of_turn_is_held_against_a_player_who_was_not_shown_its_turn(
    conversation: str, clauses: set[str]
) -> None:
    harness = follow(parse_transcript(SEATED + conversation, "turn"))
    assert (harness.found(CLIENT), harness.found(HOUSE)) == (clauses, set())


def test_hands_are_followed() -> None:
    assert follow(TRANSCRIPTS_BY_NAME["a-hand-from-deal-to-showdown"]).hands == 2


@pytest.mark.parametrize("name", ["a-hand-from-deal-to-showdown", "a-new-user", "a-side-pot", "a-full-table"])
def test_written_transcript_can_be_replayed(name: str) -> None:
    transcript = TRANSCRIPTS_BY_NAME[name]
    harness = follow(transcript)
    head = {key: value for key, value in transcript.head.items() if key not in {"title", "clause", "fault"}}
    again = parse_transcript("".join(harness.writer.transcript("Again", head)), "again")
    assert [line.kind for line in again.lines] == [line.kind for line in transcript.lines]
    with InProcessDriver(again) as hall:
        play_http_transcript(again, hall)


def test_no_password_is_written_down() -> None:
    harness = follow(TRANSCRIPTS_BY_NAME["a-wrong-password"])
    text = "".join(harness.writer.transcript("Secret", {}))
    assert "secret" not in text
    assert "Basic " not in text


# Faulty houses.


FAULTS = {
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
    "too-deep": (
        "a-hand-from-deal-to-showdown",
        "holdem-1.5",
        lambda method, path, status, body: (status, b"[" * 10**5),
    ),
    "a-failure": ("a-hand-from-deal-to-showdown", "holdem-8.2", lambda method, path, status, body: (500, b"")),
}


class ChangedResponses(FollowedHarness):
    """A house whose responses are changed on their way to the checker."""

    def __init__(self, transcript: Transcript, change: Any) -> None:
        super().__init__(transcript)
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


@pytest.mark.parametrize("name", extended(FAULTS, 2))
def test_faulty_house_is_found(name: str) -> None:
    transcript, clause, change = FAULTS[name]
    with ChangedResponses(TRANSCRIPTS_BY_NAME[transcript], change) as harness:
        play_http_transcript(TRANSCRIPTS_BY_NAME[transcript], harness)
    assert clause in harness.found(HOUSE)
    assert "".join(harness.writer.transcript("Faulty", {})).startswith("title: Faulty\n")
