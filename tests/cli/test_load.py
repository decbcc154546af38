"""`croupier load`: its processes, output, exit status and errors."""

import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, Self

import pytest
from rich.console import Console

from croupier.cli import load as load_command
from croupier.cli import main
from croupier.cli.load import LoadOptions, show_progress
from croupier.load import processes
from croupier.load.measurement import Measurement
from croupier.load.plan import Plan
from croupier.load.processes import LoadProcesses
from croupier.load.report import to_json
from croupier.rooms import ROOMS
from tests.ports import closed_port
from tests.processes import Background, Serving, croupier


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_processes_share_the_players_and_their_figures_are_merged(tmp_path: Path) -> None:
    log = tmp_path / "load.hlog"
    flags = ("--players", 4, "--seconds", 1, "--processes", 2, "--total-rate", 100, "--json", "--out", log)
    with Serving("kuhn", "--port", 0) as server:
        done = croupier("load", "kuhn", server.address, *flags)
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert (found["connected"], found["errors"], found["loop"]) == (4, {}, "open")
    assert 50 < found["offered"] < 150
    assert 0 < found["achieved"] <= found["offered"]
    assert log.read_text().count("Tag=") == 3


@pytest.mark.extended
def test_ctrl_c_prints_the_result_so_far() -> None:
    with (
        Serving("kuhn", "--port", 0, "--log-level", "debug") as server,
        Background("load", "kuhn", server.address, "--seconds", 600) as load,
    ):
        server.wait_for_event("joined", 2)  # the first connection only shows that there is a server
        load.signal(signal.SIGINT)
        done = load.end()
    assert done.returncode == 130
    assert "achieved" in done.stdout


@pytest.mark.parametrize("room", ["kuhn", "holdem", "oldmaid"])
def test_a_server_that_is_not_there_is_reported_at_once(room: str) -> None:
    address = f"127.0.0.1:{closed_port()}"
    done = croupier("load", room, address, "--seconds", 600)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"croupier: no server answers at {address}: connection refused\n"


@pytest.mark.extended
def test_a_house_that_gives_no_coins_is_an_error() -> None:
    with Serving("kuhn", "--port", 0, "--coins", 0, "--log-level", "error") as server:
        done = croupier("load", "kuhn", server.address, "--players", 1, "--seconds", 0.5)
    assert done.returncode in {1, 2}, "2: the generator was too busy"
    assert "games       0 finished" in done.stdout
    assert "× the house gives a connection no coins to play with" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["kuhn", ":1", "--rate", "1", "--total-rate", "1"], "found --rate and --total-rate; allowed: one of them"),
        (["kuhn", ":1", "--rate", "0"], "found --rate 0; allowed: more than 0"),
        (["kuhn", ":1", "--players", "0"], "found --players 0; allowed: 1 or more"),
        (["kuhn", ":1", "--bot", "prog -s {host} -p {port}"], "a program; allowed: equilibrium"),
        (["holdem", ":1", "--processes", "3"], "found --processes 3; allowed: 1 to 2"),
        (["oldmaid", ":1", "--table-players", "1"], "found --table-players 1; allowed: 2 or more"),
    ],
)
def test_invalid_options_are_refused(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["load", *arguments])
    assert ended.value.code == 2
    assert error in " ".join(capsys.readouterr().err.split())


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in [name for name in sys.modules if name.startswith(("hdrh", "croupier.load."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hdrh.histogram", None)
    with pytest.raises(SystemExit) as ended:
        main(["load", "kuhn", ":1"])
    assert ended.value.code == 1
    assert "pip install 'croupier[load]'" in capsys.readouterr().err


def test_every_room_has_a_bot_that_is_cheap() -> None:
    for room in ROOMS.values():
        assert load_command.CHEAP_BOTS[room.name] in room.bots


def test_progress_is_shown_in_lines_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(load_command, "monotonic", lambda: now)
    with show_progress(Console(file=StringIO())) as show:
        for now in (1.0, 5.0, 6.0, 10.0):
            show(Measurement().figures(0.0, now, 0.1, (0,) * 19))
    assert [line.partition(":")[2].split(" s")[0] for line in capsys.readouterr().err.splitlines()] == [" 5", " 10"]


def test_progress_is_one_line_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen = StringIO()
    with show_progress(Console(file=screen, force_terminal=True, width=120)) as show:
        show(Measurement().figures(0.0, 7.0, 0.1, (0,) * 19))
    assert "7 s: 0 connected, 0.0 acts/s" in screen.getvalue()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"answered": 5}, 0),
        ({"answered": 0}, 1),
        ({"answered": 5, "errors": Counter({"refused": 1})}, 1),
        ({"answered": 5, "errors": Counter({"refused": 1}), "busy_share": 0.95}, 2),
    ],
)
def test_the_exit_status_says_what_went_wrong(
    changes: dict[str, Any], status: int, silent_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = replace(Measurement().figures(0.0, 1.0, 0.1, (0,) * 19), **changes)

    class Finished(LoadProcesses):
        """Processes that have finished with these figures."""

        def __enter__(self) -> Self:
            self._figures[0] = figures
            return self

    monkeypatch.setattr("croupier.load.processes.LoadProcesses", Finished)
    with pytest.raises(SystemExit) as ended:
        main(["load", "kuhn", silent_server])
    assert ended.value.code == status


def die(plan: Plan, number: int, connection: Any) -> None:
    """A process that dies before it is ready."""
    os._exit(7)


def test_a_process_that_dies_ends_the_load(
    silent_server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "_work", die)
    with pytest.raises(SystemExit) as ended:
        main(["load", "kuhn", silent_server])
    assert ended.value.code == 1
    assert "a process of the load generator has died" in capsys.readouterr().err


def test_a_rate_in_all_is_shared_by_the_players() -> None:
    plan = LoadOptions(players=20, total_rate=50.0).to_plan(ROOMS["kuhn"], ":1", ROOMS["kuhn"].options(), 1)
    assert plan.rate == 2.5
    assert to_json(plan, Measurement().figures(0.0, 1.0, 0.0, (0,) * 19))["loop"] == "open"
