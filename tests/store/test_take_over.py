"""A house has one owner: of two servers that have it open, the journal lets only the later one write."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from croupier.http.local_houses import LoadedHouse, Loader
from croupier.store.records import Snapshot
from croupier.store.store import Store
from tests.app.houses_fixture import StoredRoom, stored_room
from tests.store.store_fixture import TempStore, run

CALL = 10
"""The chips with which the first player of a hand calls."""


@asynccontextmanager
async def two_servers(url: str) -> AsyncIterator[tuple[StoredRoom, StoredRoom, str, dict[str, str]]]:
    """Two servers of a store, with ann and bob at a table of the first one, its game, and their GUIDs."""
    async with stored_room(url) as first, stored_room(url) as second:
        await first.open_houses(1)
        game, (ann, bob) = await first.seat_players("ann", "bob")
        yield first, second, game, {"ann": ann, "bob": bob}


async def facts_in_order(store: Store) -> list[bytes]:
    """The facts of the house, whose sequence numbers have no gap."""
    entries = [entry async for entry in store.read_journal("holdem", "house")]
    assert [entry.seq for entry in entries] == [*range(1, len(entries) + 1)]
    return [entry.fact for entry in entries]


def test_the_former_owner_cannot_write_after_a_take_over(temp_store: TempStore) -> None:
    async def main() -> None:
        async with two_servers(temp_store.url) as (first, second, game, guids):
            lost: list[int] = []
            first.room.houses.on_superseded = lost.append
            await second.open_houses(1)
            before = await facts_in_order(second.store)
            refused = await first.act(game, "ann", guids["ann"], 1, CALL)
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert lost == [1]
            assert await facts_in_order(second.store) == before
            assert (await first.ask("GET", f"/games/{game}")).status == 503, "its views are those of an earlier time"
            assert (await second.act(game, "ann", guids["ann"], 1, CALL)).status == 201
            assert (await second.turn(game))["playerID"] == guids["bob"]

    run(main())


def test_a_write_between_replay_and_take_over_is_read_again(temp_store: TempStore) -> None:
    """The first entry of the new owner is then refused, so it reads the journal again."""

    async def main() -> None:
        async with two_servers(temp_store.url) as (first, second, game, guids):
            loads = 0

            def act_after(load: Loader) -> Loader:
                async def load_then_act(number: int) -> LoadedHouse:
                    nonlocal loads
                    loads += 1
                    loaded = await load(number)
                    if loads == 1:
                        assert (await first.act(game, "ann", guids["ann"], 1, CALL)).status == 201
                    return loaded

                return load_then_act

            second.room.houses._load = act_after(second.room.houses._load)
            await second.open_houses(1)
            assert loads == 2
            assert (await second.turn(game))["playerID"] == guids["bob"], "the act that was confirmed is not lost"
            assert (await first.act(game, "bob", guids["bob"], 1, 0)).status == 503
            await facts_in_order(second.store)

    run(main())


def test_a_batch_in_flight_is_either_confirmed_and_kept_or_neither(temp_store: TempStore) -> None:
    async def main() -> None:
        async with two_servers(temp_store.url) as (first, second, game, guids):
            acting = asyncio.ensure_future(first.act(game, "ann", guids["ann"], 1, CALL))
            await second.open_houses(1)
            status = (await acting).status
            turn = (await second.turn(game))["playerID"]
            assert (status, turn) in {(201, guids["bob"]), (503, guids["ann"])}
            await facts_in_order(second.store)

    run(main())


def test_a_house_that_is_finished_continues_at_the_next_owner(temp_store: TempStore) -> None:
    async def main() -> None:
        async with two_servers(temp_store.url) as (first, second, game, guids):
            acting = asyncio.ensure_future(first.act(game, "ann", guids["ann"], 1, CALL))
            await asyncio.sleep(0)
            await first.room.houses.finish(1)
            assert (await acting).status == 201
            assert (await first.act(game, "bob", guids["bob"], 1, 0)).status == 503
            await second.open_houses(1)
            assert (await second.turn(game))["playerID"] == guids["bob"]
            assert (await second.act(game, "bob", guids["bob"], 1, 0)).status == 201

    run(main())


def test_a_late_snapshot_of_the_former_owner_does_not_replace_a_newer_one(temp_store: TempStore) -> None:
    async def steps(store: Store) -> None:
        for seq, state in ((7, b"{}"), (5, b"[]")):
            await store.save_snapshot(Snapshot("holdem", "house", seq, state, 0.0))
        assert await store.load_snapshot("holdem", "house") == Snapshot("holdem", "house", 7, b"{}", 0.0)

    temp_store.run(steps)
