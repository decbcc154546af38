"""`croupier demo`: bots play in all rooms, the lobby opens in a browser, and Ctrl-C ends everything."""

import json
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from croupier.app.demo import HOLDEM_TABLES, HOUSE_BOTS, OLDMAID_PLAYERS
from croupier.rooms import ROOMS
from tests.processes import COMMAND, PATIENCE, Serving, croupier


def demo(*flags: str, **variables: str) -> Serving:
    command = (*COMMAND, "demo", "--free-ports")
    return Serving(*flags, command=command, ready=len(ROOMS) + 2, variables=variables)


def wait_for[T](find: Callable[[], T | None]) -> T:
    """Return what `find` finds, as soon as it does."""
    end = time.monotonic() + PATIENCE
    while (found := find()) is None:
        assert time.monotonic() < end, "nothing is found"
        time.sleep(0.02)
    return found


def test_bots_play_in_every_room_until_ctrl_c() -> None:
    with demo("--no-browser", "--pause", "0.1") as server:
        assert server.lines[-1].endswith(f"the lobby is open at http://127.0.0.1:{server.ports['web']}")
        with server.call("oldmaid") as person, httpx.Client(timeout=PATIENCE) as client:
            person.sendall(b'{"cmd": "join", "nick": "person"}\n')
            lobby, games = (
                f"http://127.0.0.1:{server.ports['web']}",
                f"http://127.0.0.1:{server.ports['holdem']}/games/",
            )

            def counts() -> bool | None:
                found = re.findall(r"(\d+) playing", client.get(lobby).text)
                return found[: len(HOUSE_BOTS)] == [str(len(bots)) for bots in HOUSE_BOTS.values()] or None

            def tables() -> list[Any] | None:
                found = client.get(games).json()
                names = sorted(sorted(player["handle"] for player in game["table"]) for game in found)
                return found if names == sorted(map(sorted, HOLDEM_TABLES)) else None

            wait_for(counts)
            first = wait_for(tables)
            wait_for(lambda: client.get(games).json() != first or None)
            players = json.loads(person.makefile("rb").readline())["players"]
            assert {nick for _, nick in players.values()} == {*OLDMAID_PLAYERS, "person"}
        server.signal(signal.SIGINT)
        assert server.end() == 0
        assert server.log == ""


def test_the_lobby_opens_in_the_browser_of_the_user(tmp_path: Path) -> None:
    page, script = tmp_path / "page", tmp_path / "browser.py"
    script.write_text("import os, sys\nopen('new', 'w').write(sys.argv[1])\nos.rename('new', 'page')\n")
    browser = shlex.join(["env", "-C", str(tmp_path), sys.executable, str(script), "%s"])
    with demo(BROWSER=browser) as server:
        wait_for(lambda: page.exists() or None)
        assert page.read_text() == f"http://127.0.0.1:{server.ports['web']}"
        assert server.stop() == 0


@pytest.mark.parametrize("variables", [{"BROWSER": "/no/such/browser %s"}, {"BROWSER": "", "DISPLAY": ""}])
def test_a_browser_that_does_not_start_is_no_error(variables: dict[str, str]) -> None:
    with demo(**variables) as server:
        assert httpx.get(f"http://127.0.0.1:{server.ports['web']}", timeout=PATIENCE).status_code == 200
        assert (server.stop(), server.log) == (0, "")


@pytest.mark.parametrize("pause", ["0", "nan", "60"])
def test_a_pause_that_nobody_could_follow_is_an_error(pause: str) -> None:
    done = croupier("demo", "--no-browser", "--pause", pause)
    assert (done.returncode, "allowed: 0.1 to 10" in done.stderr) == (2, True)
