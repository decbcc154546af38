"""StallTolerantTimeout: stalls of this process do not count."""

import asyncio
from time import sleep

import pytest

from croupier.conformance.holdem.timeouts import TICK_SECONDS, StallTolerantTimeout


async def wait_for_result(seconds: float, blocked: float) -> str:
    """Wait for a result that is set after the process was blocked for a while."""
    answer = asyncio.get_running_loop().create_future()

    async def set_result_later() -> None:
        sleep(blocked)  # the whole process is blocked
        await asyncio.sleep(0)
        answer.set_result("at last")

    task = asyncio.create_task(set_result_later())
    async with StallTolerantTimeout(seconds):
        found: str = await answer
    await task
    return found


def test_timeout_expires() -> None:
    async def main() -> None:
        async with StallTolerantTimeout(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_stalled_time_does_not_count() -> None:
    assert asyncio.run(wait_for_result(2 * TICK_SECONDS, 5 * TICK_SECONDS)) == "at last"


def test_no_timeout_after_the_block() -> None:
    async def main() -> str:
        async with StallTolerantTimeout(0.01):
            await asyncio.sleep(0)
        await asyncio.sleep(0.03)
        return "still here"

    assert asyncio.run(main()) == "still here"
