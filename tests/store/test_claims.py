"""One server at a time has a room of a store open; whoever only looks after the store is not in its way."""

import asyncio

import pytest

from croupier.store.records import StoreError
from croupier.store.store import Store, open_store
from tests.store.store_fixture import Shelf, fact, journal


def test_a_name_is_claimed_once_until_its_store_is_closed(shelf: Shelf) -> None:
    async def story(first: Store) -> None:
        await first.claim("holdem")
        async with await open_store(shelf.url) as second:
            with pytest.raises(
                StoreError, match=r"^found another server that has holdem open in .*; allowed: one at a"
            ):
                await second.claim("holdem")
            await second.claim("oldmaid")
            await second.append([fact("a", 1)])
        assert len(await journal(first, "a")) == 1

    shelf.run(story)
    shelf.run(lambda store: store.claim("holdem"))


def test_a_name_is_free_when_the_one_who_had_it_leaves_meanwhile(shelf: Shelf) -> None:
    async def story(second: Store) -> None:
        first = await open_store(shelf.url)
        await first.claim("holdem")
        if shelf.engine == "postgresql":  # which may take a moment to notice
            claiming = asyncio.ensure_future(second.claim("holdem"))
            await asyncio.sleep(0.05)
            await first.close()
            await claiming
        else:
            await first.close()
            await second.claim("holdem")

    shelf.run(story)
