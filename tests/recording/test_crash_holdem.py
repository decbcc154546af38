"""A server of hold'em that is killed at any moment has lost nothing that it has told, and does nothing twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from threading import Thread
from time import sleep
from typing import Any, Self

import httpx
import pytest

from tests.http.service_fixture import basic
from tests.net.raw_client import PATIENCE
from tests.process_pool import SETTINGS

BOTS = ("ann", "bob", "cid")


class Nursery:
    """A process that starts servers, all with the same store."""

    def __init__(self, store: Path, room: str = "holdem") -> None:
        self._store = store
        self._room = room

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.process_pool", str(self._store), self._room],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.kill()
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def kill(self) -> None:
        """Kill the server."""
        os.kill(self._pid, signal.SIGKILL)

    def start(self) -> str:
        """Start a server: where it is, when it is ready."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        pid, port = self._process.stdout.readline().split()
        self._pid = int(pid)
        return f"http://127.0.0.1:{port}"


class Bot(Thread):
    """Plays until the server is gone. `tried` are the acts that it has sent, `done` those that it was told of."""

    def __init__(self, name: str, guid: str, game: str, url: str) -> None:
        super().__init__(daemon=True)
        self.user = name
        self.tried = self.done = 0
        self.wrong: list[Any] = []
        self._guid = guid
        self._game = game
        self._url = url

    def run(self) -> None:
        connection = HTTPConnection(self._url.removeprefix("http://"), timeout=PATIENCE)
        try:
            while True:
                turn = json.loads(self._ask(connection, "GET", f"/games/{self._game}"))["turn"]
                if turn["playerID"] == self._guid:
                    self._act(connection, turn["bet_to_player"] - turn["bet_so_far"])
        except (OSError, HTTPException):
            connection.close()

    def _act(self, connection: HTTPConnection, chips: int) -> None:
        act = json.dumps({"action": 1, "betAmount": chips})
        self.tried += 1
        self._ask(connection, "POST", f"/games/{self._game}/players/{self._guid}/acts/", act)
        self.done += 1

    def _ask(self, connection: HTTPConnection, method: str, path: str, body: str | None = None) -> bytes:
        connection.request(method, path, body, {"Authorization": basic(self.user)})
        answer = connection.getresponse()
        told = answer.read()
        if answer.status not in {200, 201}:
            self.wrong.append((answer.status, told))
        return told


def acts(store: Path) -> Counter[str]:
    """How many acts of every user are in the journal."""
    with closing(sqlite3.connect(store)) as books:
        rows = books.execute(
            "SELECT fact ->> '$.said.user', COUNT(*) FROM journal WHERE fact ->> '$.said.type' = 'act' GROUP BY 1"
        )
        return Counter(dict(rows.fetchall()))


def hands(store: Path, game: str) -> list[int]:
    """The numbers of the hands of a game that are in the store."""
    with closing(sqlite3.connect(store)) as books:
        rows = books.execute('SELECT number FROM hands WHERE "table" = ? ORDER BY number', (game,))
        return [number for (number,) in rows]


def chips(url: str, game: str) -> tuple[int, int]:
    """All chips at a table, and how many players there are; somebody who has just come is not in the hand yet."""
    got = httpx.get(f"{url}/games/{game}").json()
    found = sum(player["wealth"] for player in got["table"]) + sum(pot["size"] for pot in got["pots"])
    return found, len(got["table"])


def kill(store: Path, times: int, seed: int) -> None:
    """Kill a loaded server so many times, and look every time at what it has left."""
    luck = Random(seed)
    with Nursery(store) as nursery:
        url = nursery.start()
        guids = {bot: httpx.post(f"{url}/users/", auth=(bot, "secret")).json() for bot in BOTS}
        game = httpx.get(f"{url}/games/").json()[0]["gameID"]
        for bot in BOTS:
            assert httpx.post(f"{url}/games/{game}/players/", auth=(bot, "secret")).status_code == 201
        written: Counter[str] = Counter()
        for _ in range(times):
            found, players = chips(url, game)
            assert found == SETTINGS.stack * players
            over = hands(store, game)
            assert over == [*range(1, len(over) + 1)]
            there = [httpx.get(f"{url}/games/{game}/hands/{len(over) + n}.phh").status_code for n in (0, 1)]
            assert there == [200 if over else 404, 404]
            bots = [Bot(bot, guids[bot], game, url) for bot in BOTS]
            for bot in bots:
                bot.start()
            sleep(luck.expovariate(1 / 0.1))  # any moment will do: there is nothing to wait for
            nursery.kill()
            for bot in bots:
                bot.join(PATIENCE)
            before, written = written, acts(store)
            for bot in bots:
                assert bot.wrong == []
                assert bot.done <= written[bot.user] - before[bot.user] <= bot.tried
            url = nursery.start()
    assert min(written.values()) > times / 2, f"they have hardly played: {written}"
    assert players == len(BOTS)
    assert len(over) > times / 8, "they have hardly ended a hand"


def test_a_server_that_is_killed_has_lost_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    """holdem-3.16"""
    kill(tmp_path / "kept.db", 20, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_server_may_be_killed_a_thousand_times(tmp_path: Path, seed: int) -> None:
    kill(tmp_path / "kept.db", 200, seed)
