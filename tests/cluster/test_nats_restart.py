"""A NATS server that restarts moves no table: nodes that live keep their houses."""

import asyncio
from pathlib import Path

import pytest
from bench.nats_server import NatsServer

from croupier.cluster.bus import Bus, KeyChange
from croupier.cluster.lease import HOLDEM, Timing
from croupier.cluster.nats_bus import connect_nats
from croupier.core.logger import SilentLogger
from croupier.rooms.holdem.table.places import house_of
from tests.cluster.nodes_fixture import cluster_of, until
from tests.net.raw_client import Run

HOUSES = 4
TIMING = Timing()._replace(lease=5.0)
"""Those of a server, with a lease that lasts longer than a busy machine needs to restart NATS."""


async def house_keys(bus: Bus) -> list[KeyChange]:
    """The keys of all houses with their owners and revisions."""
    keys = bus.watch(f"{HOLDEM}.>")
    return sorted([await anext(keys) for _ in range(HOUSES)])


@pytest.mark.extended
def test_a_restart_of_nats_moves_no_table(run: Run, tmp_path: Path) -> None:
    async def main(nats: NatsServer) -> None:
        async def connect() -> Bus:
            return await connect_nats(nats.url, SilentLogger())

        url = str(tmp_path / "kept.db")
        async with cluster_of(url, HOUSES, "ada", "bea", connect=connect, timing=TIMING) as cluster:
            ada, bea = cluster.nodes
            guids = dict(zip(("ann", "bob"), await ada.web.register("ann", "bob"), strict=True))
            game = await ada.web.game()
            for user in guids:
                assert (await bea.web.ask("POST", f"/games/{game}/players/", user)).status == 201
            other = bea if house_of(game, HOUSES) in ada.houses else ada
            before, services = await house_keys(ada.bus), [{**node.web.group.services} for node in cluster.nodes]

            await asyncio.to_thread(nats.stop)
            await until(lambda: not (ada.node.is_bus_up or bea.node.is_bus_up), "the loss noticed")
            await asyncio.to_thread(nats.start)
            lapse = asyncio.get_running_loop().time() + TIMING.lease  # leases that nobody has renewed are over then
            later = lapse + TIMING.judge
            await until(lambda: all(node.node.membership.may_judge(later) for node in cluster.nodes), "renewals")

            assert [node.web.group.services for node in cluster.nodes] == services, "every house runs where it ran"
            assert await house_keys(ada.bus) == before
            assert [node.node.counts.fenced for node in cluster.nodes] == [0, 0]
            assert (await other.web.act(game, "ann", guids["ann"], 0)).status == 201, "it is forwarded again"

    with NatsServer(tmp_path) as nats:
        run(main(nats))
