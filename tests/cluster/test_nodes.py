"""Nodes with a bus in memory: any node takes any request, and houses survive nodes that die, pause or are cut off."""

import asyncio
from pathlib import Path

import pytest

from croupier.cluster import forward
from croupier.cluster.bus import KeyChange
from croupier.cluster.lease import HOLDEM
from croupier.cluster.messages import decode_views, node_subject
from croupier.rooms.holdem.table.places import house_of
from tests.cluster import nodes_fixture
from tests.cluster.nodes_fixture import QUICK_TIMING, Cluster, ClusterNode, cluster_of, until
from tests.net.raw_client import TIMEOUT_SECONDS, Run

HOUSES = 4


def owner_of(cluster: Cluster, game: str) -> ClusterNode:
    return next(node for node in cluster.nodes if house_of(game, HOUSES) in node.houses)


def other_than(cluster: Cluster, node: ClusterNode) -> ClusterNode:
    return next(each for each in cluster.nodes if each is not node)


def node_keys(cluster: Cluster) -> list[tuple[str, KeyChange]]:
    return [(key, change) for key, change in cluster.hub.keys.items() if key.startswith("node.")]


async def seat(cluster: Cluster, *users: str) -> tuple[str, dict[str, str], ClusterNode, ClusterNode]:
    """Seat users at a table through a node that does not own it; return the game, GUIDs, the owner and that node."""
    first = cluster.nodes[0]
    guids = dict(zip(users, await first.web.register(*users), strict=True))
    game = await first.web.game()
    owner = owner_of(cluster, game)
    other = other_than(cluster, owner)
    for user in users:
        joined = await other.web.ask("POST", f"/games/{game}/players/", user)
        assert (joined.status, joined.json) == (201, guids[user])
    return game, guids, owner, other


def test_any_node_takes_any_request_and_shows_what_it_has_changed(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            for user in ("ann", None):
                views = [(await node.web.ask("GET", f"/games/{game}", user)) for node in (owner, other)]
                assert views[0].json == views[1].json
                assert views[0].headers["etag"] == views[1].headers["etag"]
            assert len((await other.web.ask("GET", f"/games/{game}", "ann")).json["cards"]["hole"]) == 2
            polling = asyncio.ensure_future(owner.web.ask("GET", f"/games/{game}?wait=60"))
            acted = await other.web.act(game, "ann", guids["ann"], 0)
            assert acted.status == 201
            assert (await polling).json == (await other.web.ask("GET", f"/games/{game}")).json
            hands = [(await node.web.ask("GET", f"/games/{game}/hands/1.phh", "ann")) for node in (owner, other)]
            assert [found.status for found in hands] == [200, 200]
            assert hands[0].body == hands[1].body
            assert (await other.web.ask("GET", f"/games/{game}/hands/2.phh", "ann")).status == 404
            refused = await other.web.act(game, "ann", guids["bob"], 0)
            assert (refused.status, refused.text[:11]) == (403, "holdem-8.8:")
            assert other.node.counts.forwarded.total() > 0

    run_simulated(main())


def test_each_node_counts_the_connections_to_the_rooms_of_live_nodes(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea", "cia") as cluster:
            ada, bea, cia = [each.node for each in cluster.nodes]
            ada.connections = lambda: {"kuhn": 3, "blackjack": 1}
            bea.connections = lambda: {"kuhn": 4}
            await until(lambda: [node.connections_elsewhere("kuhn") for node in (ada, bea, cia)] == [4, 3, 7])
            assert cia.connections_elsewhere("blackjack") == 1
            assert cia.connections_elsewhere("sevenhalf") == 0
            cluster.nodes[1].kill()
            await until(lambda: cia.connections_elsewhere("kuhn") == 3, "the lease of the killed node lapses")

    run_simulated(main())


def test_the_limit_on_games_of_a_user_counts_the_houses_of_all_nodes(run_simulated: Run, tmp_path: Path) -> None:
    """holdem-9.11"""

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea", games_per_user=2) as cluster:
            first, second = cluster.nodes
            await first.web.register("ann")
            opened = [await node.web.ask("POST", "/games/", "ann") for node in (first, second, first)]
            assert [each.status for each in opened] == [201, 201, 403]
            games = [each.headers["location"].rpartition("/")[2] for each in opened[:2]]
            assert [owner_of(cluster, game) for game in games] == [first, second], "each opens its own"
            shown = [[game["gameID"] for game in await node.web.games("ann")] for node in cluster.nodes]
            assert set(games) <= {*shown[0]}
            assert shown[0] == shown[1]

    run_simulated(main())


def test_houses_of_a_dead_node_are_taken_over_at_the_pending_decision(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea", "cia") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            assert (await other.web.act(game, "ann", guids["ann"], 1, 10)).status == 201
            before = (await other.web.ask("GET", f"/games/{game}", "bob")).json
            lost = len(owner.houses)
            owner.kill()
            refused = await other.web.act(game, "bob", guids["bob"], 1, 0)
            assert refused.status == 201 or refused.headers["retry-after"] == "1"
            others = [node for node in cluster.nodes if node is not owner]
            await cluster.settled(others)
            after = (await other.web.ask("GET", f"/games/{game}", "bob")).json
            assert after["cards"]["hole"] == before["cards"]["hole"]
            if refused.status == 503:
                assert after["turn"]["playerID"] == before["turn"]["playerID"]
                assert (await other.web.act(game, "bob", guids["bob"], 1, 0)).status == 201
            assert sum(node.node.counts.takeovers for node in others) >= lost
            assert [node.node.open_houses for node in others] == [len(node.houses) for node in others]

    run_simulated(main())


def test_views_that_were_lost_are_repaired(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            lost = []

            def loses(_: str, body: bytes) -> bool:
                if decode_views(body).tables:
                    lost.append(body)
                return len(lost) <= 2 and bool(decode_views(body).tables)

            other.bus.loses = loses  # type: ignore[attr-defined]  # a MemoryBus
            assert (await owner.web.act(game, "ann", guids["ann"], 1, 10)).status == 201
            shown = (await owner.web.ask("GET", f"/games/{game}")).headers["x-game-version"]
            assert (await other.web.ask("GET", f"/games/{game}")).headers["x-game-version"] != shown
            path = f"/games/{game}?wait=60&since={int(shown) - 1}"
            assert (await other.web.ask("GET", path)).headers["x-game-version"] == shown, "by the beat of the owner"
            assert (await owner.web.act(game, "bob", guids["bob"], 1, 0)).status == 201  # lost as well
            assert (await other.web.ask("POST", "/games/", "ann")).status == 201
            await cluster.settled()
            assert lost

    run_simulated(main())


def test_a_node_that_is_cut_off_is_fenced_and_comes_back(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            owner.bus.is_cut_off = True  # type: ignore[attr-defined]  # a MemoryBus
            await until(lambda: owner.node.state == "fenced")
            assert owner.houses == []
            for found in (await owner.web.act(game, "ann", guids["ann"], 1, 10), await owner.web.ask("GET", "/games/")):
                assert (found.status, found.headers["retry-after"]) == (503, "1")
            assert owner.web.room.unavailable_reason == "fenced: its lease has lapsed"
            assert (owner.node.is_bus_up, other.node.is_bus_up) == (False, True)
            assert owner.node.counts.fenced > 0
            assert owner.node.counts.renewals_failed > 0
            await cluster.settled([other])
            assert (await other.web.act(game, "ann", guids["ann"], 1, 10)).status == 201
            owner.bus.is_cut_off = False  # type: ignore[attr-defined]
            await until(lambda: owner.node.state == "ready" and owner.houses)
            await cluster.settled()
            assert (await owner.web.act(game, "bob", guids["bob"], 1, 0)).status == 201

    run_simulated(main())


def test_a_node_that_slept_past_its_lease_writes_nothing_when_it_continues(run_simulated: Run, tmp_path: Path) -> None:
    """As after SIGSTOP and SIGCONT: it has not noticed yet that time has passed."""

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            service = owner.web.group.services[house_of(game, HOUSES) or 0]
            for task in owner.node._tasks:
                task.cancel()
            await cluster.settled([other])
            assert (await other.web.act(game, "ann", guids["ann"], 1, 10)).status == 201
            answer = await owner.web.act(game, "ann", guids["ann"], 1, 10)
            assert answer.status == 503
            assert service.is_outdated
            assert (await other.web.turn(game))["playerID"] == guids["bob"], "the act was not applied twice"

    run_simulated(main())


def test_a_bus_that_is_away_for_less_than_a_lease_moves_no_house(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea", "cia") as cluster:
            await asyncio.sleep(2 * QUICK_TIMING.settle)
            await cluster.settled()
            before = {key: change for key, change in cluster.hub.keys.items() if key.startswith("holdem.")}
            for node in cluster.nodes:
                node.bus.is_cut_off = True  # type: ignore[attr-defined]
                for _, queue in node.bus._watches:  # type: ignore[attr-defined]
                    queue.put_nowait(None)  # a restarted server ends all watches
            await asyncio.sleep(QUICK_TIMING.lease / 2)
            for node in cluster.nodes:
                node.bus.is_cut_off = False  # type: ignore[attr-defined]
            await asyncio.sleep(2 * QUICK_TIMING.lease)
            assert {key: change for key, change in cluster.hub.keys.items() if key.startswith("holdem.")} == before
            assert all(node.node.state == "ready" for node in cluster.nodes)

    run_simulated(main())


def test_a_draining_node_hands_over_all_houses_and_no_act_is_lost(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")
            draining = asyncio.ensure_future(owner.node.drain(HOLDEM))
            acting = asyncio.ensure_future(other.web.act(game, "ann", guids["ann"], 1, 10))
            assert await draining
            assert (owner.houses, owner.node.state) == ([], "draining")
            await cluster.settled([other])
            assert (await acting).status == 201, "acts wait while a house changes its owner"
            assert (await other.web.turn(game))["playerID"] == guids["bob"]
            assert (await owner.web.act(game, "bob", guids["bob"], 1, 0)).status == 201, "it forwards until its end"

    run_simulated(main())


def test_houses_move_to_a_node_that_joins(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), 8, "ada") as cluster:
            bea = await cluster.add("bea")
            await until(lambda: bea.houses)
            await cluster.settled()

    run_simulated(main())


def test_a_request_waits_for_a_node_that_hangs_only_as_long_as_its_lease(
    run_simulated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "ANSWER_SECONDS", 600.0)

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, owner, other = await seat(cluster, "ann", "bob")

            async def hang(body: bytes) -> bytes:
                await asyncio.Event().wait()
                return body

            owner.bus._handlers[node_subject(owner.node.name)] = hang  # type: ignore[attr-defined]
            for task in owner.node._tasks:
                task.cancel()
            refused = await other.web.act(game, "ann", guids["ann"], 1, 10)
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert (await other.web.act(game, "ann", guids["ann"], 1, 10)).status == 201

    run_simulated(main())


def test_a_request_that_could_not_be_sent_waits_for_the_bus(
    run_simulated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "OWNER_SECONDS", TIMEOUT_SECONDS)
    monkeypatch.setattr(nodes_fixture, "QUICK_TIMING", QUICK_TIMING._replace(lease=TIMEOUT_SECONDS))

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, _, other = await seat(cluster, "ann", "bob")
            other.bus.is_cut_off = True  # type: ignore[attr-defined]  # a MemoryBus
            tried = other.node.counts.forwarded.total()
            acting = asyncio.ensure_future(other.web.act(game, "ann", guids["ann"], 1, 10))
            await until(lambda: other.node.counts.forwarded.total() > tried)
            assert not acting.done()
            other.bus.is_cut_off = False  # type: ignore[attr-defined]
            assert (await acting).status == 201

    run_simulated(main())


def test_keys_that_the_bus_has_lost_are_written_again(run_simulated: Run, tmp_path: Path) -> None:
    """As after a power loss of a JetStream server: the journals are the truth, not the keys."""

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            game, guids, _, other = await seat(cluster, "ann", "bob")
            cluster.hub.revision = 1_000_000  # as after days
            await until(lambda: min(change.revision for key, change in node_keys(cluster)) > 1_000_000)
            cluster.hub.keys.clear()
            cluster.hub.revision = 0
            await until(lambda: len(cluster.hub.keys) == 2 + HOUSES)
            await until(lambda: all(node.node.state == "ready" for node in cluster.nodes))
            await cluster.settled()
            assert (await other.web.act(game, "ann", guids["ann"], 1, 10)).status == 201
            owner_of(cluster, game).kill()
            await cluster.settled([other])  # nodes judge each other again
            assert (await other.web.act(game, "bob", guids["bob"], 1, 0)).status == 201

    run_simulated(main())


def test_two_nodes_with_one_name_do_not_both_own_houses(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada") as cluster:
            (first,) = cluster.nodes
            second = await cluster.add("ada")
            await until(lambda: first.node.state == "fenced")
            assert first.houses == []
            assert first.web.room.unavailable_reason == "fenced: another process uses the name of this node"
            await first.node.stop()
            await until(lambda: second.node.state == "ready" and second.houses == [1, 2, 3, 4])

    run_simulated(main())


def test_a_node_name_that_is_no_token_of_a_subject_is_refused(run_simulated: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada") as cluster:
            with pytest.raises(ValueError, match=r"^found --node 'a\.b'; allowed: 1 to 64 letters, digits, - and _$"):
                await cluster.add("a.b")

    run_simulated(main())
