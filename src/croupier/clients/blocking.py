"""Clients for programs without an event loop: a proxy that calls the coroutine methods of any asynchronous client."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from functools import wraps
from threading import Lock, Thread
from typing import Any, Concatenate, Self

from croupier.net.event_loop import loop_factory


class LoopThread:
    """An event loop in a background thread, started by the first call; programs may call from several threads."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner(loop_factory=loop_factory())
        self._stop = asyncio.Event()
        self._thread = Thread(target=self._run, daemon=True, name="croupier-client")
        self._lock = Lock()
        self._is_stopped = False

    def call[**P, T](self, method: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a coroutine method and return its result; an exception while waiting cancels it.

        The loop creates the coroutine, so that KeyboardInterrupt, at any moment, leaves none that is not awaited or
        that goes on. Raises RuntimeError if the thread has been stopped, or the interpreter is about to exit.
        """
        started: Future[Future[T]] = Future()

        async def run() -> T:
            return await method(*args, **kwargs)

        def start() -> None:
            started.set_result(asyncio.run_coroutine_threadsafe(run(), loop))

        try:
            with self._lock:
                if self._is_stopped or sys.is_finalizing():  # the interpreter stops other threads before it finalizes
                    raise RuntimeError("the client is closed")
                loop = self._runner.get_loop()
                if not self._thread.is_alive():
                    self._thread.start()
                loop.call_soon_threadsafe(start)
            return started.result().result()
        finally:
            started.add_done_callback(lambda started: started.result().cancel())

    def stop(self) -> None:
        """Cancel what is still running and end the thread."""
        with self._lock:
            self._is_stopped = True
            if not self._thread.is_alive():
                return
            self._runner.get_loop().call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        with self._runner:
            self._runner.run(self._stop.wait())


class BlockingProxy[C: AbstractAsyncContextManager[Any]]:
    """An asynchronous client for programs without an event loop: every call blocks until it is done.

    A subclass lists the methods, `receive = blocking(GameClient.receive)`, and the attributes (`ClientAttribute`).
    All calls run in one thread: that of the proxy, or `thread`, which belongs to another proxy.
    """

    def __init__(self, client: C, thread: LoopThread | None = None) -> None:
        self._client = client
        self._thread = LoopThread() if thread is None else thread
        self._has_own_thread = thread is None

    def __enter__(self) -> Self:
        try:
            self._thread.call(self._client.__aenter__)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._thread.call(self._client.__aexit__, *error)
        finally:
            self._stop()

    def _stop(self) -> None:
        if self._has_own_thread:
            self._thread.stop()

    def _iterate[T](self, values: AsyncGenerator[T]) -> Iterator[T]:
        """Yield the values of an asynchronous generator, and close it at the end."""
        try:
            with suppress(StopAsyncIteration):
                while True:
                    yield self._thread.call(values.__anext__)
        finally:
            with suppress(RuntimeError):  # the thread has been stopped, which closes the generator
                self._thread.call(values.aclose)


class ClientAttribute[T]:
    """An attribute of a proxy that has the value of the same attribute of its client."""

    def __set_name__(self, owner: type[BlockingProxy[Any]], name: str) -> None:
        self._name = name
        self.__doc__ = f"See the attribute `{name}` of the asynchronous client."

    def __get__(self, proxy: BlockingProxy[Any], owner: type[BlockingProxy[Any]]) -> T:
        value: T = getattr(proxy._client, self._name)
        return value


def blocking[C: AbstractAsyncContextManager[Any], **P, R](
    method: Callable[Concatenate[C, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[BlockingProxy[C], P], R]:
    """Return a method of a proxy: it calls this coroutine method of the client, and blocks until that is done."""

    @wraps(method)
    def call(proxy: BlockingProxy[C], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return proxy._thread.call(method, proxy._client, *args, **kwargs)

    return call
