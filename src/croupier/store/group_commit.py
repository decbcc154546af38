"""Group commit: the pending writes of all tables are committed together."""

import asyncio
from asyncio import Future
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, takewhile
from typing import Any

from croupier.net.event_loop import PromptFuture, call_when_done, wait_set
from croupier.store.engine import Engine, Script, Write
from croupier.store.records import StoreUnavailable

MAX_BATCH_FACTS = 1024
"""The maximum weight of a batch; preparing one takes a few milliseconds on the event loop."""

RETRY_DELAYS_SECONDS = (0.05, 5.0)
"""The first and the maximum delay between attempts to reconnect; each delay is twice the one before."""

CHECK_INTERVAL_SECONDS = 1.0
"""After this time without a commit the connection is checked."""


class GroupCommitter:
    """A queue of writes, which commits all pending writes in order with one transaction (group commit).

    A write to an idle store is committed at once if the engine can, or else in the next turn of the event loop; writes
    that arrive during a commit go into the next one. A commit resolves all its futures in the turn in which it is done.
    They are PromptFutures: what their owners write meanwhile is committed at once, together.

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
        self._is_up = asyncio.Event()
        self._is_down = asyncio.Event()
        self._is_idle = asyncio.Event()  # no commit is in progress, and none is about to begin
        for event in (self._is_up, self._is_idle):
            event.set()
        self._is_closing = False
        self._task = self._loop.create_task(self._keep_up(), name="store")

    @property
    def pending_count(self) -> int:
        """The number of facts that wait to be written, or are being written; any other write counts as one."""
        return self._weight

    async def wait_until_up(self) -> None:
        """Wait until the store is writable."""
        await self._is_up.wait()

    def submit(self, write: Write) -> Future[Any]:
        """Queue a write. The future resolves when it is durable, or fails with StoreUnavailable or WriteRefused."""
        future: PromptFuture[Any] = PromptFuture(loop=self._loop)
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
        self._writes.append(write)
        self._futures.append(future)
        self._weight += write.weight
        if self._is_idle.is_set():
            self._is_idle.clear()
            self._loop.call_soon(self._commit_next)

    def _commit_next(self) -> None:
        """Start to commit the next batch, if anything is pending."""
        if self._writes:
            writes, futures, weight = self._take_batch()
            call_when_done(self._engine.commit(writes), partial(self._on_committed, futures, weight))
        else:
            self._is_idle.set()

    def _on_committed(self, futures: Sequence[Future[Any]], weight: int, commit: Future[Sequence[object]]) -> None:
        """Resolve the futures of a batch."""
        if commit.cancelled():
            return  # the event loop is shutting down
        if (error := commit.exception()) is not None:
            self._go_down(_error_text(error), futures)
            return
        self._delay = self._first_delay
        self._weight -= weight
        for future, outcome in zip(futures, commit.result(), strict=True):
            if future.done():
                continue  # cancelled
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
        self._commit_next()

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

    def _go_down(self, reason: str, futures: Sequence[Future[Any]]) -> None:
        """Fail the futures of a batch and of all pending writes."""
        self.outage = reason
        self._is_up.clear()
        self._is_down.set()
        pending, self._futures = self._futures, []
        self._writes.clear()
        self._weight = 0
        self._is_idle.set()
        for future in (*futures, *pending):
            if not future.done():
                _fail_future(future, reason)

    async def _keep_up(self) -> None:
        """Check the connection while the store is idle, and reconnect after an outage."""
        while True:
            if await wait_set(self._is_down, CHECK_INTERVAL_SECONDS):
                await self._recover()
            elif self._is_idle.is_set():
                self._is_idle.clear()
                try:
                    await self._engine.check_connection()
                except Exception as error:
                    self._go_down(_error_text(error), [])
                else:
                    self._commit_next()

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
                self._is_down.clear()
                self._is_up.set()


def _error_text(error: BaseException) -> str:
    return str(error) if isinstance(error, StoreUnavailable) else repr(error)


def _fail_future(future: Future[Any], reason: str) -> None:
    future.set_exception(StoreUnavailable(reason))
    future.exception()  # mark it as retrieved: callers that do not await it see `outage`
