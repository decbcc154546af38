"""Servers and clients that share no code with croupier, in every reading: the tester accuses none of them."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product

import pytest

from tests.conformance.strangers import CHOICES, FOLDER, Choices, readings
from tests.conformance.strangers.soak import Run, check, lines
from tests.processes import Serving, croupier
from tests.sampling import extended

HOUSE_GAMES = ("kuhn", "sevenhalf", "blackjack")

MAX_SKIPPED = 0.2
"""The share of skipped cases above which the exit status does not count: a house without coins begins no game."""

READINGS = [(*program, choices) for program in CHOICES for choices in readings(*program)]


def reading_id(reading: object) -> str | None:
    """The changed choices of a reading."""
    if not isinstance(reading, dict):
        return None
    return "-".join(str(value) for value in reading.values())


def assert_no_alarm(run: Run) -> None:
    """The tester accuses the program of nothing."""
    assert run.alarms == [], "\n".join(lines(run))
    has_tested_little = run.skipped_count > MAX_SKIPPED * len(run.results)
    assert has_tested_little or run.status == 0


@pytest.mark.parametrize(
    ("room", "role", "section"),
    extended(
        [
            ("kuhn", "server", "8"),
            ("sevenhalf", "server", "8"),
            ("sevenhalf", "client", "5"),
            ("blackjack", "client", "5"),
            ("blackjack", "server", "5"),
            ("kuhn", "client", "5"),
        ],
        2,
    ),
)
def test_a_stranger_is_not_accused(room: str, role: str, section: str) -> None:
    run = check(room, role, {"pieces": "byte"}, selection=f"{room}/{section}")
    assert run.alarms == [], "\n".join(lines(run))
    assert (run.status, {result["outcome"] for result in run.results} >= {"PASS"}) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize(("room", "role", "choices"), READINGS, ids=reading_id)
def test_no_reading_of_the_document_is_accused(room: str, role: str, choices: Choices) -> None:
    assert_no_alarm(check(room, role, choices))


# Strangers and our own programs at one table.

PURSES = {"kuhn": "coins", "blackjack": "money"}
MANY_COINS = 1_000_000


@contextmanager
def stranger_serves(room: str) -> Iterator[int]:
    """Run a server that is not ours; return its port."""
    options = ["--choice", f"{PURSES[room]}={MANY_COINS}"] if room in PURSES else []
    words = [sys.executable, "-S", str(FOLDER / f"{room}_server.py"), "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split()[-1])
        finally:
            server.terminate()


@contextmanager
def croupier_serves(room: str) -> Iterator[int]:
    """Run our own server; return its port."""
    options = [f"--{PURSES[room]}", MANY_COINS] if room in PURSES else []
    with Serving(room, "--port", 0, *options) as server:
        yield server.port


@pytest.mark.parametrize("games", extended([100, 3000], 2))
@pytest.mark.parametrize(("room", "serves"), extended(product(HOUSE_GAMES, [stranger_serves, croupier_serves]), 3))
def test_strangers_and_our_programs_play_by_the_same_rules(
    room: str, serves: Callable[[str], AbstractContextManager[int]], games: int
) -> None:
    client = [sys.executable, "-S", str(FOLDER / f"{room}_client.py")]
    with serves(room) as port:
        stranger = subprocess.run(
            [
                *client,
                "127.0.0.1",
                str(port),
                *["--choice", "check=yes", "--choice", "status=5", "--choice"],
                f"games={games}",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (stranger.returncode, stranger.stdout, stranger.stderr) == (0, f"{games} games\n", "")
        ours = croupier("play", room, f"127.0.0.1:{port}", "--bot", "random", "-n", games, "--strict", "--json")
        found = json.loads(ours.stdout)
        assert (found["games"], found["fault"]) == (games, None)


def test_a_house_may_refuse_at_once_what_begins_no_message() -> None:
    choices = {"garbage": "early", "spaces": "refuse"}
    run = check("sevenhalf", "server", choices, selection="sevenhalf/2.9/quotes-around-a-card")
    assert run.alarms == [], "\n".join(lines(run))
