"""The bus of the other tests keeps the contract."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from croupier.cluster.bus import Bus
from tests.cluster.bus_contract import CHECKS, Connect
from tests.cluster.memory_bus import MemoryHub


@pytest.mark.parametrize("check", CHECKS)
def test_memory_bus_keeps_the_contract(check: Callable[[Connect], Awaitable[None]]) -> None:
    async def main() -> None:
        hub = MemoryHub()

        async def connect() -> Bus:
            return hub.connect()

        await check(connect)

    asyncio.run(main())
