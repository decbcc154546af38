"""The exit status of every command: 2 if the command line is wrong, 1 if the command failed."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from croupier.cli import app, main
from tests.ports import closed_port
from tests.processes import croupier
from tests.sampling import extended

WRONG_USE = [
    "deal",
    "--config missing.toml serve kuhn",
    "serve chess",
    "serve kuhn --nothing",
    "serve kuhn --port x",
    "serve kuhn --port 99999",
    "serve kuhn --coins -1",
    "serve kuhn --deck missing.txt",
    "serve kuhn --deck bad.txt",
    "serve kuhn --bot nobody",
    "serve kuhn --port 0 --tls-cert missing.pem --tls-key missing.pem",
    "serve kuhn --port 0 --log missing/log.txt",
    "demo --port x",
    "play chess",
    "play kuhn --games 0 --bot random",
    "play kuhn --bot bad.py:Bot",
    "play kuhn 127.0.0.1:x --bot random",
    "play kuhn --tls-ca missing.pem --bot random",
    "play holdem ftp://127.0.0.1 --bot caller",
    "play oldmaid --bots 0",
    "watch holdem ftp://127.0.0.1",
    "watch web ftp://127.0.0.1",
    "verify missing.jsonl",
    "solve chess",
    "solve bad.py",
    "solve missing.py",
    "solve sevenhalf --max-bet 0",
    "exploit kuhn nobody",
    "exploit kuhn random --games 0",
    "check chess",
    "check kuhn 127.0.0.1:x",
    "check kuhn --server missing-program",
    "arena chess random random",
    "arena kuhn random",
    "arena kuhn random nobody",
    "load kuhn 127.0.0.1:x",
    "load kuhn 127.0.0.1:1 --players 0",
    "mcp --nothing",
    "accounts add",
    "accounts credit ann x",
    "hands list chess",
    "hands show x",
    "replay x",
    "replay bad.txt",
    "db restore missing.backup",
    "tap kuhn 127.0.0.1:x",
    "matrix missing",
    "completion tcsh",
]
"""Command lines in a folder that has the files `bad.txt` and `bad.py` only."""

FAILED = [
    "play kuhn {address} --bot random",
    "play holdem {address} --bot caller",
    "play oldmaid {address} --bot random",
    "watch holdem {address}",
    "watch web {address}",
    "exploit kuhn {address}",
    "load kuhn {address} --seconds 0.2",
]
"""Command lines that are right, and a server that does not answer."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bad.txt").write_text("no card\n")
    (tmp_path / "bad.py").write_text("RULES = Bot = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", extended(WRONG_USE, 4))
def test_a_wrong_command_line_has_status_2(folder: Path, command: str) -> None:
    done = croupier(*shlex.split(command), variables={"XDG_DATA_HOME": str(folder)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", extended(FAILED, 4))
def test_a_failed_command_has_status_1(folder: Path, command: str) -> None:
    address = f"127.0.0.1:{closed_port()}"
    done = croupier(*shlex.split(command.format(address=address)), variables={"XDG_DATA_HOME": str(folder)})
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert all(line.count(address) <= 1 for line in done.stderr.splitlines())


def test_every_command_is_in_the_table() -> None:
    commands = {name for name in app if not name.startswith("-")}
    assert commands <= {command.split()[0] for command in WRONG_USE}


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("db check store.sqlite", "found 'store.sqlite', which is too much; see `croupier db check --help`"),
        (
            "serve --pause-seconds=3",
            "found --pause-seconds, an option of holdem; allowed for a server of all rooms: "
            "CROUPIER_SERVE_HOLDEM_PAUSE_SECONDS, or pause-seconds in [serve.holdem] of the --config file",
        ),
        ("serve --move-second 3", "Unknown option: --move-second. Did you mean --move-seconds?"),
    ],
)
def test_a_wrong_command_line_is_explained(command: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(command.split())
    assert printed in " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("library", "extra", "command"),
    [
        ("highspy", "solve", "solve kuhn"),
        ("numpy", "solve", "solve oldmaid --players 3"),
        ("numpy", "solve", "solve oldmaid --players 5"),
        ("matplotlib.figure", "arena", "solve kuhn --plot plot.svg"),
        ("scipy.special", "arena", "arena kuhn random book"),
        ("distributed", "cluster", "arena kuhn random book --cluster 127.0.0.1:1"),
        ("hdrh", "load", "load kuhn 127.0.0.1:1"),
        ("mcp", "mcp", "mcp"),
    ],
)
def test_the_error_of_a_missing_library_names_the_extra(
    library: str, extra: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    users = ("croupier.rooms.oldmaid.odds.", "croupier.load.", "croupier.mcp.", f"{library}.")
    for name in [name for name in sys.modules if name.startswith(users)]:
        monkeypatch.delitem(sys.modules, name)  # they may have imported it
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert ended.value.code == 1
    printed = rf"the module {library}[\w.]* is missing; install it with: pip install 'croupier\[{extra}\]'"
    assert re.search(printed, capsys.readouterr().err)
