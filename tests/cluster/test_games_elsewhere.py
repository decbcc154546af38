"""A GET for a game that a node does not show: 404 only if there is no such game, 503 while that cannot be known."""

import asyncio
from pathlib import Path

import pytest
from msgspec.json import encode

from croupier.cluster import forward
from croupier.cluster.bus import BusUnavailable
from croupier.cluster.messages import Position, Views
from croupier.cluster.mirror import ViewMirror
from croupier.core.logger import SilentLogger
from croupier.http.local_houses import LocalHouses
from croupier.http.views import ViewCache
from croupier.rooms.holdem.settings import Settings
from croupier.store.records import StoreUnavailable
from tests.cluster.nodes_fixture import cluster_of, until
from tests.net.raw_client import TIMEOUT_SECONDS, Run

HOUSES = 4


def guid_like(game: str) -> str:
    """A GUID of the same house as a game's, which no game has."""
    return f"{'0' * (len(game) - 2)}{game[-2:]}"


def paths_of(game: str) -> list[str]:
    return [f"/games/{game}", f"/games/{game}?wait=1", f"/games/{game}/events/", f"/games/{game}/hands/1.phh"]


def test_game_of_a_house_that_nobody_has_open_is_unavailable_but_not_unknown(
    run_simulated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """holdem-3.17, holdem-8.4"""

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada") as cluster:
            (first,) = cluster.nodes
            await first.web.register("ann")
            game = await first.web.game()
            first.kill()
            is_broken, open_house = True, LocalHouses.open

            async def opens(houses: LocalHouses, number: int) -> int:
                if is_broken:
                    raise StoreUnavailable("the journal cannot be read")
                return await open_house(houses, number)

            monkeypatch.setattr(LocalHouses, "open", opens)
            second = await cluster.add("bea")
            asked = [*paths_of(game), f"/games/{guid_like(game)}"]
            for found in await asyncio.gather(*(second.web.ask("GET", path, "ann") for path in asked)):
                assert (found.status, found.headers.get("retry-after")) == (503, "1")
                assert found.text.startswith("holdem-3.17:")
            impossible = f"{game[:-2]}{HOUSES + 1:02x}"
            assert (await second.web.ask("GET", f"/games/{impossible}", "ann")).status == 404
            is_broken = False
            await until(lambda: second.houses == [1, 2, 3, 4])
            assert (await second.web.ask("GET", f"/games/{game}", "ann")).status == 200
            for path in paths_of(guid_like(game)):
                found = await second.web.ask("GET", path, "ann")
                assert (found.status, found.text[:11]) == (404, "holdem-8.4:")

    run_simulated(main())


def test_game_whose_first_view_was_lost_is_found_at_its_owner(
    run_simulated: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forward, "VIEW_SECONDS", TIMEOUT_SECONDS)

    async def main() -> None:
        async with cluster_of(str(tmp_path / "kept.db"), HOUSES, "ada", "bea") as cluster:
            first, second = cluster.nodes
            answered: list[str] = []
            await first.web.register("ann")
            second.bus.loses = lambda *_: True  # type: ignore[attr-defined]  # a MemoryBus
            opened = await first.web.ask("POST", "/games/", "ann")
            path = opened.headers["location"]
            assert second.web.group.views.games.get(path.rpartition("/")[2]) is None
            asking = asyncio.ensure_future(second.web.ask("GET", path, "ann"))
            asking.add_done_callback(lambda _: answered.append(path))
            while second.node.counts.forwarded.total() == 0:
                await asyncio.sleep(0)
            assert answered == []
            second.bus.loses = lambda *_: False  # type: ignore[attr-defined]
            found = await asking
            assert (found.status, found.json) == (200, (await first.web.ask("GET", path, "ann")).json)
            unknown = await second.web.ask("GET", f"/games/{guid_like(path)[-36:]}", "ann")
            assert unknown.status == 404, "its owner has no such game"

    run_simulated(main())


def test_views_of_a_former_owner_do_not_replace_those_of_its_successor(run_simulated: Run) -> None:
    async def main() -> None:
        terms = [7, 3, 8]
        asked: list[int] = []

        async def fetch(house: int, _: int) -> Views:
            asked.append(terms.pop(0))
            if not terms:
                raise BusUnavailable("the end")
            return Views(house, Position(asked[-1], 1))

        mirror = ViewMirror(ViewCache(Settings()), 1, SilentLogger(), is_here=lambda _: False, fetch=fetch)
        mirror.on_message("croupier.view.1", encode(Views(1, Position(7, 1))))
        assert await mirror.wait_for(1, Position(7, 1), 20.0)
        mirror.on_message("croupier.view.1", encode(Views(1, Position(8, 4))))  # an owner from which nothing was seen
        await until(lambda: asked == [7, 3, 8])
        assert not await mirror.wait_for(1, Position(7, 2), 0.0)
        assert await mirror.wait_for(1, Position(7, 1), 0.0)
        mirror.close()

    run_simulated(main())
