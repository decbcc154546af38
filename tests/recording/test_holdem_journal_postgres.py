"""A hold'em house with its journal in PostgreSQL survives a crash of the database server."""

import asyncio
import signal
from collections.abc import Iterator

import pytest
from bench.cluster import Cluster

from croupier.recording.holdem_journal import ROOM_NAME
from croupier.store.store import open_store, upgrade_store
from tests.recording.test_holdem_journal import service_with_store

TIMEOUT_SECONDS = 60.0
"""A database that was killed needs time to recover."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Cluster, str]]:
    """A PostgreSQL server that the test can kill, with an empty store."""
    with Cluster() as cluster:
        asyncio.run(upgrade_store(cluster.url()))
        yield cluster, cluster.url()


@pytest.mark.parametrize(
    "stop_signal", [signal.SIGKILL, signal.SIGQUIT, signal.SIGINT], ids=["killed", "at once", "in order"]
)
def test_hand_resumes_after_the_database_was_stopped(cluster: tuple[Cluster, str], stop_signal: signal.Signals) -> None:
    """holdem-3.17"""
    server, store_url = cluster
    names = [f"{name}{stop_signal}" for name in ("ann", "bob", "cid")]

    async def main() -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS), service_with_store(store_url, turn_seconds=15.0) as web:
            game, guids = await web.seat_players(*names)
            users = dict(zip(guids, names, strict=True))
            while (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] is None:
                assert (await web.check_or_call(game, users)).status == 201
            before = (await web.ask("GET", f"/games/{game}")).json

            await asyncio.to_thread(server.stop, stop_signal)
            assert (await web.check_or_call(game, users)).status == 503
            while web.service.house_service.unavailable_reason is None:
                await asyncio.sleep(0.01)
            web.clock.now += 1000.0
            web.service.house_service.process_deadlines()
            for method, path in (("GET", "/games/"), ("POST", "/users/"), ("POST", f"/games/{game}/players/")):
                assert (await web.ask(method, path, f"new{stop_signal}")).status in {429, 503}

            await asyncio.to_thread(server.start_anew)
            while web.service.house_service.unavailable_reason is not None:
                await asyncio.sleep(0.01)
            after = (await web.ask("GET", f"/games/{game}")).json
            assert [player["playerID"] for player in after["table"]] == [
                player["playerID"] for player in before["table"]
            ]
            assert after["cards"]["flop"] == before["cards"]["flop"]
            assert web.house.deadline == web.clock.now + 15.0
            while (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] is not None:
                assert (await web.check_or_call(game, users)).status == 201
            for name in names:
                guid = next(guid_found for guid_found, user in users.items() if user == name)
                assert (await web.ask("DELETE", f"/games/{game}/players/{guid}", name)).status == 200
        async with await open_store(store_url) as store:
            assert await store.find_problems() == []
            assert len(await store.hands(ROOM_NAME)) >= 1

    asyncio.run(main())
