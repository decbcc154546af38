"""The scribe writes what all tables have to say into the books, many facts with one stroke of the pen."""

import asyncio
from asyncio import Future
from itertools import accumulate, takewhile
from typing import Any

from croupier.store.engine import Deed, Engine
from croupier.store.records import StoreDown

BATCH = 1024
"""So many facts at most are committed together: what is done with them on the loop takes a few milliseconds."""

PAUSES = (0.05, 5.0)
"""How many seconds pass before a store that is down is tried for the first time, and at most; each pause is doubled."""


LOOK_SECONDS = 1.0
"""After this time without a commit the engine looks whether the store is still there."""


class Scribe:
    """A queue of deeds and one task that commits them in order, all that wait with one commit (group commit).

    The first deed waits for nothing but the loop's next turn; those that come while a commit is on its way go with the
    next one. A commit wakes the loop once, and everybody who waits for it in the same turn, so that what they
    have to say next goes together again.

    When a commit fails, all that wait fail with it, for they may build on what was lost; `down` says why until the
    engine can write again.
    """

    def __init__(self, engine: Engine, most: int, pauses: tuple[float, float] = PAUSES) -> None:
        self.down: str | None = None
        self._engine = engine
        self._most = most
        self._first_pause, self._last_pause = pauses
        self._pause = self._first_pause
        self._loop = asyncio.get_running_loop()
        self._deeds: list[Deed] = []
        self._futures: list[Future[Any]] = []  # of the deeds, in their order
        self._weight = 0  # of the deeds and of what is being committed
        self._wanted = asyncio.Event()
        self._space = asyncio.Event()
        self._up = asyncio.Event()
        self._idle = asyncio.Event()
        for true in (self._space, self._up, self._idle):
            true.set()
        self._closing = False
        self._task = self._loop.create_task(self._work(), name="store")

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more may."""
        return self._weight >= self._most

    async def room(self) -> None:
        """Wait until something more may be written; a store that is down has room, for it refuses at once."""
        await self._space.wait()

    async def up(self) -> None:
        """Wait until the store can be written to."""
        await self._up.wait()

    def put(self, deed: Deed) -> Future[Any]:
        """Queue a deed. The future is done when it is durable; it fails with StoreDown or Refused."""
        future: Future[Any] = self._loop.create_future()
        if self.down is None and self._weight < self._most and not self._closing:
            if not self._deeds:
                self._wanted.set()
                self._idle.clear()
            self._deeds.append(deed)
            self._futures.append(future)
            self._weight += deed.weight
            if self._weight >= self._most:
                self._space.clear()
        elif self.down is not None:
            _fail(future, self.down)
        elif self._closing:
            _fail(future, "the store is closed")
        else:
            _fail(future, f"found {self._weight} facts that wait to be written; allowed: {self._most}")
        return future

    async def close(self) -> None:
        """Write what waits, and stop."""
        self._closing = True
        await self._idle.wait()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _work(self) -> None:
        while True:
            await self._wait()
            while self._deeds:
                deeds, futures, weight = self._take()
                try:
                    outcomes = await self._engine.commit(deeds)
                except Exception as error:
                    self._fall(_reason(error), futures)
                    await self._rise()
                    continue
                self._pause = self._first_pause
                for future, outcome in zip(futures, outcomes, strict=True):
                    if future.done():
                        continue  # nobody waits for it any more
                    if isinstance(outcome, Exception):
                        future.set_exception(outcome)
                    else:
                        future.set_result(outcome)
                self._relieve(weight)
                await asyncio.sleep(0)  # those who were woken say what they have next
            self._wanted.clear()
            self._idle.set()

    async def _wait(self) -> None:
        """Wait until something is to be written, and see to it meanwhile that the store is there."""
        while not self._wanted.is_set():
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wanted.wait()
            except TimeoutError:
                try:
                    await self._engine.look()
                except Exception as error:
                    self._fall(_reason(error), [])
                    await self._rise()

    def _take(self) -> tuple[list[Deed], list[Future[Any]], int]:
        """What is committed next, and its weight: all that waits, unless it is too much."""
        deeds, futures, weight = self._deeds, self._futures, self._weight
        number = len(deeds)
        if weight > BATCH:
            weights = accumulate(deed.weight for deed in deeds)
            number = sum(1 for _ in takewhile(lambda weight: weight <= BATCH, weights)) or 1
            weight = sum(deed.weight for deed in deeds[:number])
        self._deeds, self._futures = deeds[number:], futures[number:]
        return deeds[:number], futures[:number], weight

    def _fall(self, reason: str, futures: list[Future[Any]]) -> None:
        self.down = reason
        self._up.clear()
        for future in (*futures, *self._futures):
            if not future.done():
                _fail(future, reason)
        self._deeds.clear()
        self._futures.clear()
        self._wanted.clear()
        self._relieve(self._weight)
        self._idle.set()

    async def _rise(self) -> None:
        while self.down is not None:
            await asyncio.sleep(self._pause)
            self._pause = min(2 * self._pause, self._last_pause)
            try:
                await self._engine.revive()
            except Exception as error:
                self.down = _reason(error)
            else:
                self.down = None
                self._up.set()

    def _relieve(self, weight: int) -> None:
        self._weight -= weight
        if not self.full:
            self._space.set()


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, StoreDown) else repr(error)


def _fail(future: Future[Any], reason: str) -> None:
    future.set_exception(StoreDown(reason))
    future.exception()  # who does not wait for it learns it from `down`
