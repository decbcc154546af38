"""The scribe writes what all tables have to say into the books, many facts with one stroke of the pen."""

import asyncio
from asyncio import Future
from itertools import accumulate, takewhile
from typing import Any

from croupier.store.engine import Engine, Write
from croupier.store.records import StoreUnavailable

MAX_BATCH_FACTS = 1024
"""So many facts at most are committed together: what is done with them on the loop takes a few milliseconds."""

RETRY_DELAYS_SECONDS = (0.05, 5.0)
"""How many seconds pass before a store that is down is tried for the first time, and at most; each pause is doubled."""


CHECK_INTERVAL_SECONDS = 1.0
"""After this time without a commit the engine looks whether the store is still there."""


class GroupCommitter:
    """A queue of deeds and one task that commits them in order, all that wait with one commit (group commit).

    The first deed waits for nothing but the loop's next turn; those that come while a commit is on its way go with the
    next one. A commit wakes the loop once, and everybody who waits for it in the same turn, so that what they
    have to say next goes together again.

    When a commit fails, all that wait fail with it, for they may build on what was lost; `down` says why until the
    engine can write again.
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
        self._futures: list[Future[Any]] = []  # of the deeds, in their order
        self._weight = 0  # of the deeds and of what is being committed
        self._has_writes = asyncio.Event()
        self._has_space = asyncio.Event()
        self._is_up = asyncio.Event()
        self._is_idle = asyncio.Event()
        for true in (self._has_space, self._is_up, self._is_idle):
            true.set()
        self._is_closing = False
        self._task = self._loop.create_task(self._run(), name="store")

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more may."""
        return self._weight >= self._max_pending

    async def wait_for_space(self) -> None:
        """Wait until something more may be written; a store that is down has room, for it refuses at once."""
        await self._has_space.wait()

    async def wait_until_up(self) -> None:
        """Wait until the store can be written to."""
        await self._is_up.wait()

    def submit(self, write: Write) -> Future[Any]:
        """Queue a deed. The future is done when it is durable; it fails with StoreDown or Refused."""
        future: Future[Any] = self._loop.create_future()
        if self.outage is None and self._weight < self._max_pending and not self._is_closing:
            if not self._writes:
                self._has_writes.set()
                self._is_idle.clear()
            self._writes.append(write)
            self._futures.append(future)
            self._weight += write.weight
            if self._weight >= self._max_pending:
                self._has_space.clear()
        elif self.outage is not None:
            _fail_future(future, self.outage)
        elif self._is_closing:
            _fail_future(future, "the store is closed")
        else:
            _fail_future(future, f"found {self._weight} facts that wait to be written; allowed: {self._max_pending}")
        return future

    async def close(self) -> None:
        """Write what waits, and stop."""
        self._is_closing = True
        await self._is_idle.wait()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            await self._wait_for_writes()
            while self._writes:
                deeds, futures, weight = self._take_batch()
                try:
                    outcomes = await self._engine.commit(deeds)
                except Exception as error:
                    self._go_down(_error_text(error), futures)
                    await self._recover()
                    continue
                self._delay = self._first_delay
                for future, outcome in zip(futures, outcomes, strict=True):
                    if future.done():
                        continue  # nobody waits for it any more
                    if isinstance(outcome, Exception):
                        future.set_exception(outcome)
                    else:
                        future.set_result(outcome)
                self._release_weight(weight)
                await asyncio.sleep(0)  # those who were woken say what they have next
            self._has_writes.clear()
            self._is_idle.set()

    async def _wait_for_writes(self) -> None:
        """Wait until something is to be written, and see to it meanwhile that the store is there."""
        while not self._has_writes.is_set():
            try:
                async with asyncio.timeout(CHECK_INTERVAL_SECONDS):
                    await self._has_writes.wait()
            except TimeoutError:
                try:
                    await self._engine.check_connection()
                except Exception as error:
                    self._go_down(_error_text(error), [])
                    await self._recover()

    def _take_batch(self) -> tuple[list[Write], list[Future[Any]], int]:
        """What is committed next, and its weight: all that waits, unless it is too much."""
        deeds, futures, weight = self._writes, self._futures, self._weight
        number = len(deeds)
        if weight > MAX_BATCH_FACTS:
            weights = accumulate(deed.weight for deed in deeds)
            number = sum(1 for _ in takewhile(lambda weight: weight <= MAX_BATCH_FACTS, weights)) or 1
            weight = sum(deed.weight for deed in deeds[:number])
        self._writes, self._futures = deeds[number:], futures[number:]
        return deeds[:number], futures[:number], weight

    def _go_down(self, reason: str, futures: list[Future[Any]]) -> None:
        self.outage = reason
        self._is_up.clear()
        for future in (*futures, *self._futures):
            if not future.done():
                _fail_future(future, reason)
        self._writes.clear()
        self._futures.clear()
        self._has_writes.clear()
        self._release_weight(self._weight)
        self._is_idle.set()

    async def _recover(self) -> None:
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

    def _release_weight(self, weight: int) -> None:
        self._weight -= weight
        if not self.is_full:
            self._has_space.set()


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, StoreUnavailable) else repr(error)


def _fail_future(future: Future[Any], reason: str) -> None:
    future.set_exception(StoreUnavailable(reason))
    future.exception()  # who does not wait for it learns it from `down`
