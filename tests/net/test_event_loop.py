"""What works with either event loop."""

import asyncio

from croupier.net.event_loop import cancel_all, wait_set
from tests.net.raw_client import Run


def test_wait_for_an_event_that_is_set_in_time_and_for_one_that_is_not(run: Run) -> None:
    async def main() -> tuple[bool, bool]:
        event = asyncio.Event()
        is_late = await wait_set(event, 0.0)
        asyncio.get_running_loop().call_soon(event.set)
        return is_late, await wait_set(event, 5.0)

    assert run(main()) == (False, True)


def test_cancelled_tasks_have_ended() -> None:
    async def main() -> list[str]:
        ended: list[str] = []

        async def end_slowly() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append("cleaned up")

        tasks = [asyncio.create_task(end_slowly()) for _ in range(2)]
        await asyncio.sleep(0)
        await cancel_all(*tasks)
        return ended

    assert asyncio.run(main()) == ["cleaned up", "cleaned up"]
