"""A table of Old Maid that is killed at any moment has every game in its books, with all cards that it has given."""

import json
import socket
import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from random import Random
from threading import Timer
from typing import Any

import pytest

from tests.net.raw_client import PATIENCE
from tests.recording.test_crash_holdem import Nursery

NICKS = ("ann", "bob")
VALUES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
"""So many pairs that nobody can say that more than two cards are left (oldmaid-6.12)."""


class Torn(Exception):
    """The table is gone."""


class Player:
    """A bare socket that says and hears a JSON object a line."""

    def __init__(self, port: int) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionError as error:
            raise Torn from error
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def say(self, **message: object) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Torn from error

    def hear(self) -> Any:
        try:
            line = self._file.readline()
        except OSError as error:
            raise Torn from error
        if not line.endswith(b"\n"):
            raise Torn
        return json.loads(line)


def play(port: int, games: list[list[str]]) -> None:
    """Two players play game after game until the table is gone: the cards that they were given, by game."""
    with ExitStack() as stack, suppress(Torn):
        players = [stack.enter_context(closing(Player(port))) for _ in NICKS]
        while True:
            for player, nick in zip(players, NICKS, strict=True):
                player.say(cmd="join", nick=nick)
            lists = [player.hear() for player in players[:1]]
            games.append([])
            lists += [player.hear() for player in players[1:]]
            assert lists[0] == lists[1]
            for at in range(53):
                players[at % 2].say(cmd="draw")
                games[-1].append(" ".join(players[at % 2].hear()["card"]))
            for value in VALUES:  # what a player has picked the table does not know
                players[1].say(cmd="discard", cards=[[value, "spades"], [value, "clubs"]])
                assert players[1].hear()["result"] == "ok"
            players[1].say(cmd="out_of_cards")
            assert players[1].hear() == {"result": "ok"}


def books(store: Path) -> list[tuple[int, str, list[str]]]:
    """The games in the store: the number, what came of it, and the cards."""
    with closing(sqlite3.connect(store)) as found:
        rows = found.execute("SELECT number, summary, record FROM hands ORDER BY number").fetchall()
    return [
        (number, summary, [step[2] for step in json.loads(record)["course"] if step[0] == "drew"])
        for number, summary, record in rows
    ]


def kill(store: Path, times: int, seed: int) -> None:
    """Kill a table at which two play, and look every time at what is in its books when it is open again."""
    luck, void, over = Random(seed), 0, 0
    with Nursery(store, "oldmaid") as nursery:
        port = int(nursery.start().rpartition(":")[2])
        for _ in range(times):
            before, games = len(books(store)), list[list[str]]()
            Timer(luck.expovariate(1 / 0.1), nursery.kill).start()
            play(port, games)
            port = int(nursery.start().rpartition(":")[2])
            after = books(store)
            assert [number for number, _, _ in after] == [*range(1, len(after) + 1)]
            played = after[before:]
            assert len(games) <= len(played) <= len(games) + 1
            for told, (_, summary, cards) in zip(games, played, strict=False):
                assert cards[: len(told)] == told
                assert len(cards) <= len(told) + 1
                void, over = void + (summary == "void"), over + (summary == "bob, and ann has lost")
        assert (void, over) != (0, 0)
        assert void > times / 4


def test_a_table_that_is_killed_has_every_game_and_every_card_in_its_books(tmp_path: Path) -> None:
    """oldmaid-9.13 and oldmaid-9.14"""
    kill(tmp_path / "kept.db", 10, 1)


@pytest.mark.slow
def test_a_table_may_be_killed_two_hundred_times(tmp_path: Path) -> None:
    kill(tmp_path / "kept.db", 200, 2)
