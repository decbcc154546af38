"""An Old Maid table that is killed at any time has stored every game, with all cards that it has dealt."""

import json
import socket
import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import pytest

from tests.net.raw_client import TIMEOUT_SECONDS
from tests.recording.test_crash_holdem import ServerForker

NICKS = ("ann", "bob")
VALUES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
"""Enough pairs that at most two cards can be left (oldmaid-6.12)."""


class TableGone(Exception):
    """The table has disconnected."""


class Player:
    """A raw socket with one JSON object per line."""

    def __init__(self, port: int) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
        except ConnectionError as error:
            raise TableGone from error
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def say(self, **message: object) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise TableGone from error

    def hear(self) -> Any:
        try:
            line = self._file.readline()
        except OSError as error:
            raise TableGone from error
        if not line.endswith(b"\n"):
            raise TableGone
        return json.loads(line)


def play(port: int, games: list[list[str]]) -> None:
    """Let two players play games until the table disconnects; append the cards of each game to `games`."""
    with ExitStack() as stack, suppress(TableGone):
        players = [stack.enter_context(closing(Player(port))) for _ in NICKS]
        while True:
            for player, nick in zip(players, NICKS, strict=True):
                player.say(cmd="join", nick=nick)
            player_lists = [player.hear() for player in players[:1]]
            games.append([])
            player_lists += [player.hear() for player in players[1:]]
            assert player_lists[0] == player_lists[1]
            for turn in range(53):
                players[turn % 2].say(cmd="draw")
                games[-1].append(" ".join(players[turn % 2].hear()["card"]))
            for value in VALUES:  # the table does not know the cards that players pick
                players[1].say(cmd="discard", cards=[[value, "spades"], [value, "clubs"]])
                assert players[1].hear()["result"] == "ok"
            players[1].say(cmd="out_of_cards")
            assert players[1].hear() == {"result": "ok"}


def stored_games(store: Path) -> list[tuple[int, str, list[str]]]:
    """The number, the summary and the cards of each stored game."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT number, summary, record FROM hands ORDER BY number").fetchall()
    return [
        (number, summary, [step[2] for step in json.loads(record)["course"] if step[0] == "drew"])
        for number, summary, record in rows
    ]


def kill_repeatedly(store: Path, times: int, seed: int) -> None:
    """Kill a table with two players repeatedly, and check the stored games every time."""
    random, void_count, finished_count = Random(seed), 0, 0
    with ServerForker(store, "oldmaid") as servers:
        port = int(servers.start().rpartition(":")[2])
        for _ in range(times):
            stored_before, games = len(stored_games(store)), list[list[str]]()
            Timer(random.expovariate(1 / 0.1), servers.kill).start()
            play(port, games)
            port = int(servers.start().rpartition(":")[2])
            after = stored_games(store)
            assert [number for number, _, _ in after] == [*range(1, len(after) + 1)]
            played = after[stored_before:]
            assert len(games) <= len(played) <= len(games) + 1
            for received, (_, summary, cards) in zip(games, played, strict=False):
                assert cards[: len(received)] == received
                assert len(cards) <= len(received) + 1
                void_count, finished_count = (
                    void_count + (summary == "void"),
                    finished_count + (summary == "bob, and ann has lost"),
                )
        assert (void_count, finished_count) != (0, 0)
        assert void_count > times / 4


@pytest.mark.extended
def test_killed_table_has_stored_every_game_and_card(tmp_path: Path) -> None:
    """oldmaid-9.13 and oldmaid-9.14"""
    kill_repeatedly(tmp_path / "kept.db", 10, 1)


@pytest.mark.slow
def test_a_table_may_be_killed_two_hundred_times(tmp_path: Path) -> None:
    kill_repeatedly(tmp_path / "kept.db", 200, 2)
