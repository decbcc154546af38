"""The dealer's promises on the disk before anybody sees a card that follows from them (docs/fair-deal.md)."""

import asyncio
import os
import stat
from asyncio import Future
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from croupier.core.session import Effect
from croupier.logs import Log
from croupier.observers.deal_recorder import Deals

MAX_WAIT_SECONDS: Final = 1.0
"""A disk that takes longer is not waited for: the record stops no room."""


class Disk:
    """The disk under a file: everybody who asks while it is busy waits for one and the same next fsync.

    Nobody waits where the file is a pipe or a device, nor for a disk that has not answered for MAX_WAIT_SECONDS, until
    it answers again.
    """

    def __init__(self, descriptor: int, log: Log) -> None:
        self._descriptor = descriptor
        self._log = log
        self._plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "deals")
        self._waiting: list[Future[None]] = []
        self._busy = False
        self._stuck = False

    def synced(self) -> Future[None] | None:
        """Done, and never failed, when what is in the file now is on the disk; None where nobody waits for that."""
        if not self._plain or self._stuck:
            return None
        future: Future[None] = self._loop.create_future()
        self._waiting.append(future)
        if not self._busy:
            self._sync()
        return future

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False)

    def _sync(self) -> None:
        self._busy = True
        waiting, self._waiting = self._waiting, []
        timer = self._loop.call_later(MAX_WAIT_SECONDS, self._late, waiting)
        syncing = self._loop.run_in_executor(self._thread, os.fsync, self._descriptor)
        syncing.add_done_callback(lambda done: self._synced(done, waiting, timer))

    def _synced(self, done: Future[None], waiting: Sequence[Future[None]], timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        self._busy = False
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is not None:
            self._log.error("the dealer's record may lack promises after a power loss", reason=str(error))
        elif self._stuck:
            self._log.warning("the disk of the dealer's record answers again")
        self._stuck = False
        _release(waiting)
        if self._waiting:
            self._sync()

    def _late(self, waiting: Sequence[Future[None]]) -> None:
        self._stuck = True
        reason = f"its disk has not answered for {MAX_WAIT_SECONDS:g} seconds"
        self._log.error("the dealer's record may lack promises after a power loss", reason=reason)
        _release(waiting)
        _release(self._waiting)
        self._waiting.clear()


class Promises:
    """The promises of one room that is durable."""

    def __init__(self, deals: Deals, disk: Disk) -> None:
        self._deals = deals
        self._disk = disk

    def keep(self, effects: Sequence[Effect[Any]]) -> Future[None] | None:
        """Write the promises among effects that are held back; as `synced`, and None where there are none."""
        return self.synced() if self._deals.promise(effects) else None

    def synced(self) -> Future[None] | None:
        """See `Disk.synced`."""
        return self._disk.synced()


def _release(waiting: Sequence[Future[None]]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
