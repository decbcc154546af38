"""What works with either event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from croupier.net.event_loop import PromptFuture, call_when_done, cancel_all, run_together, start_in_thread, wait_set
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


def test_an_error_cancels_what_runs_together() -> None:
    async def main() -> list[str]:
        ended: list[str] = []

        async def end_with(error: str) -> None:
            try:
                await asyncio.sleep(0 if error else 60)
                raise ValueError(error)
            finally:
                ended.append(error)

        with pytest.raises(ValueError, match="first"):
            await run_together(end_with(""), end_with("first"))
        return ended

    assert asyncio.run(main()) == ["first", ""]


def test_callback_of_a_prompt_future_is_called_before_the_result_is_set_for_others(run: Run) -> None:
    async def main() -> list[str]:
        events: list[str] = []
        future: PromptFuture[str] = PromptFuture()
        future.add_done_callback(lambda _: events.append("ordinary"))
        call_when_done(future, lambda done: events.append(done.result()))
        future.set_result("prompt")
        events.append("set")
        await asyncio.sleep(0)
        return events

    assert run(main()) == ["prompt", "set", "ordinary"]


def fail(future: PromptFuture[str]) -> None:
    future.set_exception(ValueError("no"))


@pytest.mark.parametrize("end", [fail, PromptFuture.cancel])
def test_prompt_future_without_a_result_calls_back_in_the_next_turn(
    run: Run, end: Callable[[PromptFuture[str]], object]
) -> None:
    async def main() -> None:
        called: list[object] = []
        future: PromptFuture[str] = PromptFuture()
        call_when_done(future, called.append)
        end(future)
        assert called == []
        await asyncio.sleep(0)
        assert called == [future]
        assert future.cancelled() or isinstance(future.exception(), ValueError)

    run(main())


def test_other_futures_and_those_that_are_done_call_back_in_the_next_turn(run: Run) -> None:
    async def main() -> None:
        called: list[object] = []
        ordinary, done = asyncio.get_running_loop().create_future(), PromptFuture[None]()
        done.set_result(None)
        for future in (ordinary, done):
            call_when_done(future, called.append)
        ordinary.set_result(None)
        assert called == []
        await asyncio.sleep(0)
        assert called == [done, ordinary]

    run(main())


def test_error_of_a_prompt_callback_is_reported_and_does_not_reach_who_sets_the_result(run: Run) -> None:
    async def main() -> list[str]:
        faults: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        future: PromptFuture[int] = PromptFuture()
        call_when_done(future, lambda done: done.result() / 0)
        future.set_result(1)
        return [repr(fault["exception"]) for fault in faults]

    assert run(main()) == ["ZeroDivisionError('division by zero')"]


def test_result_of_a_thread_comes_in_the_turn_that_learns_it(run: Run) -> None:
    async def main() -> None:
        called = asyncio.Event()
        with ThreadPoolExecutor(1) as executor:
            future = start_in_thread(executor, lambda: 3)
            call_when_done(future, lambda _: called.set())
            await called.wait()
            assert future.result() == 3
            with pytest.raises(ZeroDivisionError):
                await start_in_thread(executor, lambda: 1 / 0)

    run(main())


def test_cancelled_work_is_not_begun(run: Run) -> None:
    async def main() -> None:
        may_end, begun = Event(), list[str]()
        with ThreadPoolExecutor(1) as executor:
            first = start_in_thread(executor, may_end.wait)
            second = start_in_thread(executor, lambda: begun.append("second"))
            second.cancel()
            for _ in range(3):  # the executor hears of it two turns later
                await asyncio.sleep(0)
            may_end.set()
            await first
            await start_in_thread(executor, lambda: begun.append("third"))
        assert begun == ["third"]

    run(main())


def test_thread_may_end_after_the_event_loop() -> None:
    may_end = Event()

    async def main() -> None:
        start_in_thread(executor, may_end.wait)

    with ThreadPoolExecutor(1) as executor:
        asyncio.run(main())
        may_end.set()
        assert executor.submit(lambda: 1).result() == 1
