"""What `test_chaos` proves with servers, in a few seconds: nodes of one process fail while users play.

A node is killed, paused past its lease, cut off from the bus, drained, or loses messages or its store. The bus is in
memory, and the store is a file.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import uvloop

from croupier.cluster.lease import HOLDEM
from croupier.store.store import upgrade_store
from tests.cluster.bot_swarm import Client, HttpAnswer, Swarm
from tests.cluster.chaos_checks import STACK, check_chips, check_rooms, check_store
from tests.cluster.memory_bus import MemoryBus
from tests.cluster.nodes_fixture import QUICK_TIMING, Cluster, ClusterNode, cluster_of
from tests.cluster.room_nodes import COINS, RoomCluster
from tests.cluster.room_swarm import RoomSwarm
from tests.net.raw_client import Run

HOUSES = 3
SEATS = 3
PAUSE_SECONDS = 1.5 * QUICK_TIMING.lease
LOSSY_SECONDS = 0.5

ACTIONS = 3
"""What is done to nodes with Old Maid and houses with accounts in one test."""

RESUME_SECONDS = 60.0
"""The simulated time in which everybody has to play again."""

SEEDS = 200
EXTENDED_SEEDS = 8


class NodeClient(Client):
    """An impatient user of one of the nodes that are present."""

    def __init__(self, cluster: Cluster, user: str, random: Random) -> None:
        super().__init__(user, random, is_patient=False)
        self._cluster = cluster
        self._node: ClusterNode | None = None

    def leave(self) -> None:
        """Let any node take the next request."""
        self._node = None

    async def send(self, method: str, path: str, body: bytes) -> HttpAnswer:
        """See `Client`."""
        if self._node not in self._cluster.nodes:
            self._node = self.random.choice(self._cluster.nodes)
        answer = await self._node.web.ask(method, path, self.user, body)
        return HttpAnswer(answer.status, answer.headers, answer.body)


class Faults:
    """What is done to the nodes, one at a time; each leaves three of them."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        self._cluster = cluster
        self._random = random
        self._actions: dict[str, Callable[[ClusterNode], Awaitable[None]]] = {
            "kill": self._kill,
            "pause": self._pause,
            "cut off": self._cut_off,
            "lose": self._lose,
            "drain": self._drain,
        }

    async def do(self, action: str) -> None:
        await self._actions[action](self._random.choice(self._cluster.nodes))

    async def _kill(self, node: ClusterNode) -> None:
        node.kill()
        await self._restart(node)

    async def _pause(self, node: ClusterNode) -> None:
        """Stop a node for long, but let it take requests: it has not noticed yet that time has passed."""
        for task in node.node._tasks:
            task.cancel()
        await asyncio.sleep(PAUSE_SECONDS)
        node.kill()
        await self._restart(node)

    async def _cut_off(self, node: ClusterNode) -> None:
        assert isinstance(node.bus, MemoryBus)
        node.bus.is_cut_off = True
        await asyncio.sleep(PAUSE_SECONDS)
        node.bus.is_cut_off = False

    async def _lose(self, node: ClusterNode) -> None:
        assert isinstance(node.bus, MemoryBus)
        node.bus.loses = lambda *_: self._random.random() < 0.3
        await asyncio.sleep(LOSSY_SECONDS)
        node.bus.loses = lambda *_: False

    async def _drain(self, node: ClusterNode) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PAUSE_SECONDS):
                await node.node.drain(HOLDEM)
        await node.node.stop()
        await self._restart(node)

    async def _restart(self, node: ClusterNode) -> None:
        self._cluster.nodes.remove(node)
        await self._cluster.add(node.node.name)


@pytest.mark.extended
def test_no_act_is_lost_or_applied_twice_whatever_happens_to_nodes(tmp_path: Path) -> None:
    """holdem-3.16, holdem-3.17"""
    url = str(tmp_path / "kept.db")

    async def main() -> None:
        async with cluster_of(url, HOUSES, "ada", "bea", "cia", stack=STACK, turn_seconds=600.0) as cluster:
            swarm = Swarm(lambda user, random, _: NodeClient(cluster, user, random), 3, SEATS, 1, poll_seconds=0.2)
            await swarm.seat()
            actions = ["kill", "lose", "pause", "drain", "cut off"]
            await swarm.play_through(Faults(cluster, Random(1)).do, actions, pause=0.1)
            await check_chips(swarm, swarm.clients[0], SEATS)
        assert await check_store(url, swarm, HOUSES) > 0
        assert swarm.problems == []

    uvloop.run(main())


def mark_of(seed: int) -> pytest.MarkDecorator:
    """`make test` has the test with real processes, `test_chaos.py`, instead."""
    return pytest.mark.extended if seed < EXTENDED_SEEDS else pytest.mark.slow


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # what a killed node opens last nobody closes
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=mark_of(seed)) for seed in range(SEEDS)])
def test_no_coin_or_game_is_lost_whatever_happens_to_nodes(run_simulated: Run, quick_folder: Path, seed: int) -> None:
    """oldmaid-9.14, kuhn-7.1, kuhn-7.3"""
    url, random = str(quick_folder / "kept.db"), Random(seed)

    async def main() -> None:
        await upgrade_store(url)
        cluster = RoomCluster(url, random)
        await cluster.start()
        swarm = RoomSwarm([*COINS], cluster.choose_port, seed)
        swarm.start()
        await swarm.until_all_play(RESUME_SECONDS)
        for _ in range(ACTIONS):
            await cluster.do(random.choice([*cluster.actions]))
            await swarm.until_all_play(RESUME_SECONDS)
            await asyncio.sleep(random.uniform(0.0, 2.0))
        await swarm.stop()
        await cluster.stop()
        await check_rooms(url, swarm, COINS)

    run_simulated(main())
    gc.collect()
