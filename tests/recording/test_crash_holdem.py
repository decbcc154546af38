"""A hold'em server that is killed at any time loses nothing that it has confirmed, and repeats nothing."""

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
from tests.net.raw_client import TIMEOUT_SECONDS
from tests.process_pool import SETTINGS

BOTS = ("ann", "bob", "cid")


class ServerForker:
    """A process that forks servers, all with the same store."""

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
        self._process.wait(TIMEOUT_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def kill(self) -> None:
        """Kill the server."""
        os.kill(self._pid, signal.SIGKILL)

    def start(self) -> str:
        """Start a server; return its URL when it is ready."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        pid, port = self._process.stdout.readline().split()
        self._pid = int(pid)
        return f"http://127.0.0.1:{port}"


class Bot(Thread):
    """Plays until the server is gone. Counts the acts that were sent, and those that were confirmed."""

    def __init__(self, name: str, guid: str, game: str, url: str) -> None:
        super().__init__(daemon=True)
        self.user = name
        self.sent = self.confirmed = 0
        self.errors: list[Any] = []
        self._guid = guid
        self._game = game
        self._url = url

    def run(self) -> None:
        connection = HTTPConnection(self._url.removeprefix("http://"), timeout=TIMEOUT_SECONDS)
        try:
            while True:
                turn = json.loads(self._ask(connection, "GET", f"/games/{self._game}"))["turn"]
                if turn["playerID"] == self._guid:
                    self._act(connection, turn["bet_to_player"] - turn["bet_so_far"])
        except (OSError, HTTPException):
            connection.close()

    def _act(self, connection: HTTPConnection, count_chips: int) -> None:
        act = json.dumps({"action": 1, "betAmount": count_chips})
        self.sent += 1
        self._ask(connection, "POST", f"/games/{self._game}/players/{self._guid}/acts/", act)
        self.confirmed += 1

    def _ask(self, connection: HTTPConnection, method: str, path: str, body: str | None = None) -> bytes:
        connection.request(method, path, body, {"Authorization": basic(self.user)})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status not in {200, 201}:
            self.errors.append((answer.status, body))
        return body


def count_acts(store: Path) -> Counter[str]:
    """The number of acts of each user in the journal."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(
            "SELECT fact ->> '$.said.user', COUNT(*) FROM (SELECT CAST(fact AS TEXT) AS fact FROM journal) "
            "WHERE fact ->> '$.said.type' = 'act' GROUP BY 1"
        )
        return Counter(dict(rows.fetchall()))


def hand_numbers(store: Path, game: str) -> list[int]:
    """The numbers of the stored hands of a game."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute('SELECT number FROM hands WHERE "table" = ? ORDER BY number', (game,))
        return [number for (number,) in rows]


def count_chips(url: str, game: str) -> tuple[int, int]:
    """The number of chips at a table, and of its players."""
    got = httpx.get(f"{url}/games/{game}", timeout=TIMEOUT_SECONDS).json()
    chip_count = sum(player["wealth"] for player in got["table"]) + sum(pot["size"] for pot in got["pots"])
    return chip_count, len(got["table"])


def seat_bots(url: str) -> tuple[str, dict[str, str]]:
    """Seat the bots at the first table; return its GUID and theirs."""
    with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS) as client:
        game = client.get("/games/").json()[0]["gameID"]
        guids = {bot: client.post("/users/", auth=(bot, "secret")).json() for bot in BOTS}
        for bot in BOTS:
            assert client.post(f"/games/{game}/players/", auth=(bot, "secret")).status_code == 201
    return game, guids


def kill_repeatedly(store: Path, times: int, seed: int) -> None:
    """Kill a loaded server repeatedly, and check its store and its state every time."""
    random = Random(seed)
    with ServerForker(store) as servers:
        url = servers.start()
        game, guids = seat_bots(url)
        written: Counter[str] = Counter()
        for _ in range(times):
            chip_count, player_count = count_chips(url, game)
            assert chip_count == SETTINGS.stack * player_count
            finished = hand_numbers(store, game)
            assert finished == [*range(1, len(finished) + 1)]
            hands = [f"{url}/games/{game}/hands/{len(finished) + n}.phh" for n in (0, 1)]
            statuses = [httpx.get(hand, timeout=TIMEOUT_SECONDS).status_code for hand in hands]
            assert statuses == [200 if finished else 404, 404]
            bots = [Bot(bot, guids[bot], game, url) for bot in BOTS]
            for bot in bots:
                bot.start()
            acts = random.randrange(4 * len(BOTS))
            while sum(bot.sent for bot in bots) < acts and all(bot.is_alive() for bot in bots):
                sleep(0.001)
            sleep(random.expovariate(1 / 0.01))  # so the kill comes before, during or after a commit
            servers.kill()
            for bot in bots:
                bot.join(TIMEOUT_SECONDS)
            written_before, written = written, count_acts(store)
            for bot in bots:
                assert bot.errors == []
                assert bot.confirmed <= written[bot.user] - written_before[bot.user] <= bot.sent
            url = servers.start()
    assert min(written.values()) > times / 2, f"too few acts: {written}"
    assert player_count == len(BOTS)
    assert len(finished) > times / 8, "too few finished hands"


@pytest.mark.extended
def test_killed_server_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """holdem-3.16"""
    kill_repeatedly(tmp_path / "kept.db", 20, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_server_may_be_killed_a_thousand_times(tmp_path: Path, seed: int) -> None:
    kill_repeatedly(tmp_path / "kept.db", 200, seed)
