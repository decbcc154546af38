"""Old Maid with an independent table and player: the tester accuses neither, and they play with our programs."""

import json
import shlex
import sys
from collections.abc import Sequence

import pytest

from tests.conformance.stranger_checks import (
    FOLDER,
    check,
    command,
    draw_options,
    failed,
    hosted,
    readings,
    run_programs,
    skipped,
)
from tests.processes import COMMAND, Serving

TABLE = "oldmaid_table.py"
PLAYER = "oldmaid_player.py"

TABLE_CHOICES = (
    ("--players 4", "--players 2", "--players 3", "--players 6", "--players 8"),
    ("--join-window 1", "--join-window 0.5", "--join-window 10"),
    ("", "--json compact", "--json reversed"),
    ("", "--ending none", "--ending crlf"),
    ("", "--errors bare"),
    ("", "--garbage close"),
    ("", "--list njaal"),
    ("", "--early-out accepted"),
    ("", "--extra-keys"),
)
PLAYER_CHOICES = (
    ("", "--listen named"),
    ("", "--json compact", "--json pretty"),
    ("", "--status-seconds 0.2", "--end stay"),
    ("", "--lost-turn wait"),
    ("", "--out again"),
    ("", "--pick-pause 0", "--pick-pause 0.1"),
)
"""The readings of what the document leaves open, and the permitted settings; the default comes first."""

MOST_SKIPPED = 40
"""More cases are never skipped at a table for two: those that take three players."""


def check_table(options: str, selection: str = "oldmaid", seed: int = 1) -> dict[str, str]:
    return check(selection, "--server", command(TABLE, "{port}", options), "--seed", seed)


def check_player(options: str, selection: str = "oldmaid", seed: int = 1) -> dict[str, str]:
    return check(selection, "--client", command(PLAYER, "{host} {port} {nick}", options), "--seed", seed)


@pytest.mark.parametrize("section", ["oldmaid/6"])
def test_an_independent_table_is_not_accused(section: str) -> None:
    outcomes = check_table("--join-window 1", section)
    assert failed(outcomes) == set()
    assert list(outcomes.values()).count("PASS") >= 10


@pytest.mark.parametrize(("options", "selection"), [("", "oldmaid/7.2"), ("--out again", "oldmaid/7.9/left-is-out")])
def test_an_independent_player_is_not_accused(options: str, selection: str) -> None:
    outcomes = check_player(options, selection)
    assert set(outcomes.values()) == {"PASS"}


def test_a_player_with_a_nick_of_its_own_is_not_accused() -> None:
    outcomes = check("oldmaid/1.4/table-in-pieces", "--client", command(PLAYER, "{host} {port} student", ""))
    assert set(outcomes.values()) == {"PASS"}


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", *readings(TABLE_CHOICES, {})])
def test_no_reading_of_a_table_is_accused(options: str) -> None:
    outcomes = check_table(options)
    assert failed(outcomes) == set()
    assert len(skipped(outcomes)) <= MOST_SKIPPED


PLAYER_READINGS = (
    "",
    "--listen named --json compact --pick-pause 0",
    "--json pretty --status-seconds 0.2 --pick-pause 0.1",
    "--end stay --lost-turn wait",
    "--out again --lost-turn wait",
)
"""Combinations of all readings: a run takes as long as the games it plays."""


@pytest.mark.slow
@pytest.mark.parametrize("options", PLAYER_READINGS)
def test_no_reading_of_a_player_is_accused(options: str) -> None:
    outcomes = check_player(options)
    assert failed(outcomes) == set()
    assert skipped(outcomes) == set()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 1001, 25))
def test_no_table_is_accused_with_any_seed(first: int) -> None:
    for seed in range(first, first + 25):
        assert failed(check_table(draw_options(TABLE_CHOICES, {}, seed), seed=seed)) == set(), seed


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, 1001, 25))
def test_no_player_is_accused_with_any_seed(first: int) -> None:
    for seed in range(first, first + 25):
        assert failed(check_player(draw_options(PLAYER_CHOICES, {}, seed), seed=seed)) == set(), seed


def play_game(address: str, *, ours: int, strangers: Sequence[str]) -> list[dict[str, object]]:
    """Play one game with this many of our players and strangers with these options; return our summaries."""
    host, _, port = address.rpartition(":")
    our_command = [*COMMAND, "play", "oldmaid", address, "--json", "--pause", "0.02", "--poll-seconds", "0.1", "--nick"]
    words = [[*our_command, f"ours{number}"] for number in range(ours)]
    words += [
        [sys.executable, "-S", str(FOLDER / PLAYER), host, port, f"stranger{number}", *shlex.split(options)]
        for number, options in enumerate(strangers)
    ]
    return [json.loads(output)["players"][0] for output in run_programs(words)[:ours]]


FULL_TABLE = ("", "--listen named --json compact", "--json pretty --pick-pause 0.1")


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "--json reversed --ending none --extra-keys --garbage close"])
def test_our_players_and_strangers_play_at_an_independent_table(options: str) -> None:
    with hosted(TABLE, f"--players 5 {options}") as table:
        summaries = play_game(table.address, ours=2, strangers=FULL_TABLE)
    assert [(one["games"], one["faults"]) for one in summaries] == [(1, [])] * 2


@pytest.mark.slow
def test_our_players_and_strangers_play_at_our_table() -> None:
    with Serving("oldmaid", "--port", 0, "--players", 5) as table:
        summaries = play_game(table.address, ours=2, strangers=FULL_TABLE)
    assert [(one["games"], one["faults"]) for one in summaries] == [(1, [])] * 2


def test_the_tap_finds_no_fault_among_independent_programs() -> None:
    with (
        hosted(TABLE, "--players 3") as table,
        Serving(table.address, command=[*COMMAND, "tap", "oldmaid", "0"]) as tap,
    ):
        play_game(tap.address, ours=0, strangers=["", "", "--json compact"])
        assert tap.stop() == 0
        assert tap.read_output().rstrip().endswith("nothing is broken")
