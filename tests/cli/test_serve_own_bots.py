"""`croupier serve --bot` with a class in a Python file: it plays for the house, and its failures end no game."""

import json
from pathlib import Path

import pytest

from tests.core.test_bot_files import write
from tests.processes import Serving, croupier

CALLS = "class X:\n def choose(self, view, legal, luck): return 'BET' if 'BET' in legal else 'CAL'"


def play(house: Serving) -> dict[str, object]:
    done = croupier("play", "kuhn", house.address, "--bot", "book:always-bet", "-n", "30", "--json")
    assert done.returncode == 0, done.stderr
    summary: dict[str, object] = json.loads(done.stdout)
    return summary


def test_a_class_in_a_file_plays_for_the_house(tmp_path: Path) -> None:
    write(tmp_path, CALLS)
    with Serving("kuhn", "--port", 0, "--seed", 1, "--bot", "mine.py:X", cwd=tmp_path) as house:
        own = play(house)
    with Serving("kuhn", "--port", 0, "--seed", 1, "--bot", "book:always-bet") as house:
        built_in = play(house)
    assert own["coins"] == built_in["coins"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "class X:\n def choose(self, view, legal, luck):\n  raise KeyError(view)",
            "line 3: KeyError",
        ),
        ("class X:\n def choose(self, view, legal, luck): return view.card", "an illegal move; allowed: CHK, BET"),
        (
            "MADE = []\nclass X:\n"
            " def __init__(self):\n  MADE.append(1)\n  if len(MADE) > 1: exit()\n"
            " def choose(self, view, legal, luck): ...",
            "line 5: SystemExit",
        ),
    ],
)
@pytest.mark.extended
def test_the_house_checks_and_folds_for_a_bot_that_fails_and_logs_why(tmp_path: Path, source: str, reason: str) -> None:
    write(tmp_path, source)
    own = ("--bot", "mine.py:X", "--referee", "--seed", 1, "--log-level", "error")
    with Serving("kuhn", "--port", 0, *own, cwd=tmp_path) as house:
        summary = play(house)
        house.wait_for_event("the bot has failed")
        log = house.log
    with Serving("kuhn", "--port", 0, "--seed", 1, "--bot", "book:never-bet") as house:
        passive = play(house)
    assert (summary["games"], summary["coins"]) == (30, passive["coins"])
    assert "mine.py:X" in log
    assert reason in log
    assert "card=" not in log
    assert "violation" not in log


def test_a_bot_that_cannot_be_made_is_refused_at_the_start(tmp_path: Path) -> None:
    write(tmp_path, "1 / 0")
    done = croupier("serve", "kuhn", "--port", "0", "--bot", "mine.py:X", cwd=tmp_path)
    assert done.returncode == 2
    assert "the file cannot be run: line 1: ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("bot", ["127.0.0.1:1212", "java -jar mine.jar {port}"])
def test_a_house_has_no_bot_in_another_process(bot: str) -> None:
    done = croupier("serve", "kuhn", "--port", "0", "--bot", bot)
    assert done.returncode == 2
    assert "allowed: equilibrium, random, book, script, FILE.py:CLASS" in done.stderr
