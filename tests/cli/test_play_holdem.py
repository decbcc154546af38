"""`croupier play holdem`: bots, summaries, and errors."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import trustme

from croupier.clients.luck import make_luck
from croupier.rooms.holdem.bots import BOT_SPECS
from tests.ports import closed_port
from tests.processes import PATIENCE, Background, Serving, croupier

ANN = ("--user", "ann", "--password", "secret")


def play(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a bot: the default one unless another is named."""
    bot = () if "--bot" in arguments or "CROUPIER_PLAY_HOLDEM_BOT" in variables else ("--bot", "equity")
    return croupier("play", "holdem", *arguments, *bot, variables=variables)


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with Serving("holdem", "--port", "0", "--log-level", "error") as running:
        yield running


@contextmanager
def rival_bot(address: str, *flags: str) -> Iterator[Background]:
    """Run a bot that calls until the end of the context, and then leaves."""
    login = ("--user", "bob", "--password", "hidden")
    with Background("play", "holdem", address, *login, "--bot", "caller", *flags) as process:
        try:
            yield process
        finally:
            process.signal(signal.SIGINT)
            process.end()


def test_a_bot_plays_all_hands_and_prints_a_summary(server: Serving) -> None:
    with rival_bot(server.address):
        done = play(server.address, *ANN, "--bot", "random", "--hands", "30", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["bot"], summary["fault"]) == (0, "random", None)
    assert summary["hands"] in {30, 31}, "a player that is behind may see two hands end at once"
    assert summary["house"] == server.address
    low, high = summary["interval_95"]
    assert low < summary["chips_per_hand"] < high
    assert summary["chips_per_hand"] == pytest.approx(summary["chips"] / summary["hands"])
    assert summary["seats"] >= 1


def test_two_bots_with_a_number_of_hands_both_end(server: Serving) -> None:
    hands = ("--bot", "caller", "--hands", "30", "--wait", str(PATIENCE), "--json")
    with Background("play", "holdem", server.address, "--user", "eve", "--password", "hidden", *hands) as other:
        done = play(server.address, *ANN, "--bot", "tight", "--hands", "30", "--json")
        assert json.loads(done.stdout)["hands"] in {30, 31}
        assert json.loads(other.end().stdout)["hands"] in {30, 31}


def test_a_bot_that_waits_alone_ends_after_the_limit(server: Serving) -> None:
    done = play(server.address, *ANN, "--bot", "caller", "--wait", "1")
    assert (done.returncode, done.stdout) == (1, f"caller against {server.address}: no hand was finished\n")
    assert done.stderr == f"croupier: {server.address}: waited 1 second for other players\n"


def test_without_a_terminal_the_default_bot_plays(server: Serving) -> None:
    with rival_bot(server.address):
        done = play(f"http://{server.address}/", *ANN, "-n", "3")
    assert done.returncode == 0
    assert done.stdout.startswith(f"equity against http://{server.address}/: 3 hands in ")
    assert " chips, " in done.stdout
    assert " a hand" in done.stdout


def test_an_interrupted_bot_prints_its_summary(server: Serving) -> None:
    with rival_bot(server.address, "-n", "1000000", "--json") as process:
        assert play(server.address, *ANN, "--bot", "maniac", "-n", "5", "--json").returncode == 0
        process.signal(signal.SIGINT)
        done = process.end()
    assert (done.returncode, done.stderr) == (130, "")
    assert json.loads(done.stdout)["hands"] >= 5


def test_a_seed_fixes_the_randomness_of_a_bot() -> None:
    first, again, other = (make_luck(seed, "holdem bot") for seed in (4, 4, 5))
    drawn = [first.below(1000) for _ in range(20)]
    assert drawn == [again.below(1000) for _ in range(20)]
    assert drawn != [other.below(1000) for _ in range(20)]


def test_environment_variables_set_flags(server: Serving) -> None:
    with rival_bot(server.address):
        done = play(
            server.address,
            CROUPIER_PLAY_HOLDEM_USER="ann",
            CROUPIER_PLAY_HOLDEM_PASSWORD="secret",
            CROUPIER_PLAY_HOLDEM_BOT="tight:20",
            CROUPIER_PLAY_HOLDEM_HANDS="2",
        )
    assert done.stdout.startswith(f"tight:20 against {server.address}: 2 hands in ")


def test_the_bots_are_listed_without_a_server() -> None:
    done = play("--bot", "help")
    assert [line.split()[0] for line in done.stdout.splitlines()[:-2]] == [*BOT_SPECS]
    assert "FILE.py:CLASS" in done.stdout


def test_help_does_not_import_the_http_client() -> None:
    script = (
        "import sys; from croupier.cli import app; app(['play', 'holdem', '--help'], result_action='return_value'); "
        "sys.exit('croupier.cli.holdem' not in sys.modules or 'croupier.clients.http_exchange' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "--password" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*ANN, "--bot", "nobody"], "found the bot 'nobody'; allowed: equity, tight"),
        ([*ANN, "--bot", "tight:99"], "found 99 points; allowed: 0 to 20"),
        ([*ANN, "-n", "0"], "found --hands 0; allowed: 1 or more"),
        ([*ANN, "--wait", "0"], "found --wait 0; allowed: 1 or more"),
        (["--user", "a:b", "--password", "x"], "found the name 'a:b'; allowed: one without a colon"),
        (["ftp://127.0.0.1", *ANN], "found 'ftp://127.0.0.1'; allowed: http://HOST:PORT or https://HOST:PORT"),
        (["http://", *ANN], "allowed: http://HOST:PORT or https://HOST:PORT"),
        ([*ANN, "--tls-ca", "/nowhere.pem"], "cannot read /nowhere.pem: No such file"),
        (["--password", "x"], "username and password are required; set --user and CROUPIER_PLAY_HOLDEM_PASSWORD"),
        (["--user", "ann"], "username and password are required"),
    ],
)
def test_an_invalid_argument_is_explained(arguments: list[str], message: str) -> None:
    assert_fails(play(*arguments), message, status=2)


def assert_fails(done: subprocess.CompletedProcess[str], message: str, status: int = 1) -> None:
    assert done.returncode == status
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unreachable_server_is_reported_at_once() -> None:
    port = closed_port()
    assert_fails(play(f"127.0.0.1:{port}", *ANN), f"127.0.0.1:{port}: no answer to POST /users/: ")


def test_a_wrong_password_is_reported(server: Serving) -> None:
    assert "no name" not in play(server.address, "--user", "dan", "--password", "one", "--game", "x").stderr
    assert_fails(
        play(server.address, "--user", "dan", "--password", "two"),
        f"{server.address}: wrong password for this user",
    )


def test_a_refusal_of_the_server_is_quoted(server: Serving) -> None:
    assert_fails(
        play(server.address, "--user", "x" * 65, "--password", ""), "refused the request: 400 Bad Request: holdem-2.5: "
    )
    assert_fails(play(server.address, *ANN, "--game", "../users"), "404 Not Found: holdem-8.3")


class OtherHttpServer(BaseHTTPRequestHandler):
    """An HTTP server of another application: answers everything with the same text."""

    def do_POST(self) -> None:
        self.send_response(201)
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b"<html></html"[:12])

    def log_message(self, *arguments: object) -> None:
        pass


def test_a_server_of_another_application_breaks_a_clause() -> None:
    with HTTPServer(("127.0.0.1", 0), OtherHttpServer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            done = play(f"127.0.0.1:{server.server_address[1]}", *ANN)
        finally:
            server.shutdown()
            thread.join(PATIENCE)
    assert_fails(done, "broke the protocol: holdem-")


def test_a_bot_plays_over_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    keys = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    trusting = ("--tls-ca", str(tmp_path / "ca.pem"))
    with Serving("holdem", "--port", "0", "--log-level", "error", *keys) as server:
        address = f"https://{server.address}"
        with rival_bot(address, *trusting):
            good = play(address, *ANN, *trusting, "--bot", "caller", "-n", "2", "--json")
        assert json.loads(good.stdout)["hands"] == 2
        assert_fails(play(address, *ANN), "certificate")


@pytest.mark.parametrize(
    "url",
    [
        "http://eve:hidden@127.0.0.1:1",
        "eve:hidden@127.0.0.1",
        "http://eve:hid#hidden@127.0.0.1",
        "http://eve:hidden/hidden@127.0.0.1:1",
        "http://127.0.0.1/?password=hidden",
    ],
)
def test_the_error_about_a_url_shows_no_password(url: str) -> None:
    done = play(url, *ANN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "allowed: http://HOST:PORT" in done.stderr
    assert "hidden" not in done.stderr
    assert "secret" not in done.stderr
