"""Paper runs through real sockets: the house, the codec and the switchboard together say what is on the paper."""

import asyncio
import ssl
import sys
from collections.abc import Callable

import pytest
import trustme

from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, parse_transcript, play_transcript
from croupier.rooms import HOUSE_ROOMS
from tests.app.socket_harness import Socketed
from tests.net.raw_client import LOOPS
from tests.sampling import sampled
from tests.transcripts import ALL, for_the_house

PAPERS = [paper for paper in ALL if for_the_house(paper[1])]
NAMES = [transcript.name for _, transcript in PAPERS]
papers = pytest.mark.parametrize(("room", "transcript"), PAPERS, ids=NAMES)
some_papers = pytest.mark.parametrize(("room", "transcript"), sampled(PAPERS, 6), ids=NAMES)


@pytest.fixture(scope="session")
def tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The two ends of TLS, with an authority made for this run."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


@papers
def test_the_room_plays_its_part_on_uvloop(room: HouseRoom, transcript: Transcript) -> None:
    with Socketed(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop)) as stage:
        play_transcript(transcript, stage, room.patterns)


@some_papers
def test_the_room_plays_its_part_byte_by_byte(room: HouseRoom, transcript: Transcript) -> None:
    with Socketed(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop), 1) as stage:
        play_transcript(transcript, stage, room.patterns)


@some_papers
def test_the_room_plays_its_part_on_plain_asyncio(room: HouseRoom, transcript: Transcript) -> None:
    with Socketed(room, transcript, asyncio.new_event_loop) as stage:
        play_transcript(transcript, stage, room.patterns)


@some_papers
def test_the_room_plays_its_part_over_tls(
    room: HouseRoom, transcript: Transcript, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    with Socketed(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop), tls=tls) as stage:
        play_transcript(transcript, stage, room.patterns)


WRONG = {
    "another-card": "p> STRT P_1\np< CARD C_K",
    "a-word-too-few": "p> STRT P_1\np< CARD C_Q\np> ACTN BET",
    "a-word-too-many": "p> STRT P_1\np< CARD C_Q\np< ACTN CHK\np> DISC\n* dropped p",
    "a-game-that-is-not-settled": "p> STRT P_1\np< CARD C_Q\n* settled p +1\np> DISC\n* dropped p",
    "a-settlement-that-is-not-told": "p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K",
    "a-peer-that-is-not-dropped": "p> STRT P_1\np< CARD C_Q\n* dropped p",
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_a_paper_that_is_wrong_is_found_out(
    body: str, loop_factory: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.app.socket_harness.PATIENCE", 0.25)
    transcript = parse_transcript(f"title: Wrong\nclause: kuhn-4.1\ndeck: Q K J\nhouse: CAL\n{body}", "wrong")
    with (
        pytest.raises((AssertionError, TimeoutError)),
        Socketed(HOUSE_ROOMS["kuhn"], transcript, loop_factory) as stage,
    ):
        play_transcript(transcript, stage, HOUSE_ROOMS["kuhn"].patterns)


def test_a_farewell_over_tls_is_not_lost_to_what_the_client_was_still_sending(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    """On uvloop: the TLS of plain asyncio resets the connection when it closes before it has read everything."""
    words = "HELO" + "junk" * (1 << 18)
    transcript = parse_transcript(
        f"title: Garbage\nclause: kuhn-8.5\np> {words}\np< FAIL W_A\np< DISC\n* dropped p", "garbage"
    )
    factory = LOOPS.get("uvloop")
    assert factory is not None or sys.platform == "win32"
    if factory is not None:
        with Socketed(HOUSE_ROOMS["kuhn"], transcript, factory, tls=tls) as stage:
            play_transcript(transcript, stage, HOUSE_ROOMS["kuhn"].patterns)
