"""`croupier arena`: its results, its record, and what it says of faulty bots and commands."""

import json
import re
import signal
import sys
from io import StringIO
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from rich.console import Console

from croupier.arena.runner import SerialRunner
from croupier.arena.tournament import Tournament
from croupier.cli.arena import PlanOptions, show_progress
from croupier.version import __version__
from tests.arena import bots, faulty_kuhn_client
from tests.cli.test_play_own_bots import wait_for_line, wait_until_gone
from tests.processes import Background, croupier

FILE = Path(bots.__file__)
FEW_HANDS = ("kuhn", "equilibrium", "book:always-bet", "--duplicate", "--adjust", "--hands", "400")
PAIR = (*FEW_HANDS[:-1], "4000")


def run(*arguments: object, status: int = 0) -> str:
    done = croupier("arena", *arguments, variables={"COLUMNS": "100"})
    assert done.returncode == status, done.stderr
    return done.stdout if status in {0, 130} else done.stderr


def results(*arguments: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(*arguments, "--json"))["pairs"]
    return found


def test_a_narrow_terminal_shows_the_results_as_lines() -> None:
    done = croupier("arena", "kuhn", "random", "book", "--hands", 200, variables={"COLUMNS": "40"})
    assert max(map(len, done.stdout.splitlines())) <= 40
    found = re.fullmatch(
        r"random against book: ([+-]0\.\d{4}) ± 0\.\d{4} coins/hand, 200 hands, finished", " ".join(done.stdout.split())
    )
    assert found is not None, done.stdout


def test_a_number_of_hands_that_is_rounded_up_is_said() -> None:
    done = croupier("arena", "kuhn", "random", "book", "--hands", 300, "--json")
    assert json.loads(done.stdout)["pairs"][0]["hands"] == 400
    assert done.stderr == "croupier: --hands 300 is rounded up to 400, because they are played in chunks\n"


def test_json_has_the_result_of_every_pairing_and_how_it_was_made() -> None:
    (pair,) = results(*PAIR)
    assert pair["low"] < 1 / 9 < pair["high"], "the exact mean"
    assert pair["low"] < pair["mean"] < pair["high"]
    leaks = pair.pop("leaks")
    assert {leak["choice"] for leak in leaks["b"]} >= {"calls with J facing a bet", "bets with Q as P_1"}
    assert {name: pair[name] for name in pair if name not in {"mean", "low", "high"}} == {
        "a": "equilibrium",
        "b": "book:always-bet",
        "hands": 4000,
        "unit": "coins/hand",
        "method": {
            "duplicate": True,
            "adjust": "kuhn-random-1",
            "known": ["a", "b"],
            "statistic": "pair",
            "interval": "student",
            "alpha": 0.05,
            "t_star": 1000,
            "pilot_pairs": 0,
        },
        "status": "finished",
        "fault_counts": {"a": 0, "b": 0},
        "faults": [],
    }


@pytest.mark.extended
def test_until_sure_ends_when_the_interval_excludes_0() -> None:
    decided, undecided = results(
        "kuhn", "equilibrium", "random", "equilibrium:1/6", "--until-sure", "--hands", "2000", "--schedule", "gauntlet"
    )
    assert (decided["status"], decided["method"]["interval"]) == ("decided", "sequence")
    assert decided["low"] > 0
    assert decided["hands"] < 2000
    assert (undecided["status"], undecided["hands"]) == ("undecided", 2000)
    assert undecided["low"] < 0 < undecided["high"]


@pytest.mark.extended
def test_bots_that_may_remember_are_judged_by_chunks() -> None:
    (pair,) = results("kuhn", "random", f"{FILE}:First", "--until-sure")
    assert (pair["method"]["statistic"], pair["method"]["known"]) == ("chunk", ["a"])
    assert pair["hands"] >= 4000


@pytest.mark.extended
def test_at_a_bank_the_bots_are_compared_by_the_same_shoes() -> None:
    (pair,) = results("blackjack", "exact", "book", "--duplicate", "--adjust", "--hands", "2000")
    assert pair["unit"] == "bets/hand"
    assert 0 < pair["low"] < 0.031 < pair["high"] < 0.04
    assert pair["leaks"]["a"] == []
    lost = sum(leak["cost"] for leak in pair["leaks"]["b"])
    assert lost == pytest.approx(pair["mean"])


def test_only_leaks_that_are_estimated_are_part_of_the_plan() -> None:
    assert PlanOptions().make_plan("holdem", ("tight", "caller"), leaks=True).leaks
    assert not PlanOptions().make_plan("holdem", ("tight", "caller")).leaks
    assert not PlanOptions().make_plan("kuhn", ("random", "random"), leaks=True).leaks


@pytest.mark.extended
def test_the_table_has_a_row_for_each_pairing_and_leaks_on_demand() -> None:
    text = run(*FEW_HANDS, "random")
    assert [line.split()[:2] for line in text.splitlines() if "finished" in line] == [
        ["equilibrium", "book:always-bet"],
        ["equilibrium", "random"],
        ["book:always-bet", "random"],
    ]
    assert "costs" not in text
    assert "No choice is known to cost a bot anything." in run("sevenhalf", "book", "book", "--hands", "2", "--leaks")
    leaks = run(*FEW_HANDS, "--leaks")
    assert "book:always-bet against equilibrium loses" in leaks
    assert "\n  calls with J facing a bet: costs 0.0" in leaks


def test_faults_of_bots_are_results() -> None:
    text = run("kuhn", "random", f"{FILE}:Raises", f"{FILE}:Illegal", "--hands", "400", "--schedule", "gauntlet")
    assert re.search(
        r"Raises against random: 4 faults, the first in hand 50: line \d+: RuntimeError: \('no idea', <object", text
    )
    assert "Illegal against random: 3 faults, the first in hand 1: the illegal move ['CHK']; allowed: CHK, BET" in text
    assert [word for word in text.split() if word in {"finished", "forfeit"}] == ["finished", "forfeit"]


def test_what_a_bot_prints_is_not_in_the_results() -> None:
    (pair,) = results("kuhn", "random", f"{FILE}:Prints", "--hands", "400")
    assert pair["status"] == "finished"


@pytest.mark.extended
def test_an_interrupted_tournament_goes_on_with_the_same_result(tmp_path: Path) -> None:
    words = ("kuhn", "equilibrium", f"{FILE}:First", "--hands", 60_000, "--duplicate", "--json")
    whole = run(*words)
    folder = tmp_path / "tournament"
    with Background("arena", *words, "--out", folder) as process:
        chunks = folder / "chunks.jsonl"
        while not chunks.exists() or chunks.read_bytes().count(b"\n") < 2:
            sleep(0.01)
        process.signal(signal.SIGINT)
        done = process.end()
    assert done.returncode == 130
    assert "run the same command with --resume to go on" in done.stderr
    assert json.loads(done.stdout)["pairs"][0]["status"] == "interrupted"
    with chunks.open("ab") as file:
        file.write(b'{"pairing":[0,1],"chu')  # as a power cut leaves it
    assert run(*words, "--out", folder, "--resume", "--jobs", 2) == whole
    assert json.loads((folder / "results.json").read_text()) == json.loads(whole)
    played = chunks.read_bytes()
    assert run(*words, "--out", folder, "--resume") == whole
    assert chunks.read_bytes() == played, "nothing was left to play"


@pytest.mark.extended
def test_a_folder_holds_one_tournament(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text(FILE.read_text())
    words = ("kuhn", "random", f"{bot}:First", "--hands", 200, "--out", tmp_path / "out")
    run(*words)
    assert "add --resume to go on, or choose another folder" in run(*words, status=2)
    assert "with seed = 1" in run(*words, "--resume", "--seed", 2, status=2)
    plan = tmp_path / "out" / "plan.json"
    recorded = plan.read_text()
    assert f'"croupier":"{__version__}"' in recorded
    plan.write_text(recorded.replace(__version__, "0.0.1"))
    assert "with croupier = '0.0.1'" in run(*words, "--resume", status=2)
    plan.write_text(recorded)
    bot.write_text(f"{FILE.read_text()}\n# better\n")
    assert "with sources = (None, 'sha256:" in run(*words, "--resume", status=2)


@pytest.mark.extended
def test_programs_play_and_their_crashes_are_results() -> None:
    command = f"{sys.executable} -S {Path(faulty_kuhn_client.__file__)} {{host}} {{port}}"
    words = ("kuhn", "equilibrium", f"{command} none 1000", f"{command} crash 20", "--schedule", "gauntlet")
    played, crashed = results(*words, "--duplicate", "--adjust", "--hands", "1000", "--jobs", "2")
    assert (played["status"], played["hands"], played["method"]["known"]) == ("finished", 1000, ["a"])
    assert played["mean"] > 0, "it always checks and folds"
    assert (crashed["status"], crashed["hands"]) == ("forfeit", 0)
    assert crashed["faults"][0]["reason"] == "it ended during the hand with exit status 1: ValueError: no idea"


@pytest.mark.extended
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_programs_end_with_the_tournament(tmp_path: Path, number: int) -> None:
    file = tmp_path / "id"
    command = f"{sys.executable} -S {Path(faulty_kuhn_client.__file__)} {{host}} {{port}} absent {file}"
    with Background("arena", "kuhn", "random", command) as process:
        pid = int(wait_for_line(file))
        process.signal(number)
        process.end()
    wait_until_gone([pid])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("oldmaid", "random", "random"), "the arena does not play"),
        (("go", "random", "random"), "found the room 'go'"),
        (("kuhn", "random"), "found 1 bot; allowed: two or more"),
        (("kuhn", "random", "clever"), "found the bot 'clever'"),
        (
            ("kuhn", "java Mine {host} {port}", "mine {port}"),
            "(a client) and 'mine {port}' (a client) against each other",
        ),
        (("kuhn", "random", "book", "--answer-seconds", "0"), "found --answer-seconds 0; allowed: more than 0"),
        (("kuhn", "random", "book", "--hands", "1"), "found --hands 1; allowed: 2 or more"),
        (("kuhn", "random", "book", "--jobs", "0"), "found --jobs 0; allowed: 1 or more"),
        (("kuhn", "random", "book", "--resume"), "found --resume without --out"),
        (("kuhn", "random", "book", "--watch-port", "8000"), "found --watch-port without --watch"),
        (("kuhn", "random", "book", "--jobs", "2", "--cluster", "127.0.0.1:1"), "found --jobs with --cluster"),
        (("holdem", "tight", "127.0.0.1:1", "--jobs", "2"), "found --jobs 2 and the server '127.0.0.1:1', where our"),
        (
            ("holdem", "tight", "127.0.0.1:1", "--cluster", "127.0.0.1:1"),
            "found --cluster and the server '127.0.0.1:1', where our bots could meet; allowed: one process",
        ),
        (("kuhn", "random", "book", "--cluster", "localhost"), "allowed: HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT"),
    ],
)
def test_a_wrong_command_is_explained(words: tuple[str, ...], error: str) -> None:
    assert error in run(*words, status=2)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_on_a_terminal_the_interval_so_far_is_shown(is_terminal: bool) -> None:
    plan = PlanOptions(hands=2000).make_plan("kuhn", ("equilibrium", "random"))
    tournament, output = Tournament(plan), StringIO()
    console = Console(file=output, force_terminal=is_terminal, width=100)
    with show_progress(tournament, console) as show:
        for series in tournament.play(SerialRunner(plan)):
            show(series)
            if len(series.tallies) == 5:
                break  # the output is drawn at the end
    assert ("equilibrium v random: +0." in output.getvalue()) == is_terminal
