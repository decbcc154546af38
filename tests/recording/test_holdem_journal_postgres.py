"""A house of hold'em that is kept in PostgreSQL lives through the death of the server that keeps it."""

import asyncio
import signal
from collections.abc import Iterator

import pytest
from bench.cluster import Cluster

from croupier.recording.holdem_journal import ROOM_NAME
from croupier.store.store import open_store, upgrade_store
from tests.recording.test_holdem_journal import kept

PATIENCE = 60.0
"""A database that was killed takes its time."""


@pytest.fixture(scope="module")
def url() -> Iterator[tuple[Cluster, str]]:
    """A server of PostgreSQL that may be killed, with an empty store in it."""
    with Cluster() as cluster:
        asyncio.run(upgrade_store(cluster.url()))
        yield cluster, cluster.url()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGQUIT, signal.SIGINT], ids=["killed", "at once", "in order"])
def test_while_the_database_is_away_no_turn_ends_and_then_the_hand_goes_on(
    url: tuple[Cluster, str], how: signal.Signals
) -> None:
    """holdem-3.17"""
    cluster, place = url
    names = [f"{name}{how}" for name in ("ann", "bob", "cid")]

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), kept(place, turn_seconds=15.0) as web:
            game, guids = await web.seated(*names)
            users = dict(zip(guids, names, strict=True))
            while (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] is None:
                assert (await web.check_or_call(game, users)).status == 201
            before = (await web.ask("GET", f"/games/{game}")).json

            await asyncio.to_thread(cluster.stop, how)
            assert (await web.check_or_call(game, users)).status == 503
            while web.service.service.unavailable_reason is None:
                await asyncio.sleep(0.01)
            web.clock.now += 1000.0
            web.service.process_deadlines()
            for method, path in (("GET", "/games/"), ("POST", "/users/"), ("POST", f"/games/{game}/players/")):
                assert (await web.ask(method, path, f"new{how}")).status in {429, 503}

            await asyncio.to_thread(cluster.start_anew)
            while web.service.service.unavailable_reason is not None:
                await asyncio.sleep(0.01)
            after = (await web.ask("GET", f"/games/{game}")).json
            assert [one["playerID"] for one in after["table"]] == [one["playerID"] for one in before["table"]]
            assert after["cards"]["flop"] == before["cards"]["flop"]
            assert web.house.deadline == web.clock.now + 15.0
            while (await web.ask("GET", f"/games/{game}")).json["cards"]["flop"] is not None:
                assert (await web.check_or_call(game, users)).status == 201
            for name in names:
                guid = next(found for found, user in users.items() if user == name)
                assert (await web.ask("DELETE", f"/games/{game}/players/{guid}", name)).status == 200
        async with await open_store(place) as store:
            assert await store.find_problems() == []
            assert len(await store.hands(ROOM_NAME)) >= 1

    asyncio.run(main())
