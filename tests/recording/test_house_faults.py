"""A house that is killed, or whose store goes away, has told nobody anything that is not in its books."""

import asyncio
import json
import re
import resource
import signal
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest
from bench.cluster import Cluster

from croupier.recording.game_records import all_games
from croupier.store.store import Store, open_store, upgrade_store
from tests.processes import PATIENCE, Serving, rest

RANKS = "JQK"
PLENTY = 1_000_000
CLIENTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class Bettor(Thread):
    """Bets in every game of Kuhn poker until the house is gone. `told` is what it was told that it has won."""

    def __init__(self, address: tuple[str, int], own: str) -> None:
        super().__init__(daemon=True)
        self.own = own
        self.told: list[int] = []
        self._socket = socket.create_connection(address, timeout=PATIENCE, source_address=(own, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self) -> None:
        with self._socket, suppress(ConnectionError):
            while True:
                self._socket.sendall(b"STRT P_1")
                own = re.fullmatch(rb"CARD C_([JQK])", self._hear())
                if own is None:
                    return
                self._socket.sendall(b"ACTN BET")
                answer = self._hear()
                if answer == b"ACTN FLD":
                    self.told.append(1)
                elif shown := re.fullmatch(rb"CARD C_([JQK])", answer):
                    self.told.append(2 if RANKS.index(own[1].decode()) > RANKS.index(shown[1].decode()) else -2)
                else:
                    return

    def _hear(self) -> bytes:
        data = b""
        while len(data) < 8 and (more := self._socket.recv(8 - len(data))):
            data += more
        return data


async def books(store: Store) -> dict[str, list[int]]:
    """What every client has won by the ledger, game by game, in books that are in order: the journal says the same."""
    assert await store.find_problems() == []
    accounts = await store.accounts()
    assert sum(account.balance for account in accounts) == 0
    found = {}
    for account in accounts:
        if not account.house:
            lines = await store.statement(account.id)
            assert lines[0].coins == PLENTY
            found[account.name.removeprefix("kuhn:")] = [line.coins for line in lines[1:]]
    games: dict[str, list[int]] = {name: [] for name in found}
    async for game in all_games(store, "kuhn"):
        if game.net:
            games[game.client.removeprefix("kuhn:")].append(game.net)
    assert games == found
    return found


def read[T](url: object, story: Any) -> Any:
    async def main() -> Any:
        async with await open_store(str(url)) as store:
            return await story(store)

    return asyncio.run(main())


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_a_house_that_is_killed_has_told_nobody_what_is_not_in_its_books(tmp_path: Path, kills: int) -> None:
    luck = Random(kills)
    path = tmp_path / "kept.db"
    told: dict[str, list[int]] = {own: [] for own in CLIENTS}
    for _ in range(kills):
        with Serving("kuhn", "--port", 0, "--accounts", "address", "--coins", PLENTY, "--store", path) as serving:
            bettors = [Bettor((serving.host, serving.port), own) for own in CLIENTS]
            for bettor in bettors:
                bettor.start()
            time.sleep(luck.uniform(0, 0.3))
            serving.signal(signal.SIGKILL)
            for bettor in bettors:
                bettor.join(PATIENCE)
        for own, nets in read(path, books).items():
            known = told[own] + next(bettor.told for bettor in bettors if bettor.own == own)
            assert nets[: len(known)] == known
            assert len(nets) <= len(known) + 1, "one game, or its forfeit, of which nobody was told"
            told[own] = nets


def health(serving: Serving) -> dict[str, Any]:
    url = f"http://{serving.host}:{serving.ports['metrics']}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.loads(answer.read())["rooms"]["kuhn"]
    except urllib.error.HTTPError as error:
        with error:
            return json.loads(error.read())["rooms"]["kuhn"]


def until_well(serving: Serving, *, well: bool = True) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while (health(serving)["status"] == "ok") is not well:
        assert time.monotonic() < end, health(serving)
        time.sleep(0.01)
    return health(serving)


def until_refused(serving: Serving) -> None:
    """Somebody who comes is told goodbye."""
    end = time.monotonic() + PATIENCE
    while True:
        with serving.call() as late:
            late.settimeout(0.2)
            with suppress(TimeoutError):
                assert rest(late) == b"DISC"
                return
        assert time.monotonic() < end


def goes_on(serving: Serving) -> None:
    """A new game is played to its end."""
    with serving.call() as caller:
        caller.sendall(b"STRT P_1ACTN BETDISC")
        assert re.fullmatch(rb"CARD C_[JQK](ACTN FLD|CARD C_[JQK])", rest(caller))


@pytest.mark.parametrize(
    "mode", [("--journal", "async"), ("--accounts", "address", "--coins", PLENTY)], ids=["async", "accounts"]
)
def test_a_full_disk_closes_the_house_until_there_is_space_again(tmp_path: Path, mode: tuple[object, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        goes_on(serving)
        assert until_well(serving) == {"status": "ok"}
        written = path.with_name("kept.db-wal").stat().st_size
        _, most = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (written + 100, most))
        bettor = Bettor((serving.host, serving.port), CLIENTS[0])
        bettor.start()
        assert until_well(serving, well=False)["reason"].startswith(f"{path}: ")
        until_refused(serving)
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (most, most))
        until_well(serving)
        bettor.join(PATIENCE)
        goes_on(serving)
        assert serving.stop() == 0
        events = [entry["event"] for entry in serving.entries if entry["event"].startswith("the store")]
        assert events == ["the store cannot be written to", "the store can be written to again"]

    async def story(store: Store) -> list[int]:
        assert await store.find_problems() == []
        return [game.net async for game in all_games(store, "kuhn") if game.net]

    nets = read(path, story)
    assert nets[1 : 1 + len(bettor.told)] == bettor.told
    assert len(nets) - 2 - len(bettor.told) in {0, 1}


@pytest.fixture(scope="module")
def fragile() -> Iterator[Cluster]:
    """A server of PostgreSQL that may be stopped."""
    with Cluster() as running:
        asyncio.run(upgrade_store(running.url()))
        yield running


def test_a_database_that_is_away_closes_the_house_until_it_is_back(fragile: Cluster) -> None:
    flags = ("--accounts", "address", "--coins", PLENTY, "--store", fragile.url())
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *flags, ready=2) as serving:
        bettors = [Bettor((serving.host, serving.port), own) for own in CLIENTS]
        for bettor in bettors:
            bettor.start()
        end = time.monotonic() + PATIENCE
        while not all(bettor.told for bettor in bettors):
            assert time.monotonic() < end
            time.sleep(0.001)
        fragile.stop(signal.SIGQUIT)
        until_well(serving, well=False)
        until_refused(serving)
        fragile.start()
        until_well(serving)
        for bettor in bettors:
            bettor.join(PATIENCE)
        goes_on(serving)
        assert serving.stop() == 0
    found = read(fragile.url(), books)
    for bettor in bettors:
        assert found[bettor.own][: len(bettor.told)] == bettor.told
        assert len(found[bettor.own]) - len(bettor.told) in {0, 1, 2}
