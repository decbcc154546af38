"""A house that is killed, or whose store becomes unavailable, has reported no result that is not in the ledger."""

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
from tests.store.store_fixture import statement

RANKS = "JQK"
MANY_COINS = 1_000_000
CLIENT_ADDRESSES = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class BettingClient(Thread):
    """Bets in every game of Kuhn poker until the house disconnects. `results` are the results it has received."""

    def __init__(self, address: tuple[str, int], source: str) -> None:
        super().__init__(daemon=True)
        self.source = source
        self.results: list[int] = []
        self._socket = socket.create_connection(address, timeout=PATIENCE, source_address=(source, 0))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self) -> None:
        with self._socket, suppress(ConnectionError):
            while True:
                self._socket.sendall(b"STRT P_1")
                own_card = re.fullmatch(rb"CARD C_([JQK])", self._hear())
                if own_card is None:
                    return
                self._socket.sendall(b"ACTN BET")
                answer = self._hear()
                if answer == b"ACTN FLD":
                    self.results.append(1)
                elif shown := re.fullmatch(rb"CARD C_([JQK])", answer):
                    self.results.append(2 if RANKS.index(own_card[1].decode()) > RANKS.index(shown[1].decode()) else -2)
                else:
                    return

    def _hear(self) -> bytes:
        data = b""
        while len(data) < 8 and (more := self._socket.recv(8 - len(data))):
            data += more
        return data


async def read_ledger(store: Store) -> dict[str, list[int]]:
    """Check the store; return the results of every client in the ledger, which must equal those in the journal."""
    assert await store.find_problems() == []
    accounts = await store.accounts()
    assert sum(account.balance for account in accounts) == 0
    found = {}
    for account in accounts:
        if not account.house:
            lines = await statement(store, account.id)
            assert lines[0].coins == MANY_COINS
            found[account.name.removeprefix("kuhn:")] = [line.coins for line in lines[1:]]
    games: dict[str, list[int]] = {name: [] for name in found}
    async for game in all_games(store, "kuhn"):
        if game.net:
            games[game.client.removeprefix("kuhn:")].append(game.net)
    assert games == found
    return found


def read_store[T](url: object, query: Any) -> Any:
    async def main() -> Any:
        async with await open_store(str(url)) as store:
            return await query(store)

    return asyncio.run(main())


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_house_has_reported_only_results_in_the_ledger(tmp_path: Path, kills: int) -> None:
    random = Random(kills)
    path = tmp_path / "kept.db"
    reported_before: dict[str, list[int]] = {source: [] for source in CLIENT_ADDRESSES}
    for _ in range(kills):
        with Serving("kuhn", "--port", 0, "--accounts", "address", "--coins", MANY_COINS, "--store", path) as serving:
            clients = [BettingClient((serving.host, serving.port), source) for source in CLIENT_ADDRESSES]
            for client in clients:
                client.start()
            time.sleep(random.uniform(0, 0.3))
            serving.signal(signal.SIGKILL)
            for client in clients:
                client.join(PATIENCE)
        for source, nets in read_store(path, read_ledger).items():
            reported = reported_before[source] + next(client.results for client in clients if client.source == source)
            assert nets[: len(reported)] == reported
            assert len(nets) <= len(reported) + 1, "at most one game, or its forfeit, was recorded but not reported"
            reported_before[source] = nets


def health(serving: Serving) -> dict[str, Any]:
    url = f"http://{serving.host}:{serving.ports['metrics']}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.loads(answer.read())["rooms"]["kuhn"]
    except urllib.error.HTTPError as error:
        with error:
            return json.loads(error.read())["rooms"]["kuhn"]


def wait_for_health(serving: Serving, *, is_well: bool = True) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while (health(serving)["status"] == "ok") is not is_well:
        assert time.monotonic() < end, health(serving)
        time.sleep(0.01)
    return health(serving)


def wait_until_refused(serving: Serving) -> None:
    """Wait until a new client is refused."""
    end = time.monotonic() + PATIENCE
    while True:
        with serving.call() as late_client:
            late_client.settimeout(0.2)
            with suppress(TimeoutError):
                assert rest(late_client) == b"DISC"
                return
        assert time.monotonic() < end


def play_one_game(serving: Serving) -> None:
    """Play one game on a new connection."""
    with serving.call() as connection:
        connection.sendall(b"STRT P_1ACTN BETDISC")
        assert re.fullmatch(rb"CARD C_[JQK](ACTN FLD|CARD C_[JQK])", rest(connection))


@pytest.mark.parametrize(
    "mode", [("--journal", "async"), ("--accounts", "address", "--coins", MANY_COINS)], ids=["async", "accounts"]
)
def test_full_disk_closes_the_house_until_there_is_space_again(tmp_path: Path, mode: tuple[object, ...]) -> None:
    path = tmp_path / "kept.db"
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *mode, "--store", path, ready=2) as serving:
        play_one_game(serving)
        assert wait_for_health(serving) == {"status": "ok"}
        written = path.with_name("kept.db-wal").stat().st_size
        _, hard_limit = resource.prlimit(serving.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (written + 100, hard_limit))
        client = BettingClient((serving.host, serving.port), CLIENT_ADDRESSES[0])
        client.start()
        assert wait_for_health(serving, is_well=False)["reason"].startswith(f"{path}: ")
        wait_until_refused(serving)
        resource.prlimit(serving.pid, resource.RLIMIT_FSIZE, (hard_limit, hard_limit))
        wait_for_health(serving)
        client.join(PATIENCE)
        play_one_game(serving)
        assert serving.stop() == 0
        events = [entry["event"] for entry in serving.entries if entry["event"].startswith("store ")]
        assert events == ["store unavailable", "store available again"]

    async def query(store: Store) -> list[int]:
        assert await store.find_problems() == []
        return [game.net async for game in all_games(store, "kuhn") if game.net]

    nets = read_store(path, query)
    assert nets[1 : 1 + len(client.results)] == client.results
    assert len(nets) - 2 - len(client.results) in {0, 1}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL server that the test can stop."""
    with Cluster() as running:
        asyncio.run(upgrade_store(running.url()))
        yield running


def test_stopped_database_closes_the_house_until_it_is_back(cluster: Cluster) -> None:
    flags = ("--accounts", "address", "--coins", MANY_COINS, "--store", cluster.url())
    with Serving("kuhn", "--port", 0, "--metrics-port", 0, *flags, ready=2) as serving:
        clients = [BettingClient((serving.host, serving.port), source) for source in CLIENT_ADDRESSES]
        for client in clients:
            client.start()
        end = time.monotonic() + PATIENCE
        while not all(client.results for client in clients):
            assert time.monotonic() < end
            time.sleep(0.001)
        cluster.stop(signal.SIGQUIT)
        wait_for_health(serving, is_well=False)
        wait_until_refused(serving)
        cluster.start()
        wait_for_health(serving)
        for client in clients:
            client.join(PATIENCE)
        play_one_game(serving)
        assert serving.stop() == 0
    found = read_store(cluster.url(), read_ledger)
    for client in clients:
        assert found[client.source][: len(client.results)] == client.results
        assert len(found[client.source]) - len(client.results) in {0, 1, 2}
