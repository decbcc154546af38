"""`croupier play`: bots, summaries, and errors of houses that are unreachable or break the protocol."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
import trustme

from croupier.cli.play import ConnectionOptions, server_address
from croupier.rooms import HOUSE_ROOMS
from tests.ports import closed_port
from tests.processes import PATIENCE, Background, Serving, croupier


def play(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return croupier("play", "kuhn", *arguments, variables=variables)


@pytest.fixture(scope="module")
def house() -> Iterator[Serving]:
    with Serving("kuhn", "--port", "0", "--seed", "5", "--log-level", "error") as server:
        yield server


def test_a_bot_plays_all_games_and_prints_a_summary(house: Serving) -> None:
    done = play(house.address, "--bot", "random", "--games", "300", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["games"], summary["fault"]) == (0, 300, None)
    low, high = summary["interval_95"]
    assert low < summary["coins_per_game"] < high
    assert summary["coins_per_game"] == pytest.approx(summary["coins"] / 300)


def test_a_bot_with_an_empty_purse_reconnects(house: Serving) -> None:
    done = play(house.address, "--bot", "book:never-bet", "-n", "400", "--json")
    assert json.loads(done.stdout)["connections"] > 1


def test_the_summary_has_the_server_and_the_interval(house: Serving) -> None:
    done = play("-s", house.host, "-p", str(house.port), "-n", "50", "--bot", "equilibrium")
    assert done.returncode == 0
    assert done.stdout.startswith(f"equilibrium against {house.host}:{house.port}: 50 games in ")
    assert "95 % interval" in done.stdout


@pytest.mark.parametrize(
    ("options", "found"), [(("-n", "5"), "--games"), (("--json", "--no-rebuy"), "--json, --no-rebuy")]
)
def test_options_of_bots_need_the_name_of_a_bot(house: Serving, options: tuple[str, ...], found: str) -> None:
    done = play(house.address, *options)
    assert done.returncode == 2
    assert f"found {found} without --bot; allowed: --bot NAME (--bot help lists the bots)" in done.stderr


def test_the_seat_flag(house: Serving) -> None:
    done = play(f":{house.port}", "--bot", "script:FLD,CHK", "--seat", "2", "-n", "20", "--json")
    assert json.loads(done.stdout)["games"] == 20


def test_environment_variables_set_flags(house: Serving) -> None:
    done = play(
        CROUPIER_PLAY_KUHN_PORT=str(house.port), CROUPIER_PLAY_KUHN_GAMES="7", CROUPIER_PLAY_KUHN_BOT="book:no-jack"
    )
    assert done.stdout.startswith(f"book:no-jack against 127.0.0.1:{house.port}: 7 games in ")


def test_the_bots_are_listed() -> None:
    done = play("--bot", "help")
    forms = ["FILE.py:CLASS[:ARGUMENT]", "'COMMAND"]
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*HOUSE_ROOMS["kuhn"].bots, *forms]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bot", "nobody"], "found the bot 'nobody'; allowed: equilibrium, random"),
        (["--bot", "equilibrium:1/2"], "found alpha = 1/2; allowed: 0 to 1/3"),
        (["--bot", "equilibrium:half"], "equilibrium:half"),
        (["--bot", "random:3"], "found the bot 'random:3'"),
        (["--bot", "script:BET,RAISE"], "allowed: CHK, BET, CAL, FLD"),
        (["--bot", "random", "-n", "0"], "found --games 0; allowed: 1 or more"),
        (["--bot", "random", "--answer-seconds", "0"], "found --answer-seconds 0; allowed: more than 0"),
        (["127.0.0.1:poker"], "found '127.0.0.1:poker'; allowed: HOST or HOST:PORT"),
        (["127.0.0.1:99999"], "found the port 99999; allowed: 1 to 65535"),
        (["--tls-ca", "/nowhere.pem"], "cannot read /nowhere.pem: No such file"),
        (["--tls-ca", __file__], f"found {__file__}; allowed: a certificate in PEM format"),
        (["--tls-cert", __file__], f"found {__file__}; allowed: a certificate and its private key in PEM format"),
    ],
)
def test_an_invalid_argument_is_explained(arguments: list[str], message: str) -> None:
    done = play(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unreachable_house_is_reported() -> None:
    port = closed_port()
    done = play(f"127.0.0.1:{port}", "--bot", "random")
    assert done.returncode == 1
    assert f"no house answers at 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def rogue(*answers: bytes) -> Iterator[int]:
    """Run a house that sends the next of `answers` after each read, and then closes. Yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for answer in answers:
                    connection.recv(4096)
                    connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass

        thread = Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(PATIENCE)


@pytest.mark.parametrize(
    ("answers", "clause"),
    [
        ([b"YOUR CARD IS KING"], "kuhn-2.7"),
        ([b"CARD C_K", b"CARD C_K"], "kuhn-5.4"),
        ([b"CARD C_K", b"ACTN CAL"], "kuhn-4.8"),
        ([b"CARD C_K", b""], "kuhn-4.4"),
        ([b"CARD C_K", b"FAIL W_A"], "kuhn-4.4"),
    ],
)
def test_a_protocol_violation_of_the_house_is_reported(answers: list[bytes], clause: str) -> None:
    with rogue(*answers) as port:
        done = play(f":{port}", "--bot", "book:always-bet", "--seat", "1")
    assert done.returncode == 1
    assert f": {clause}: found" in done.stderr
    assert "no game was finished" in done.stdout


def test_a_house_that_disconnects_is_an_error() -> None:
    with rogue(b"DISC") as port:
        done = play(f":{port}", "--bot", "random")
    assert done.returncode == 1


def test_a_bot_does_not_reconnect_forever_to_a_house_without_coins() -> None:
    with Serving("kuhn", "--port", "0", "--coins", "0", "--log-level", "error") as server:
        done = play(f":{server.port}", "--bot", "random")
    assert done.returncode == 1
    assert "gives a new connection no coins to play with" in done.stderr


def test_the_last_message_of_a_house_is_printed() -> None:
    with rogue(b"CARD C_K", b"Syntax error\n") as port:
        done = play(f":{port}", "--bot", "book:always-bet", "--seat", "1", "--json")
    assert "last received: 'Syntax error\\n'" in done.stderr
    assert json.loads(done.stdout)["fault"].endswith("last received: 'Syntax error\\n'")


def test_no_rebuy_ends_the_bot_when_its_purse_is_empty() -> None:
    with Serving("kuhn", "--port", "0", "--coins", "1", "--bot", "script:CHK", "--seed", "3") as server:
        done = play(f":{server.port}", "--bot", "script:FLD,CHK", "--no-rebuy", "-n", "50", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["fault"], summary["connections"]) == (0, None, 1)
    assert 0 < summary["games"] < 50


def test_a_bot_plays_over_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    keys = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    with Serving("kuhn", "--port", "0", "--log-level", "error", *keys) as server:
        good = play(f":{server.port}", "--tls-ca", str(tmp_path / "ca.pem"), "-n", "10", "--bot", "random", "--json")
        assert json.loads(good.stdout)["games"] == 10
        untrusted = play(f":{server.port}", "--tls", "-n", "10", "--bot", "random")
        assert untrusted.returncode == 1
        assert "certificate" in untrusted.stderr.lower()


@pytest.mark.parametrize(
    ("given", "connection", "expected"),
    [
        (None, ConnectionOptions(), ("127.0.0.1", None)),
        (None, ConnectionOptions(server="cards.example", port=7), ("cards.example", 7)),
        ("cards.example", ConnectionOptions(), ("cards.example", None)),
        ("cards.example:9", ConnectionOptions(), ("cards.example", 9)),
        (":9", ConnectionOptions(), ("127.0.0.1", 9)),
        ("[::1]:9", ConnectionOptions(), ("::1", 9)),
        ("[::1]", ConnectionOptions(port=3), ("::1", 3)),
        ("::1", ConnectionOptions(port=3), ("::1", 3)),
        (None, ConnectionOptions(server="::1"), ("::1", None)),
        (None, ConnectionOptions(server="cards.example:9"), ("cards.example", 9)),
    ],
)
def test_addresses_are_parsed_in_every_form(
    given: str | None, connection: ConnectionOptions, expected: tuple[str, int | None]
) -> None:
    assert server_address(given, connection) == expected


def test_an_interrupted_bot_ends_without_a_traceback() -> None:
    """The bot is interrupted while it waits for a house that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        with Background("play", "kuhn", f":{server.getsockname()[1]}", "--bot", "random") as process:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(PATIENCE)
                assert connection.recv(8)
                process.signal(signal.SIGINT)
                assert connection.recv(8) in {b"DISC", b""}
            done = process.end()
    assert (done.returncode, done.stderr) == (130, "")
    assert "no game was finished" in done.stdout
