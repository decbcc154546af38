"""Event loops: uvloop if it is installed, otherwise asyncio's own; and what works with either."""

import asyncio
import os
import time
from asyncio import Future
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """The function that creates an event loop."""
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def run[T](main: Coroutine[object, object, T]) -> T:
    """Run a coroutine on a new event loop and return its result."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)


def yield_processor() -> None:
    """Let a thread run that waits for the processor or the interpreter; without one it takes about a microsecond."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:  # Windows
        time.sleep(0)


def start_task[T](tasks: set[asyncio.Task[T]], coroutine: Coroutine[object, object, T]) -> None:
    """Start a task, and keep it in a set until it is done: an event loop may lose a task that nobody refers to."""
    task = asyncio.get_running_loop().create_task(coroutine)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def wait_tasks[T](tasks: set[asyncio.Task[T]]) -> None:
    """Wait until tasks that were started with `start_task` are done, also those that start meanwhile."""
    while tasks:
        await asyncio.wait(tasks)


async def cancel_all(*futures: Future[Any]) -> None:
    """Cancel futures and tasks, and wait until they have ended, whatever with."""
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)


def resolve(future: Future[None] | None) -> None:
    """Wake the tasks that wait for a future, unless there is none or it is done already."""
    if future is not None and not future.done():
        future.set_result(None)


async def wait_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait at most `seconds` for an event; return whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
