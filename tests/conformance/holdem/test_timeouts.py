"""Patience runs out by the slowness of others, and not by ours."""

import asyncio
from time import sleep

import pytest

from croupier.conformance.holdem.timeouts import TICK_SECONDS, StallTolerantTimeout


async def waits(seconds: float, blocked: float) -> str:
    """Wait for an answer that is there as soon as this program, which cannot run for a while, looks at it."""
    answer = asyncio.get_running_loop().create_future()

    async def answers() -> None:
        sleep(blocked)  # the whole program stands still
        await asyncio.sleep(0)
        answer.set_result("at last")

    task = asyncio.create_task(answers())
    async with StallTolerantTimeout(seconds):
        found: str = await answer
    await task
    return found


def test_patience_ends_where_nothing_comes() -> None:
    async def main() -> None:
        async with StallTolerantTimeout(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_program_that_could_not_run_has_lost_no_patience() -> None:
    assert asyncio.run(waits(2 * TICK_SECONDS, 5 * TICK_SECONDS)) == "at last"


def test_what_comes_in_time_is_not_cut_off_later() -> None:
    async def main() -> str:
        async with StallTolerantTimeout(0.01):
            await asyncio.sleep(0)
        await asyncio.sleep(0.03)
        return "still here"

    assert asyncio.run(main()) == "still here"
