"""Event loops: uvloop if it is installed, otherwise asyncio's own; and what works with either."""

import asyncio
import os
import time
from asyncio import Future
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
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


async def run_together[T](*coroutines: Coroutine[Any, Any, T]) -> list[T]:
    """Run coroutines at the same time and return their results. If one raises an error, the others are cancelled."""
    tasks = [asyncio.get_running_loop().create_task(each) for each in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await cancel_all(*tasks)


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


class PromptFuture[T](Future[T]):
    """A future whose result one callback can get in the turn of the event loop that sets it; see `call_when_done`.

    A turn answers the requests of all clients that poll, so what a client waits for must not wait for the next one.
    """

    prompt_callback: Callable[[Future[T]], object] | None = None

    def set_result(self, result: T) -> None:
        """Set the result, and call the prompt callback."""
        if (callback := self.prompt_callback) is None:
            super().set_result(result)
            return
        self.prompt_callback = None  # it refers to this future
        self.remove_done_callback(callback)
        super().set_result(result)
        try:
            callback(self)
        except Exception as error:  # as in any callback
            context = {"message": f"exception in {callback}", "exception": error, "future": self}
            self.get_loop().call_exception_handler(context)


def call_when_done[T](future: Future[T], callback: Callable[[Future[T]], object]) -> None:
    """Call back when a future is done: that of a PromptFuture as soon as it has a result, or else in the next turn."""
    future.add_done_callback(callback)
    if isinstance(future, PromptFuture):
        future.prompt_callback = callback


def start_in_thread[T](executor: Executor, work: Callable[[], T]) -> PromptFuture[T]:
    """Call `work` in a thread, unless the future is cancelled before; its result is set in the turn that learns it.

    The future of `run_in_executor` calls back a turn later.
    """
    loop = asyncio.get_running_loop()
    future: PromptFuture[T] = PromptFuture(loop=loop)

    def settle[A](set_outcome: Callable[[A], None], outcome: A) -> None:
        if not future.cancelled():
            set_outcome(outcome)

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            loop.call_soon_threadsafe(settle, future.set_exception, error)
        else:
            loop.call_soon_threadsafe(settle, future.set_result, result)

    running = loop.run_in_executor(executor, run)
    future.add_done_callback(lambda _: running.cancel())
    return future
