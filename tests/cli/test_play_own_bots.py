"""`croupier play --bot` with the user's own bots: classes in Python files, and programs that speak the protocol."""

import json
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.test_bot_files import HONEST, write
from tests.processes import PATIENCE, Background, Serving, croupier, is_running

OURS = shlex.join([sys.executable, "-m", "croupier"])
"""A program that speaks every protocol: croupier itself."""


@pytest.fixture(scope="module")
def kuhn() -> Iterator[Serving]:
    with Serving("kuhn", "--port", "0", "--seed", "5", "--log-level", "error") as server:
        yield server


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("kuhn", HONEST),
        ("sevenhalf", "class Honest:\n def choose(self, view, legal, luck): return legal[luck.below(2) % len(legal)]"),
        ("blackjack", HONEST),
    ],
)
def test_a_class_in_a_file_plays_against_every_house(tmp_path: Path, room: str, source: str) -> None:
    write(tmp_path, source)
    with Serving(room, "--port", "0", "--log-level", "error") as house:
        done = croupier("play", room, house.address, "--bot", "mine.py:Honest", "-n", "40", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["bot"], summary["games"], summary["fault"]) == (0, "mine.py:Honest", 40, None)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("1 / 0", "line 4: ZeroDivisionError: division by zero"),
        ("return 'CALL'", "IllegalMove: 'CALL' is not allowed here; allowed: C"),
        ("return None", "IllegalMove: None is not allowed here; allowed: C"),
        ("raise SystemExit(3)", "line 4: SystemExit: 3"),
    ],
)
def test_a_class_that_fails_ends_the_run_with_the_reason_after_the_summary(
    tmp_path: Path, kuhn: Serving, body: str, reason: str
) -> None:
    path = write(
        tmp_path, f"class X:\n def choose(self, view, legal, luck):\n  if luck.below(4): return legal[0]\n  {body}"
    )
    done = croupier("play", "kuhn", kuhn.address, "--bot", f"{path}:X", "--seat", "1", "--seed", "3")
    assert done.returncode == 1
    assert done.stdout.startswith(f"{path}:X against {kuhn.address}: ")
    assert "croupier: the bot has failed: " in done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_without_the_class_is_explained(tmp_path: Path, kuhn: Serving) -> None:
    done = croupier("play", "kuhn", kuhn.address, "--bot", f"{write(tmp_path, HONEST)}:X")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no class 'X'; allowed: " in done.stderr


def test_a_class_in_a_file_plays_holdem(tmp_path: Path) -> None:
    write(tmp_path, "class Calls:\n def choose(self, view, legal, luck): return view.call")
    with Serving("holdem", "--port", "0", "--log-level", "error") as server:
        command = ("play", "holdem", server.address)  # each bot is a new user
        with Background(*command, "--bot", "caller"):
            done = croupier(*command, "--bot", "mine.py:Calls", "-n", "5", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["bot"], summary["hands"]) == (0, "mine.py:Calls", 5)


def test_classes_in_a_file_play_old_maid(tmp_path: Path) -> None:
    write(tmp_path, HONEST)
    with Serving("oldmaid", "--port", "0", "--players", "2", "--log-level", "error") as table:
        done = croupier(
            "play", "oldmaid", table.address, "--bot", "mine.py:Honest", "--bots", "2", "--json", cwd=tmp_path
        )
    assert [player["games"] for player in json.loads(done.stdout)["players"]] == [1, 1]


def test_a_program_plays_with_the_address_filled_in_and_shows_its_output(kuhn: Serving) -> None:
    command = f"{OURS} play kuhn {{host}}:{{port}} --bot random -n 7"
    done = croupier("play", "kuhn", kuhn.address, "--bot", command)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"random against {kuhn.address}: 7 games in ")
    assert lines[-1].startswith(f"{command} against {kuhn.address}: ")
    assert lines[-1].endswith(", exit status 0")
    assert (done.returncode, done.stderr) == (0, "")


def test_with_json_the_output_of_a_program_is_standard_error(kuhn: Serving) -> None:
    command = f"{shlex.quote(sys.executable)} -c 'print(\"thinking\")'"
    done = croupier("play", "kuhn", kuhn.address, "--bot", command, "--json")
    assert json.loads(done.stdout) == {"bot": command, "house": kuhn.address, "exit_statuses": [0]}
    assert done.stderr == "thinking\n"


def test_a_program_that_fails_is_reported_with_its_status_and_its_stderr(kuhn: Serving) -> None:
    done = croupier("play", "kuhn", kuhn.address, "--bot", f"{sys.executable} -c 'raise SystemExit(\"no card\")'")
    assert done.returncode == 1
    assert "no card" in done.stderr
    assert "has failed: exit status 1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--bot", "./nothing {port}"], "'./nothing' cannot be started: No such file or directory"),
        (["--bot", "./nothing {prot}"], "found {prot} in './nothing {prot}'; allowed: {host}, {port}"),
        (["--bot", "a {port}", "-n", "3"], "found --games and the command 'a {port}'; allowed: options of the program"),
        (["--bot", "127.0.0.1:1212"], "with {port} (docs/bots.md, What --bot takes)"),
    ],
)
def test_a_program_that_cannot_play_is_explained(kuhn: Serving, arguments: list[str], reason: str) -> None:
    done = croupier("play", "kuhn", kuhn.address, *arguments)
    assert (done.returncode, done.stdout) == (1 if "started" in reason else 2, "")
    assert reason in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_program_and_what_it_has_started(tmp_path: Path, kuhn: Serving, number: int) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "child.wait()\n"
        "signal.pause()\n"
    )
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    with Background("play", "kuhn", kuhn.address, "--bot", command) as process:
        pids = [int(pid) for pid in wait_for_line(tmp_path / "pids").split()]
        process.signal(number)
        assert process.end().returncode == 130
    wait_until_gone(pids)


def wait_for_line(file: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if file.exists() and (text := file.read_text()).endswith("\n"):
            return text
        time.sleep(0.01)
    raise TimeoutError(file)


def wait_until_gone(pids: list[int]) -> None:
    end = time.monotonic() + PATIENCE
    while alive := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < end, alive
        time.sleep(0.01)


@pytest.mark.extended
def test_programs_play_holdem_with_the_user_that_is_registered() -> None:
    with Serving("holdem", "--port", "0", "--log-level", "error") as server:
        command = ("play", "holdem", server.address, "--password", "secret")
        own = f"{OURS} play holdem {{url}} --user {{user}} --password {{password}} --bot caller -n 4"
        with Background(*command, "--user", "ann", "--bot", "caller"):
            done = croupier(*command, "--user", "bob", "--bot", own)
    assert done.returncode == 0, done.stderr
    assert "4 hands in" in done.stdout


@pytest.mark.extended
def test_programs_play_old_maid_under_numbered_nicks() -> None:
    with Serving("oldmaid", "--port", "0", "--players", "2", "--log-level", "error") as table:
        own = f"{OURS} play oldmaid {{host}}:{{port}} --nick {{nick}} --bot random"
        done = croupier("play", "oldmaid", table.address, "--bot", own, "--bots", "2", "--nick", "ada", "--json")
    assert json.loads(done.stdout)["exit_statuses"] == [0, 0]
    assert all(f"ada{number}: 1 game" in done.stderr for number in (1, 2))
