"""`croupier tap`: printed messages, verdicts, transcripts, captures and disturbances."""

import re
import signal
import socket
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.core.transcript import parse_transcript
from croupier.replay.transcript_house import make_harness
from croupier.rooms import HOUSE_ROOMS
from tests.processes import COMMAND, PATIENCE, Background, Serving, croupier, hear, rest
from tests.transcript_drivers import play_transcript

ROOM = HOUSE_ROOMS["kuhn"]
TAP = (*COMMAND, "tap", "kuhn", "0")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A house that deals the same cards to every client and calls every bet."""
    deck = tmp_path_factory.mktemp("house") / "deck.txt"
    deck.write_text("\n\n".join(["Q\nK\nJ"] * 20))
    with Serving("kuhn", "--port", 0, "--deck", deck, "--bot", "script:CAL,CAL,CAL") as serving:
        yield serving


def tapped(house: Serving, *arguments: object) -> Serving:
    return Serving(house.address, *arguments, command=TAP)


def tap_lines(serving: Serving) -> list[str]:
    """Return the output of a tap after its end, without the times."""
    return [re.sub(r"^ *(\d+) +\d+\.\d{3}  ", r"\1 ", line) for line in serving.read_output().splitlines()]


def test_a_conversation_is_printed_and_recorded(house: Serving, tmp_path: Path) -> None:
    with tapped(house, "--transcript", tmp_path / "kept", "--pcap", tmp_path / "talk.pcap") as tap:
        with tap.call() as client:
            for sent, received in ((b"STRT P_1", b"CARD C_Q"), (b'ACTN "BET"', b"CARD C_K"), (b"DISC", b"")):
                client.sendall(sent)
                assert hear(client, len(received)) == received
            assert rest(client) == b""
        assert tap.stop() == 0
        lines = tap_lines(tap)
    assert lines[0].startswith("1 client is here: 127.0.0.1 ")
    assert "1 client → STRT P_1" in lines
    assert "1 house  ← CARD C_Q" in lines
    assert "1 client → ACTN BET  = 41 43 54 4e 20 22 42 45 54 22" in lines
    assert lines[-1].endswith("the client departs from kuhn-2.5, which is tolerated; nothing is broken")
    transcript = (tmp_path / "kept" / "kuhn-0001.txt").read_text()
    assert transcript.startswith("title: Connection 1\nclause:\np> STRT P_1\np< CARD C_Q\n")
    assert (tmp_path / "talk.pcap").read_bytes()[:4] == bytes.fromhex("d4c3b2a1")


def test_a_recorded_transcript_can_be_replayed(house: Serving, tmp_path: Path) -> None:
    with tapped(house, "--transcript", tmp_path) as tap, tap.call() as connection:
        for sent, received in ((b"STRT P_1", b"CARD C_Q"), (b"ACTN BET", b"CARD C_K"), (b"HELP", b"FAIL W_ADISC")):
            connection.sendall(sent)
            assert hear(connection, len(received)) == received
        assert rest(connection) == b""
        connection.close()
        assert tap.stop() == 1
        lines = tap_lines(tap)
    assert [line for line in lines if "✗" in line] == [
        "1 ✗ the client breaks kuhn-2.7: found 'HELP'; allowed: one of the codes STRT, ACTN, CARD, FAIL, DISC"
    ]
    text = (tmp_path / "kuhn-0001.txt").read_text()
    transcript = parse_transcript(f"deck: Q K J\nhouse: CAL\n{text}", "tapped")
    assert transcript.clauses == ("kuhn-2.7",)
    play_transcript(transcript, make_harness(ROOM, transcript), ROOM.patterns)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_violation_of_the_house_is_reported(number: signal.Signals) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rogue:
        rogue.settimeout(PATIENCE)
        target = f"127.0.0.1:{rogue.getsockname()[1]}"
        with Serving(target, command=TAP) as tap, tap.call() as client:
            client.sendall(b"STRT P_2")
            connection, _ = rogue.accept()
            with connection:
                assert hear(connection, 8) == b"STRT P_2"
                connection.sendall(b"CARD C_QACTN FLD")
                assert hear(client, 16) == b"CARD C_QACTN FLD"
                client.close()
                assert rest(connection) == b""
            tap.signal(number)
            assert tap.end() == 1
            lines = tap_lines(tap)
    at = next(number for number, line in enumerate(lines) if "✗ the house breaks kuhn-" in line)
    assert lines[at - 1] == "1 house  ← ACTN FLD"
    assert "the house breaks kuhn-" in lines[-1]


def test_a_conversation_is_chopped_and_cut(house: Serving) -> None:
    with tapped(house, "--chop", 1, "--cut-after", 3, "--direction", "client") as tap:
        with tap.call() as client:
            client.sendall(b"STRT P_1")
            assert hear(client, 8) == b"CARD C_Q"
            client.sendall(b"ACTN BET")
            assert rest(client) == b""
        assert tap.stop() == 0
        lines = tap_lines(tap)
    assert "3 messages; 0 games; cut after 3 messages; nothing is broken" in lines[-1]


def test_without_a_house_the_client_is_disconnected() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with Serving(f"127.0.0.1:{port}", command=TAP) as tap:
        with tap.call() as client:
            assert rest(client) == b""
        assert tap.stop() == 0
        lines = tap_lines(tap)
    assert "0 messages; 0 games; no house answers: " in lines[-1]


def test_a_half_closed_client_receives_the_answer(house: Serving) -> None:
    with tapped(house) as tap:
        with tap.call() as client:
            client.sendall(b"STRT P_1DISC")
            client.shutdown(socket.SHUT_WR)
            assert rest(client) == b"CARD C_Q"
        assert tap.stop() == 0


@pytest.mark.extended
def test_holdem_is_tapped_without_passwords(tmp_path: Path) -> None:
    command = (*COMMAND, "tap", "holdem", "0")
    with (
        Serving("holdem", "--port", 0) as room,
        Serving(f"http://{room.address}/", "--transcript", tmp_path, "--chop", 50, command=command) as tap,
    ):
        password = {"CROUPIER_PLAY_HOLDEM_PASSWORD": "mellon"}
        play = ("play", "holdem", tap.address, "--bot", "caller", "--hands", 3, "--user")
        with Background(*play, "ann", variables=password) as ann, Background(*play, "bob", variables=password) as bob:
            assert [ann.end().returncode, bob.end().returncode] == [0, 0]
        assert tap.stop() == 0
        lines = tap_lines(tap)
    assert any(" client → ann POST /users/" in line for line in lines)
    assert any("; turn of " in line for line in lines)
    assert all(line.endswith("nothing is broken") for line in lines if " messages; " in line)
    transcript = (tmp_path / "holdem.txt").read_text()
    assert "ann> POST /users/\n" in transcript
    assert b64encode(b"ann:mellon").decode() not in transcript + "".join(lines)
    assert "mellon" not in transcript + "".join(lines)


def test_old_maid_is_tapped_at_its_table(tmp_path: Path) -> None:
    command = (*COMMAND, "tap", "oldmaid", "0")
    with (
        Serving("oldmaid", "--port", 0, "--players", 2) as room,
        Serving(room.address, "--transcript", tmp_path, command=command) as tap,
    ):
        done = croupier("play", "oldmaid", tap.address, "--bots", 2, "--poll-seconds", "0.1", "--pause", 0)
        assert (done.returncode, done.stderr) == (0, "")
        assert tap.stop() == 0
        lines = tap_lines(tap)
    assert sum("; 1 game; " in line for line in lines) == 1
    assert (tmp_path / "oldmaid.txt").read_text().count('> {"cmd":"join"') == 2


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["whist", "0", "h:1"], "found the room 'whist'; allowed: kuhn, sevenhalf, blackjack, holdem, oldmaid"),
        (["holdem", "0", "h:1", "--decks", "2"], "found --decks 2; allowed: nothing of the kind in no-limit hold'em"),
        (["oldmaid", "0", "h:1", "--dialect", "x"], "found {'dialect': 'x'}; "),
        (["kuhn", "x", "h:1"], "found 'x'; allowed: HOST:PORT, the port 0 to 65535"),
        (["kuhn", "0", "h:0"], "found 'h:0'; allowed: HOST:PORT, the port 1 to 65535"),
        (["kuhn", "0", "http://h:1"], "found 'http://h:1', a URL; allowed: HOST or HOST:PORT"),
        (["holdem", "0", "https://h:1"], "found 'https://h:1'; allowed: http://HOST:PORT, because the relay does not"),
        (["kuhn", "0", "h:1", "--delay", "soon"], "found --delay 'soon'; allowed: a duration such as 50ms or 1.5s"),
        (["kuhn", "0", "h:1", "--chop", "-1"], "found --chop -1; allowed: 0 or more"),
        (["kuhn", "0", "h:1", "--cut-after", "0"], "found --cut-after 0; allowed: 1 or more"),
        (["kuhn", "0", "h:1", "--timeout", "0"], "found --timeout 0; allowed: more than 0"),
        (
            ["kuhn", "0", "h:1", "--dialect", "char8"],
            "found --dialect char8; allowed: nothing of the kind in Kuhn poker",
        ),
        (["blackjack", "0", "h:1", "--dialect", "char9"], "found {'dialect': 'char9'}; "),
        (["kuhn", "0", "h:1", "--pcap", "nowhere/x.pcap"], "nowhere/x.pcap: No such file or directory"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: list[str], found: str) -> None:
    done = croupier("tap", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"croupier: {found}")


def test_an_address_in_use_is_reported(house: Serving) -> None:
    done = croupier("tap", "kuhn", house.address, "127.0.0.1:1")
    assert done.returncode == 2
    assert done.stderr.startswith(f"croupier: cannot listen on {house.address}: ")


def test_a_capture_that_cannot_be_written_ends_the_tap(house: Serving) -> None:
    with tapped(house, "--pcap", "/dev/full") as tap:
        with tap.call() as client:
            client.sendall(b"DISC")
            assert rest(client) == b""
        assert tap.end() == 2
        assert "No space left on device" in tap.log
