"""Transcripts of house games over real sockets: house, codec and endpoint together."""

import asyncio
import ssl
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
import trustme

from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, parse_transcript
from croupier.rooms import HOUSE_ROOMS
from tests.app.socket_harness import SocketHarness
from tests.net.raw_client import LOOPS
from tests.sampling import extended, sampled
from tests.transcript_drivers import play_transcript
from tests.transcripts import ALL_TRANSCRIPTS, is_playable_by_house

TRANSCRIPTS = [item for item in ALL_TRANSCRIPTS if is_playable_by_house(item[1])]
NAMES = [transcript.name for _, transcript in TRANSCRIPTS]
all_transcripts = pytest.mark.parametrize(("room", "transcript"), extended(TRANSCRIPTS, 3), ids=NAMES)
some_transcripts = pytest.mark.parametrize(("room", "transcript"), sampled(TRANSCRIPTS, 6), ids=NAMES)


@pytest.fixture(scope="session")
def tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The TLS contexts of a server and of a client that trusts it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


@all_transcripts
def test_room_follows_the_transcript_on_uvloop(room: HouseRoom, transcript: Transcript) -> None:
    with SocketHarness(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop)) as harness:
        play_transcript(transcript, harness, room.patterns)


@pytest.mark.parametrize(("name", "factor"), [("kuhn/idle-between-games", 250), ("kuhn/limit-on-a-decision", 5)])
def test_room_follows_the_transcript_in_real_time(name: str, factor: int) -> None:
    """All times are divided by the factor."""
    ((room, transcript),) = [item for item in TRANSCRIPTS if item[1].name == name]
    head = {
        entry: str(float(value) / factor) if entry in {"idle", "move"} else value
        for entry, value in transcript.head.items()
    }
    lines = tuple(
        replace(line, text=str(float(line.text) / factor)) if line.kind == "pass" else line for line in transcript.lines
    )
    assert lines != transcript.lines
    quick = replace(transcript, head=head, lines=lines)
    with SocketHarness(room, quick, LOOPS.get("uvloop", asyncio.new_event_loop), really_sleeps=True) as harness:
        play_transcript(quick, harness, room.patterns)


@some_transcripts
def test_room_follows_the_transcript_byte_by_byte(room: HouseRoom, transcript: Transcript) -> None:
    with SocketHarness(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop), 1) as harness:
        play_transcript(transcript, harness, room.patterns)


@some_transcripts
def test_room_follows_the_transcript_on_asyncio(room: HouseRoom, transcript: Transcript) -> None:
    with SocketHarness(room, transcript, asyncio.new_event_loop) as harness:
        play_transcript(transcript, harness, room.patterns)


@some_transcripts
def test_room_follows_the_transcript_over_tls(
    room: HouseRoom, transcript: Transcript, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    with SocketHarness(room, transcript, LOOPS.get("uvloop", asyncio.new_event_loop), tls=tls) as harness:
        play_transcript(transcript, harness, room.patterns)


WRONG = {
    "another-card": "p> STRT P_1\np< CARD C_K",
    "a-message-too-few": "p> STRT P_1\np< CARD C_Q\np> ACTN BET",
    "a-message-too-many": "p> STRT P_1\np< CARD C_Q\np< ACTN CHK\np> DISC\n* dropped p",
    "a-game-that-is-not-settled": "p> STRT P_1\np< CARD C_Q\n* settled p +1\np> DISC\n* dropped p",
    "a-settlement-that-is-missing": "p> STRT P_1\np< CARD C_Q\np> ACTN BET\np< CARD C_K",
    "a-peer-that-is-not-dropped": "p> STRT P_1\np< CARD C_Q\n* dropped p",
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_wrong_transcript_fails(
    body: str, loop_factory: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.app.socket_harness.TIMEOUT_SECONDS", 0.25)
    transcript = parse_transcript(f"title: Wrong\nclause: kuhn-4.1\ndeck: Q K J\nhouse: CAL\n{body}", "wrong")
    with (
        pytest.raises((AssertionError, TimeoutError)),
        SocketHarness(HOUSE_ROOMS["kuhn"], transcript, loop_factory) as harness,
    ):
        play_transcript(transcript, harness, HOUSE_ROOMS["kuhn"].patterns)


def test_goodbye_over_tls_arrives_while_the_client_is_still_sending(
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    """On uvloop only: asyncio's TLS resets a connection that is closed before everything was read."""
    message = "HELO" + "junk" * (1 << 18)
    transcript = parse_transcript(
        f"title: Garbage\nclause: kuhn-8.5\np> {message}\np< FAIL W_A\np< DISC\n* dropped p", "garbage"
    )
    factory = LOOPS.get("uvloop")
    assert factory is not None or sys.platform == "win32"
    if factory is not None:
        with SocketHarness(HOUSE_ROOMS["kuhn"], transcript, factory, tls=tls) as harness:
            play_transcript(transcript, harness, HOUSE_ROOMS["kuhn"].patterns)
