"""Old Maid with an independent table and player: they play with our programs."""

import asyncio
import json
import shlex
import sys
import time
from collections.abc import Sequence

import pytest

from croupier.conformance.plan import Plan
from croupier.conformance.results import Outcome
from croupier.conformance.run import check
from croupier.rooms.oldmaid import ROOM
from tests.conformance.stranger_processes import hosted, run_programs
from tests.conformance.strangers import FOLDER
from tests.processes import COMMAND, Serving

TABLE = "oldmaid_table.py"
PLAYER = "oldmaid_player.py"


def play_game(address: str, *, ours: int, strangers: Sequence[str]) -> list[dict[str, object]]:
    """Play one game with this many of our players and strangers with these options; return our summaries."""
    host, _, port = address.rpartition(":")
    options = "--bot random --json --pause 0.02 --poll-seconds 0.1 --nick"
    our_command = [*COMMAND, "play", "oldmaid", address, *options.split()]
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


READS_AN_ARRAY = """
import asyncio, sys
sys.path.insert(0, sys.argv.pop(1))
import oldmaid_player
read_players = oldmaid_player.Player.read_players
oldmaid_player.Player.read_players = lambda self, players: read_players(self, players[:])
asyncio.run(oldmaid_player.Player(oldmaid_player.parse_options()).run())
"""
"""A stranger that fails at the list of players of the document."""


@pytest.mark.extended
def test_a_player_that_reads_only_the_list_of_njaal_is_tested_in_that_dialect() -> None:
    program = shlex.join([sys.executable, "-S", "-c", READS_AN_ARRAY, str(FOLDER)])
    plan = Plan(
        room=ROOM, role="client", selection="oldmaid/4", command=f"{program} {{host}} {{port}} {{nick}} --listen named"
    )
    report = asyncio.run(check(plan, lambda _: None, time.time()))
    assert report.spoken_dialect == "njaal"
    (failed,) = [result for result in report.results if result.outcome is Outcome.FAIL]
    assert failed.failure is not None
    assert failed.failure.clause == "oldmaid-3.3"
    assert str(failed.failure.cause).startswith("it reads the list of players in no form but")


def test_the_tap_finds_no_fault_among_independent_programs() -> None:
    with (
        hosted(TABLE, "--players 3") as table,
        Serving(table.address, command=[*COMMAND, "tap", "oldmaid", "0"]) as tap,
    ):
        play_game(tap.address, ours=0, strangers=["", "", "--json compact"])
        assert tap.stop() == 0
        assert tap.read_output().rstrip().endswith("nothing is broken")
