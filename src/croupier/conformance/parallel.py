"""Finds out how many clients a slow server answers at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Final

from croupier.conformance.timeouts import AnswerTimeout

MAX_SLOWDOWN: Final = 2.0
"""How much longer than its slowest answer so far an answer may take at a server that serves several clients at once."""

CONNECT_GAP_SECONDS: Final = 0.005
"""The pause between the connections of two clients: a server may let only a few wait until it accepts them."""

type Ask = Callable[[AsyncExitStack], Awaitable[bool]]
"""Connects, keeps the connection open until the exit stack closes it, and asks; returns whether there is an answer."""


async def serves(clients: int, ask: Ask, timeout: AnswerTimeout) -> bool:
    """Whether a server answers this many clients at the same time, nearly as soon as it answers one."""
    clock, limit = asyncio.get_running_loop().time, MAX_SLOWDOWN * timeout.slowest_seconds

    async def is_served(connections: AsyncExitStack) -> bool:
        asked_at = clock()
        async with asyncio.timeout(timeout.max_seconds):
            return await ask(connections) and clock() - asked_at <= limit

    asking: list[asyncio.Task[bool]] = []
    async with AsyncExitStack() as connections:
        for _ in range(clients):
            asking.append(asyncio.create_task(is_served(connections)))
            await asyncio.sleep(CONNECT_GAP_SECONDS)
        answered = await asyncio.gather(*asking, return_exceptions=True)
    return all(each is True for each in answered)


async def count_parallel(most: int, is_possible: Callable[[int], Awaitable[bool]]) -> int:
    """Return how many can be done at the same time, at most `most`: twice as many are tried as long as it is possible.

    So a server that cannot serve them is never asked by many more clients than it can serve.
    """
    number = 1
    while number < most and await is_possible(min(2 * number, most)):
        number = min(2 * number, most)
    return number
