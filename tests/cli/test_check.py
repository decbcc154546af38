"""`croupier check` as a student calls it: a server, a client, what is wrong with them, and what could not be tested."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from croupier.cli import app
from croupier.cli.check import build_options, parse_reports, room_of_selection
from croupier.conformance.case import select
from croupier.conformance.report.reports import REPORT_FORMATS
from croupier.conformance.run import Role
from croupier.conformance.run import cases as cases_of
from croupier.rooms import ROOMS
from tests.processes import COMMAND, ROOT, Serving, environment

PATIENCE = 90.0
PROGRAMS = ROOT / "tests" / "conformance" / "programs"


def otherwise(habit: str, room: str = "kuhn") -> str:
    """The command of a server that writes its messages otherwise."""
    return shlex.join([sys.executable, "-m", "tests.conformance.dialect_server", room, "{port}", habit])


HONEST = otherwise("honest")


def check(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "check", *map(str, arguments)],
        env=environment({"COLUMNS": "200", "PYTHONPATH": str(ROOT), **variables}),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def cases(text: str, outcome: str) -> set[str]:
    """The ids of the cases that came to this, as they were told."""
    return {*re.findall(rf"^\S {outcome} +(\S+/\S+/\S+) ", text, re.MULTILINE)}


def test_our_own_server_passes_and_every_case_is_told() -> None:
    with Serving("kuhn", "--port", "0") as server:
        done = check("kuhn/4.1", server.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(cases(done.stdout, "PASS")) >= 1
    assert done.stdout.rstrip().endswith("No case fails.")
    assert f"kuhn: the server {server.address}" in done.stdout


def test_a_server_is_started_tested_and_stopped(tmp_path: Path) -> None:
    """And every report is written."""
    files = [f"{kind}={tmp_path / kind}" for kind in REPORT_FORMATS]
    done = check("kuhn/4.1", "--server", HONEST, "--report", *files)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads((tmp_path / "json").read_text())
    assert (told["status"], told["counts"]["FAIL"]) == (0, 0)
    assert ET.parse(tmp_path / "junit").getroot().get("failures") == "0"
    assert (tmp_path / "tap").read_text().startswith("TAP version 14\n1..")
    assert (tmp_path / "html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "gradescope").read_text())["tests"][0]["status"] == "passed"
    assert (tmp_path / "md").read_text().startswith("# kuhn: the server ")


def test_a_dialect_is_named_once_and_the_rest_is_judged_in_it() -> None:
    done = check("kuhn/4", "--server", otherwise("ends its messages with a NUL"))
    assert done.returncode == 1
    assert "dialect: the server departs from the protocol all along: it ends its messages with a NUL" in done.stdout
    assert re.search(r"✘ 1 FAIL", done.stdout)
    assert re.search(r"✔ \d\d PASS", done.stdout)


def test_a_dialect_that_is_known_is_said_and_one_that_there_is_not_is_refused() -> None:
    known = build_options([ROOMS["holdem"].options, ROOMS["holdem"].settings], {"dialect": "hspe-go"}, ROOMS["holdem"])
    assert known.dialect == "hspe-go"
    with pytest.raises(ValueError, match=r"found \{'dialect': 'welsh'\}"):
        build_options([ROOMS["holdem"].options, ROOMS["holdem"].settings], {"dialect": "welsh"}, ROOMS["holdem"])


def test_a_failure_shows_its_clause_its_bytes_its_cause_and_how_to_repeat_it(tmp_path: Path) -> None:
    command = otherwise("writes its integers as text", "sevenhalf")
    done = check("sevenhalf/4.1", "--server", command, "--timeout", 1, "--report", f"json={tmp_path / 'found'}")
    assert done.returncode == 1
    told = json.loads((tmp_path / "found").read_text())
    failed = [result for result in told["results"] if result["outcome"] == "FAIL"]
    assert failed[0]["failure"]["cause"] == "it writes its integers as text"
    assert failed[0]["failure"]["text"]
    options = f"--server {shlex.quote(command)} --seed 1 --timeout 1.0"
    assert failed[0]["repeat"] == f"croupier check {failed[0]['case']} {options}"
    assert failed[0]["repeat"] in done.stdout
    assert "likely" in done.stdout
    again = check(*shlex.split(failed[0]["repeat"])[2:])
    assert again.returncode == 1
    assert cases(again.stdout, "FAIL") == {failed[0]["case"]}


def test_a_client_is_tested_by_a_house_of_ours() -> None:
    command = shlex.join([sys.executable, "-I", "-S", str(PROGRAMS / "kuhn_client.py"), "{host}", "{port}"])
    honest = check("kuhn/4.1", "--client", command)
    assert (honest.returncode, honest.stderr) == (0, "")
    assert "kuhn: the client" in honest.stdout
    rogue = check("kuhn/4.1", "--client", f"{command} --habit no-space", "--timeout", 1)
    assert rogue.returncode == 1
    assert "it forgets the space" in rogue.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chess"], "found the room 'chess'; allowed: kuhn, sevenhalf, blackjack"),
        (["kuhn/4.99"], "found 'kuhn/4.99'; allowed: ROOM[/SECTION[/CASE]], as in kuhn/4.9"),
        (["kuhn", "127.0.0.1:1", "--server", "true"], "found HOST:PORT and --server; allowed: one of them"),
        (["kuhn", "127.0.0.1:nowhere"], "found '127.0.0.1:nowhere'; allowed: HOST or HOST:PORT"),
        (["kuhn", "--report", "pdf=x"], "found --report pdf=x; allowed: KIND=FILE, KIND one of html, junit, tap, json"),
        (["kuhn", "--report", "md=/nowhere/x"], "found --report md=/nowhere/x; allowed: a file in a folder"),
        (["kuhn", "--decks", "2"], "found --decks 2; allowed: nothing of the kind in Kuhn poker"),
        (["sevenhalf", "--dialect", "welsh"], "found {'dialect': 'welsh'}"),
        (["kuhn", "--deck-flag", "--deck {file}"], "found --deck-flag '--deck {file}'; allowed: with --server"),
        (["kuhn", "--timeout", "0"], "found --timeout 0; allowed: more than 0"),
        (["kuhn", "--max-failures", "0"], "found --max-failures 0; allowed: 1 or more"),
        (["kuhn", "--server", "no-such-program {port}"], "no-such-program"),
        (["kuhn", "--server", "true {nowhere}"], "found {nowhere} in 'true {nowhere}'; allowed: {host}, {port}"),
    ],
)
def test_what_cannot_be_tested_is_said_and_is_not_green(arguments: list[str], told: str) -> None:
    done = check(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("croupier: ")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_cannot_be_tested() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    done = check("kuhn", f"127.0.0.1:{port}")
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr


def test_a_server_that_does_not_start_shows_what_it_has_said() -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('no such deck')", "{port}"])
    done = check("kuhn", "--server", command)
    assert done.returncode == 2
    assert "no such deck" in done.stderr


def test_the_cases_of_both_roles_are_listed_with_what_cannot_be_tested() -> None:
    done = check("kuhn", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    server, client = done.stdout.split("client: ", 1)
    assert len(re.findall(r"^  kuhn/\d+\.\d+/\S+  \S", server, re.MULTILINE)) >= 50
    assert len(re.findall(r"^  kuhn/\d+\.\d+/\S+  \S", client, re.MULTILINE)) >= 50
    assert "  kuhn-8.5  " in server
    assert "  kuhn-8.5  " in client
    part = check("kuhn/4.3", "--list").stdout
    assert {*re.findall(r"kuhn[/-](\d+\.\d+)", part)} == {"4.3"}


def test_a_deck_shows_what_luck_does_not_bring_up() -> None:
    stubborn = otherwise("stubborn")
    assert check("kuhn/4.4", "--server", stubborn).stdout.count("SKIP") > 0
    done = check("kuhn/4.4", "--server", stubborn, "--deck-flag", "{file}")
    assert done.returncode == 0
    assert cases(done.stdout, "SKIP") <= cases(done.stdout, "PASS")


def test_a_server_that_takes_no_deck_is_judged_by_what_luck_brought_up() -> None:
    done = check("kuhn/4.4", "--server", otherwise("stubborn"), "--deck-flag", "{file} but not so", "--timeout", 1)
    assert done.returncode == 0
    assert "takes no connections" in done.stdout
    assert cases(done.stdout, "SKIP")


def test_a_terminal_without_unicode_is_told_by_words() -> None:
    done = check("kuhn/4.3", "--server", HONEST, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "? PASS" in done.stdout


def test_who_wants_quiet_hears_what_came_of_it() -> None:
    done = check("kuhn/4.1", "--server", HONEST, "--quiet")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert re.match(r"✔ \d+ PASS", done.stdout)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_ends_its_server_when_it_is_ended_itself(number: int, status: int) -> None:
    process = subprocess.Popen(
        [*COMMAND, "check", "kuhn", "--server", HONEST],
        env=environment({"COLUMNS": "200"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert "PASS" in process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert children
    end = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < end, "it is still there"
        os.sched_yield()


DOCUMENTED = re.findall(r"^croupier (check .+)$", (ROOT / "docs" / "check.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", DOCUMENTED)
def test_the_commands_of_the_page_are_understood_and_choose_cases_that_there_are(command: str) -> None:
    _, bound, *_ = app.parse_args(shlex.split(command), exit_on_error=False, print_error=False)
    selection = bound.arguments["selection"]
    role: Role = "client" if bound.arguments.get("client") else "server"
    assert select(cases_of(room_of_selection(selection), role), selection)
    asked = bound.arguments.get("report") or []
    assert len(parse_reports(asked)) == len(asked)
