"""Group commit: one task commits the pending writes of all tables together."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any

from croupier.store.engine import Engine, Script, Write
from croupier.store.records import StoreUnavailable

MAX_BATCH_FACTS = 1024
"""The maximum weight of a batch; preparing one takes a few milliseconds on the event loop."""

RETRY_DELAYS_SECONDS = (0.05, 5.0)
"""The first and the maximum delay between attempts to reconnect; each delay is twice the one before."""

CHECK_INTERVAL_SECONDS = 1.0
"""After this time without a commit the connection is checked."""


class GroupCommitter:
    """A queue of writes, and a task that commits all pending writes in order with one transaction (group commit).

    A write to an idle store is committed at once if the engine can, or else in the next turn of the event loop; writes
    that arrive during a commit go into the next one. A commit resolves all its futures in the same turn, so that the
    next writes of the waiting tasks are committed together again.

    If a commit fails, all pending writes fail as well, because they may depend on the lost ones. `outage` is then the
    reason until the engine can write again.
    """

    def __init__(
        self, engine: Engine, max_pending: int, retry_delays: tuple[float, float] = RETRY_DELAYS_SECONDS
    ) -> None:
        self.outage: str | None = None
        self._engine = engine
        self._max_pending = max_pending
        self._first_delay, self._max_delay = retry_delays
        self._delay = self._first_delay
        self._loop = asyncio.get_running_loop()
        self._writes: list[Write] = []
        self._futures: list[Future[Any]] = []  # of the writes, in the same order
        self._weight = 0  # of the pending writes and of the current batch
        self._has_work = asyncio.Event()  # writes, or an outage
        self._is_up = asyncio.Event()
        self._is_idle = asyncio.Event()
        for event in (self._is_up, self._is_idle):
            event.set()
        self._is_closing = False
        self._task = self._loop.create_task(self._run(), name="store")

    @property
    def pending_count(self) -> int:
        """The number of facts that wait to be written, or are being written; any other write counts as one."""
        return self._weight

    async def wait_until_up(self) -> None:
        """Wait until the store is writable."""
        await self._is_up.wait()

    def submit(self, write: Write) -> Future[Any]:
        """Queue a write. The future resolves when it is durable, or fails with StoreUnavailable or WriteRefused."""
        future: Future[Any] = self._loop.create_future()
        if self.outage is not None:
            _fail_future(future, self.outage)
        elif self._is_closing:
            _fail_future(future, "the store is closed")
        elif self._weight >= self._max_pending:
            _fail_future(future, f"found {self._weight} facts that wait to be written; allowed: {self._max_pending}")
        elif self._weight or isinstance(write, Script):
            self._enqueue(write, future)
        else:
            try:
                is_committed = self._engine.commit_at_once(write)
            except Exception as error:
                self._go_down(_error_text(error), [future])
            else:
                if is_committed:
                    self._delay = self._first_delay
                    future.set_result(None)
                else:
                    self._enqueue(write, future)
        return future

    async def close(self) -> None:
        """Commit the pending writes, then stop."""
        self._is_closing = True
        await self._is_idle.wait()
        self._task.cancel()
        await asyncio.wait([self._task])

    def _enqueue(self, write: Write, future: Future[Any]) -> None:
        if not self._writes:
            self._has_work.set()
            self._is_idle.clear()
        self._writes.append(write)
        self._futures.append(future)
        self._weight += write.weight

    async def _run(self) -> None:
        while True:
            await self._wait_for_work()
            while self._writes:
                writes, futures, weight = self._take_batch()
                try:
                    outcomes = await self._engine.commit(writes)
                except Exception as error:
                    self._go_down(_error_text(error), futures)
                    break
                self._resolve(futures, outcomes)
                self._weight -= weight
                await asyncio.sleep(0)  # the woken tasks submit their next writes
            self._has_work.clear()
            self._is_idle.set()
            await self._recover()

    async def _wait_for_work(self) -> None:
        """Wait for the next write or an outage, and check the connection meanwhile."""
        while not self._has_work.is_set():
            try:
                async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                    await self._has_work.wait()
            except TimeoutError:
                try:
                    await self._engine.check_connection()
                except Exception as error:
                    self._go_down(_error_text(error), [])

    def _resolve(self, futures: Sequence[Future[Any]], outcomes: Sequence[object]) -> None:
        """Resolve the futures of writes that are committed."""
        self._delay = self._first_delay
        for future, outcome in zip(futures, outcomes, strict=True):
            if future.done():
                continue  # cancelled
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _take_batch(self) -> tuple[list[Write], list[Future[Any]], int]:
        """Take the next batch: the writes, their futures, and their weight."""
        writes, futures, weight = self._writes, self._futures, self._weight
        count = len(writes)
        if weight > MAX_BATCH_FACTS:
            weights = accumulate(write.weight for write in writes)
            count = sum(1 for _ in takewhile(lambda weight: weight <= MAX_BATCH_FACTS, weights)) or 1
            weight = sum(write.weight for write in writes[:count])
        self._writes, self._futures = writes[count:], futures[count:]
        return writes[:count], futures[:count], weight

    def _go_down(self, reason: str, futures: list[Future[Any]]) -> None:
        self.outage = reason
        self._is_up.clear()
        for future in (*futures, *self._futures):
            if not future.done():
                _fail_future(future, reason)
        self._writes.clear()
        self._futures.clear()
        self._weight = 0
        self._has_work.set()

    async def _recover(self) -> None:
        """Reconnect after an outage, when that is possible."""
        while self.outage is not None:
            await asyncio.sleep(self._delay)
            self._delay = min(2 * self._delay, self._max_delay)
            try:
                await self._engine.reconnect()
            except Exception as error:
                self.outage = _error_text(error)
            else:
                self.outage = None
                self._is_up.set()


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, StoreUnavailable) else repr(error)


def _fail_future(future: Future[Any], reason: str) -> None:
    future.set_exception(StoreUnavailable(reason))
    future.exception()  # mark it as retrieved: callers that do not await it see `outage`
