"""A timer has at most one call due: the last one that was set."""

import asyncio

from croupier.net.timer import Timer
from tests.net.raw_client import Run


def test_a_new_call_replaces_the_one_that_was_due(run: Run) -> None:
    async def main() -> None:
        timer, called = Timer(), asyncio.Queue[str]()
        timer.set(0.001, called.put_nowait, "first")
        timer.set(0.002, called.put_nowait, "second")
        assert timer.is_set
        assert await called.get() == "second"
        assert not timer.is_set

    run(main())


def test_a_cancelled_call_is_not_made(run: Run) -> None:
    async def main() -> None:
        timer, called = Timer(), asyncio.Queue[str]()
        timer.cancel()
        timer.set(0.0, called.put_nowait, "cancelled")
        timer.cancel()
        assert not timer.is_set
        timer.set(0.001, called.put_nowait, "called")
        assert await called.get() == "called"

    run(main())


def test_a_call_can_set_the_timer_again(run: Run) -> None:
    async def main() -> None:
        timer, ticks = Timer(), asyncio.Queue[int]()

        def tick(number: int) -> None:
            ticks.put_nowait(number)
            if number < 3:
                timer.set(0.0, tick, number + 1)

        tick(1)
        assert [await ticks.get() for _ in range(3)] == [1, 2, 3]
        assert not timer.is_set

    run(main())
