"""Nodes, the bus and the database fail while users play: chips are constant, no act is lost, none is applied twice.

The coins of accounts are those of the results that clients have received, and every game of Old Maid is stored. Three
servers as processes, a real NATS and a real PostgreSQL. A server is killed, or paused past its lease; NATS and
PostgreSQL are restarted.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from bench.cluster import Cluster
from bench.nats_server import NatsServer

from croupier.rooms import ROOMS
from croupier.store.store import upgrade_store
from tests.cluster.bot_swarm import STALL_SECONDS, HttpClient, Swarm
from tests.cluster.chaos_checks import STACK, check_chips, check_rooms, check_store
from tests.cluster.room_swarm import RoomSwarm
from tests.ports import closed_port
from tests.processes import FREE_PORTS, Serving

NODES: Final = ("ada", "bea", "cia")
HOUSES: Final = 6
PAUSE_SECONDS: Final = 6.0
"""Twice the lease of a node."""

COINS: Final = {"kuhn": 1000, "sevenhalf": 100_000}
"""The coins of new accounts, which suffice."""

ROOM_SETTINGS: Final = {
    **FREE_PORTS,
    "CROUPIER_SERVE_KUHN_COINS": str(COINS["kuhn"]),
    "CROUPIER_SERVE_SEVENHALF_COINS": str(COINS["sevenhalf"]),
    "CROUPIER_SERVE_OLDMAID_PLAYERS": "3",
    "CROUPIER_SERVE_OLDMAID_STUCK_SECONDS": "10",
}

A_FEW = 5
"""The most answers of 503 that a user who waits as Retry-After says may get after a fault: two on a quiet machine."""


class Servers:
    """The three nodes, NATS and PostgreSQL. The nodes serve hold'em, or all rooms."""

    def __init__(self, stack: ExitStack, folder: Path, postgres: Cluster, *, has_all_rooms: bool = False) -> None:
        self.postgres = postgres
        self._has_all_rooms = has_all_rooms
        self._started: list[tuple[str, Serving]] = []
        self.nats = stack.enter_context(NatsServer(folder))
        first_port = closed_port(len(NODES))
        self.ports = {name: first_port + number for number, name in enumerate(NODES)}
        self._stack = stack
        self._nodes: dict[str, Serving] = {}

    def start(self, name: str) -> None:
        """Start a node, or start it again."""
        where = ["--node", name, "--bus", self.nats.url, "--store", self.postgres.url()]
        if self._has_all_rooms:
            flags = ["--no-web", "--accounts", "address", "--drain-seconds", 3]
            serving = Serving(*flags, *where, ready=len(ROOMS), variables=ROOM_SETTINGS)
        else:
            stakes = ["--stack", STACK, "--turn-seconds", 120, "--houses", HOUSES]
            serving = Serving("holdem", "--port", self.ports[name], *stakes, *where)
        self._nodes[name] = self._stack.enter_context(serving)
        self._started.append((name, serving))

    def choose_port(self, room: str, random: Random) -> int:
        """See `ChoosePort`."""
        return random.choice([*self._nodes.values()]).ports[room]

    def signal(self, name: str, number: signal.Signals) -> None:
        self._nodes[name].signal(number)

    def wait(self, name: str) -> None:
        self._nodes[name].end()

    def entries(self, *events: str) -> list[tuple[str, dict[str, Any]]]:
        """What the nodes have logged about these events."""
        return [(name, entry) for name, node in self._started for entry in node.entries if entry["event"] in events]

    def faults(self) -> list[tuple[str, dict[str, Any]]]:
        """What the nodes have logged that must never happen."""
        return self.entries("internal error", "house not moved")


class Chaos:
    """What is done to the servers, one at a time; each leaves them able to go on."""

    def __init__(self, servers: Servers, random: Random) -> None:
        self.done: list[str] = []
        self.seconds_without_store: list[float] = []
        self._servers = servers
        self._random = random
        self.actions: dict[str, Callable[[], Awaitable[None]]] = {
            "kill": self._kill,
            "pause": self._pause,
            "nats": self._restart_nats,
            "postgresql": self._restart_postgres,
            "drain": self._drain,
        }

    async def do(self, action: str) -> None:
        self.seconds_without_store.append(0.0)
        await self.actions[action]()
        self.done.append(action)

    async def _kill(self) -> None:
        name = self._random.choice(NODES)
        self._servers.signal(name, signal.SIGKILL)
        await asyncio.to_thread(self._servers.wait, name)
        await asyncio.sleep(self._random.uniform(0.0, 5.0))
        await asyncio.to_thread(self._servers.start, name)

    async def _drain(self) -> None:
        name = self._random.choice(NODES)
        self._servers.signal(name, signal.SIGTERM)
        await asyncio.to_thread(self._servers.wait, name)
        await asyncio.to_thread(self._servers.start, name)

    async def _pause(self) -> None:
        name = self._random.choice(NODES)
        self._servers.signal(name, signal.SIGSTOP)
        await asyncio.sleep(PAUSE_SECONDS)
        self._servers.signal(name, signal.SIGCONT)

    async def _restart_nats(self) -> None:
        await asyncio.to_thread(self._servers.nats.stop)
        await asyncio.sleep(self._random.uniform(0.0, 1.0))
        await asyncio.to_thread(self._servers.nats.start)

    async def _restart_postgres(self) -> None:
        begin = asyncio.get_running_loop().time()
        await asyncio.to_thread(self._servers.postgres.stop, self._random.choice([signal.SIGINT, signal.SIGQUIT]))
        await asyncio.sleep(self._random.uniform(0.0, 0.5))
        await asyncio.to_thread(self._servers.postgres.start_anew)
        self.seconds_without_store[-1] = asyncio.get_running_loop().time() - begin


def run_chaos(folder: Path, tables: int, seats: int, seed: int, actions: Callable[[Random], Iterator[str]]) -> None:
    """Run the servers and the swarm through these actions, and check everything at the end."""

    async def main(servers: Servers) -> None:
        random = Random(seed)
        ports = [*servers.ports.values()]

        def connect(user: str, random: Random, is_patient: bool) -> HttpClient:
            return HttpClient(ports, user, random, is_patient=is_patient)

        swarm, chaos = Swarm(connect, tables, seats, seed), Chaos(servers, random)
        await swarm.seat()
        most = await swarm.play_through(chaos.do, actions(random), pause=1.0)
        await check_chips(swarm, swarm.clients[0], seats)
        for name in NODES:
            servers.signal(name, signal.SIGTERM)
        for name in NODES:
            await asyncio.to_thread(servers.wait, name)
        hands = await check_store(servers.postgres.url(), swarm, HOUSES)
        refused = [*zip(chaos.done, most, chaos.seconds_without_store, strict=True)]
        print(f"{swarm.acts} acts, {hands} hands, refused {dict(swarm.refused)}")
        print(f"faults, most answers of 503 for a user that waits after each, seconds without the store: {refused}")
        assert swarm.problems == []
        assert servers.faults() == []
        assert [each for each in refused if each[1] > A_FEW + each[2]] == []
        assert hands > tables

    with ExitStack() as stack:
        postgres = stack.enter_context(Cluster())
        asyncio.run(upgrade_store(postgres.url()))
        servers = Servers(stack, folder, postgres)
        for name in NODES:
            servers.start(name)
        asyncio.run(main(servers))


def run_room_chaos(folder: Path, seed: int, actions: Callable[[Random], Iterator[str]]) -> None:
    """Run all rooms, players of Old Maid and clients with accounts through these actions, and check everything."""

    async def main(servers: Servers) -> None:
        random = Random(seed)
        swarm, chaos = RoomSwarm([*COINS], servers.choose_port, seed), Chaos(servers, random)
        swarm.start()
        await swarm.until_all_play(STALL_SECONDS)
        for action in actions(random):
            await chaos.do(action)
            await swarm.until_all_play(STALL_SECONDS)
        await swarm.stop()
        for name in NODES:
            servers.signal(name, signal.SIGTERM)
        for name in NODES:
            await asyncio.to_thread(servers.wait, name)
        print(f"{len(chaos.done)} faults, results received: {dict(swarm.games)}")
        assert servers.faults() == []
        hands = await check_rooms(servers.postgres.url(), swarm, COINS)
        void = {hand.number for hand in hands if hand.summary == "void"}
        for _, entry in servers.entries("interrupted games voided"):
            assert {*entry["games"]} <= void

    with ExitStack() as stack:
        postgres = stack.enter_context(Cluster())
        asyncio.run(upgrade_store(postgres.url()))
        servers = Servers(stack, folder, postgres, has_all_rooms=True)
        for name in NODES:
            servers.start(name)
        asyncio.run(main(servers))


def test_no_act_is_lost_or_applied_twice_whatever_fails(tmp_path: Path) -> None:
    """holdem-3.16, holdem-3.17"""
    run_chaos(tmp_path, 2, 3, 1, lambda _: iter(["kill", "nats", "pause", "postgresql", "drain"]))


@pytest.mark.extended
def test_no_coin_or_game_is_lost_whatever_fails(tmp_path: Path) -> None:
    """oldmaid-9.14, kuhn-7.1, kuhn-7.3"""
    run_room_chaos(tmp_path, 1, lambda _: iter(["kill", "nats", "pause", "postgresql", "drain"]))


def five_minutes(random: Random) -> Iterator[str]:
    """Choose actions at random for five minutes."""
    end = asyncio.get_running_loop().time() + 300.0
    while asyncio.get_running_loop().time() < end:
        yield random.choice(["kill", "pause", "nats", "postgresql", "drain"])


@pytest.mark.long
def test_five_minutes_of_faults_in_all_rooms(tmp_path: Path) -> None:
    run_room_chaos(tmp_path, 0, five_minutes)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed else pytest.mark.long) for seed in range(3)]
)
def test_five_minutes_of_faults(tmp_path: Path, seed: int) -> None:
    """60 users at 12 tables."""
    run_chaos(tmp_path, 12, 5, seed, five_minutes)
