"""`croupier matrix`: a whole run, an interrupted and continued run, and errors."""

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.conformance.test_matrix import hand_in
from tests.processes import COMMAND, PATIENCE, croupier, environment

MATRIX = (*COMMAND, "matrix")

type StartMatrix = Callable[..., tuple[subprocess.Popen[str], str]]


def matrix(*arguments: object) -> subprocess.CompletedProcess[str]:
    return croupier("matrix", *arguments, variables={"COLUMNS": "120"}, timeout=6 * PATIENCE)


def running(folder: Path) -> list[str]:
    """Return the command lines of processes whose working directory is inside a folder."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            working_folder = str((process / "cwd").readlink())
        except OSError:  # the process has just ended
            continue
        if str(folder) in working_folder:
            commands.append(command)
    return commands


def test_a_matrix_includes_the_reference_server_and_client(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server="deals-twice", client=None)
    done = matrix(folder, "--out", out, "--games", 1, "--timeout", 60)
    assert done.stderr == ""
    assert done.returncode == 0
    assert "kuhn: ada at ada: plays well" in done.stdout
    assert "kuhn: ada at bob: the server breaks kuhn-5.4: " in done.stdout
    assert "6 of 6 cells are in " in done.stdout
    assert "§ broke a clause" in done.stdout
    found = json.loads((out / "matrix.json").read_text())
    assert [student["id"] for student in found["students"]] == ["ada", "bob", "croupier"]
    kinds = {(cell["server"], cell["client"]): cell["finding"]["kind"] for cell in found["cells"]}
    well, broke = "plays well", "broke a clause"
    assert kinds == {
        ("ada", "ada"): well,
        ("ada", "croupier"): well,
        ("bob", "ada"): broke,
        ("bob", "croupier"): broke,
        ("croupier", "ada"): well,
        ("croupier", "croupier"): well,
    }
    assert [*csv.reader((out / "matrix.csv").read_text().splitlines())][1:] == [
        ["ada", "ada", "Ada", "ada", "100.0", "100.0", "100.0"],
        ["bob", "bob", "Bob", "bob", "0.0", "0.0", "-"],
    ]


def test_strange_submissions_harm_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "croupier")
    (folder / "croupier" / "__init__.py").write_text("raise SystemExit('this is not croupier')")
    hand_in(folder, "bob", build="false")
    (folder / "bob").rename(folder / os.fsdecode(b"b\xffob"))
    hand_in(folder, "deep", client=None)
    (folder / "deep" / "submission.toml").write_text(f"name = {'[' * 3000}")
    hand_in(folder, "huge", client=None)
    os.truncate(folder / "huge" / "submission.toml", 1 << 40)
    toml = folder / "ada" / "submission.toml"
    toml.write_text(toml.read_text() + "\n[blackjack]\nserver = 7\n")
    monkeypatch.chdir(folder)
    done = matrix(folder, "--out", out, "--games", 1)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((out / "matrix.json").read_text())
    kinds = {(cell["room"], cell["server"], cell["client"]): cell["finding"]["kind"] for cell in found["cells"]}
    good = ("ada", "croupier", "croupier~")
    assert {kinds["kuhn", server, client] for server in good for client in good} == {"plays well"}
    for room, name in (("kuhn", "b\\xffob"), ("kuhn", "deep"), ("kuhn", "huge"), ("blackjack", "ada")):
        assert kinds[room, name, "croupier"] == kinds[room, "croupier", name] == "cannot be used"
        reasons = [line for line in done.stdout.splitlines() if line.startswith(f"{room}: {name} cannot be used: ")]
        assert len(reasons) == 1
    assert {"ada.json", "croupier~.json", "b\\xffob.json"} < {path.name for path in (out / "gradescope").iterdir()}


@pytest.mark.extended
def test_an_interrupt_ends_all_programs_and_the_run_can_continue(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server=None, client="says-nothing")
    arguments = [str(each) for each in (folder, "--out", out, "--no-reference", "--timeout", 60)]
    process = subprocess.Popen(
        [*MATRIX, *arguments], env=environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 3 * PATIENCE
        while not any("says-nothing" in command for command in running(out)):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.02)
        assert any("server honest" in command for command in running(out))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert running(out) == []
    assert b"1 of 2 cells are in " in output
    assert b"1 remain: run the same command to continue" in output
    assert len((out / "cells.jsonl").read_text().splitlines()) == 1
    assert "more to come" in (out / "matrix.html").read_text()
    hand_in(folder, "bob", server=None, client="acts-first")
    done = matrix(*arguments)
    assert done.returncode == 0
    assert "ada at ada" not in done.stdout, "this cell was saved"
    assert "kuhn: bob at ada: the client breaks kuhn-6.2: " in done.stdout


@pytest.fixture
def watched() -> Iterator[StartMatrix]:
    """A function that starts a matrix with a page; it returns the process and the URL of the page."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> tuple[subprocess.Popen[str], str]:
        command = [*MATRIX, *map(str, arguments), "--watch"]
        process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("The class is at http://127.0.0.1:")
        return process, line.split()[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.extended
def test_the_page_of_a_class_stays_until_an_interrupt(tmp_path: Path, watched: StartMatrix) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada")
    hand_in(folder, "bob", server="deals-twice", client=None)
    options = ("--out", out, "--games", 1, "--no-reference", "--anonymous")
    process, url = watched(folder, *options)
    assert process.stdout is not None
    lines = []
    while not lines or "until you press Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1]
    assert sorted(line.split(" is ")[1] for line in lines[:2]) == ["Ada (ada)\n", "Bob (bob)\n"]
    assert (out / "matrix.csv").exists()
    page = httpx.get(url, follow_redirects=True, timeout=PATIENCE).text
    assert "2 of 2 cells" in page
    assert "broke a clause, kuhn-5.4" in page
    assert "Bob" not in page
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


@pytest.mark.extended
def test_an_interrupt_before_the_end_closes_the_page_and_writes_results(tmp_path: Path, watched: StartMatrix) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada", client="says-nothing")
    process, url = watched(folder, "--out", out, "--no-reference", "--timeout", 60)
    end = time.monotonic() + 3 * PATIENCE
    while "is played now" not in httpx.get(url, follow_redirects=True, timeout=PATIENCE).text:
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "0 of 1 cells are in " in output
    assert "more to come" in (out / "matrix.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["class", "--anonymous"], "found --anonymous without --watch; allowed: both"),
        (["class", "--watch-port", "8001"], "found --watch-port without --watch; allowed: both"),
        (["nowhere"], "found 'nowhere' (No such file or directory); allowed: a folder with submissions"),
        (["."], "found no folder in '.'; allowed: one for each submission"),
        ([".", "--games", "0"], "found --games 0; allowed: 1 or more"),
        ([".", "--jobs", "0"], "found --jobs 0; allowed: 1 or more"),
        ([".", "--timeout", "0"], "found --timeout 0; allowed: more than 0"),
        ([".", "--decks", "2"], "found --decks without --room; allowed: both"),
        (
            ["class", "--room", "holdem"],
            "found holdem, whose conversations cannot be relayed; allowed: kuhn, sevenhalf,",
        ),
        (["class", "--room", "kuhn", "--decks", "2"], "found --decks 2; allowed: nothing of the kind in Kuhn poker"),
        (["empty"], "no submission has a program for any of these rooms: kuhn, sevenhalf, blackjack"),
    ],
)
def test_invalid_arguments_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], found: str
) -> None:
    if arguments[0] == "class":
        hand_in(tmp_path / "class", "ada")
    if arguments[0] == "empty":
        (tmp_path / "empty" / "nobody").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    done = matrix(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"croupier: {found}")


def test_an_unwritable_output_folder_is_an_error(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada")
    (tmp_path / "out").write_text("a file")
    done = matrix(tmp_path / "class", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "File exists" in done.stderr
