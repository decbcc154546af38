"""Reports changes that come fast: at most once in an interval, and the last one always."""

import asyncio
from collections.abc import Callable


class Throttle:
    """Calls `report` after changes, at most once every `interval` seconds, while `run` is running."""

    def __init__(self, report: Callable[[], None], interval: float) -> None:
        self._report = report
        self._interval = interval
        self._changed = asyncio.Event()

    def note(self) -> None:
        """Note a change."""
        self._changed.set()

    async def run(self) -> None:
        """Report changes until it is cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._report()
            await asyncio.sleep(self._interval)
