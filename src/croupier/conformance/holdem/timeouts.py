"""A timeout that does not count time in which this process could not run."""

import asyncio
from types import TracebackType
from typing import Final, Self

TICK_SECONDS: Final = 0.05
"""The timer counts in ticks of this length, so a stall of the event loop counts as one tick at most."""


class StallTolerantTimeout:
    """As `asyncio.timeout`, but counts only time in which this process runs. Raises TimeoutError."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._limit = asyncio.timeout(None)
        self._next: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._next is not None:
            self._next.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _wait(self) -> None:
        tick = min(TICK_SECONDS, self._left)
        self._left -= tick
        self._next = asyncio.get_running_loop().call_later(tick, self._on_tick)

    def _on_tick(self) -> None:
        if self._left > 0:
            self._wait()
        else:
            self._next = None
            self._limit.reschedule(asyncio.get_running_loop().time())
