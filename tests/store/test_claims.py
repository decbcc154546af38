"""Claims: only one server at a time has a room open; other uses of the store are not affected."""

import asyncio

import pytest

from croupier.store.records import NameTaken, StoreError
from croupier.store.store import Store, open_store
from tests.store.store_fixture import TempStore, fact, journal


def test_name_is_claimed_exclusively_until_its_store_is_closed(temp_store: TempStore) -> None:
    async def steps(first: Store) -> None:
        await first.claim("holdem")
        async with await open_store(temp_store.url) as second:
            with pytest.raises(
                StoreError, match=r"^found another server that has holdem open in .*; allowed: one at a"
            ):
                await second.claim("holdem")
            await second.claim("oldmaid")
            await second.append([fact("a", 1)])
        assert len(await journal(first, "a")) == 1

    temp_store.run(steps)
    temp_store.run(lambda store: store.claim("holdem"))


def test_claim_waits_for_a_holder_that_is_just_closing(temp_store: TempStore) -> None:
    async def steps(second: Store) -> None:
        first = await open_store(temp_store.url)
        await first.claim("holdem")
        if temp_store.engine == "postgresql":  # which may take a moment to notice
            claiming = asyncio.ensure_future(second.claim("holdem"))
            await asyncio.sleep(0.05)
            await first.close()
            await claiming
        else:
            await first.close()
            await second.claim("holdem")

    temp_store.run(steps)


def test_a_shared_claim_excludes_only_servers_that_do_not_share(temp_store: TempStore) -> None:
    """The nodes of a cluster have one room open together."""

    async def steps(first: Store) -> None:
        await first.claim("holdem", shared=True)
        async with await open_store(temp_store.url) as second, await open_store(temp_store.url) as third:
            await second.claim("holdem", shared=True)
            with pytest.raises(NameTaken, match=r"^found another server that has holdem open"):
                await third.claim("holdem")

    temp_store.run(steps)
    temp_store.run(lambda store: store.claim("holdem"))
