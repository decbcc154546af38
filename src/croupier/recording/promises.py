"""The dealer's promises on the disk before anybody sees a card that follows from them (docs/fair-deal.md)."""

import asyncio
import os
import stat
from asyncio import Future
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from croupier.core.session import Effect
from croupier.logs import Logger
from croupier.observers.deal_recorder import DealRecorder

MAX_SYNC_WAIT_SECONDS: Final = 1.0
"""A disk that takes longer is not waited for: the record stops no room."""


class FileSync:
    """The disk under a file: everybody who asks while it is busy waits for one and the same next fsync.

    Nobody waits where the file is a pipe or a device, nor for a disk that has not answered for MAX_WAIT_SECONDS, until
    it answers again.
    """

    def __init__(self, descriptor: int, log: Logger) -> None:
        self._descriptor = descriptor
        self._log = log
        self._is_regular_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "deals")
        self._waiting: list[Future[None]] = []
        self._is_busy = False
        self._is_stuck = False

    def request_sync(self) -> Future[None] | None:
        """Done, and never failed, when what is in the file now is on the disk; None where nobody waits for that."""
        if not self._is_regular_file or self._is_stuck:
            return None
        future: Future[None] = self._loop.create_future()
        self._waiting.append(future)
        if not self._is_busy:
            self._start_sync()
        return future

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False)

    def _start_sync(self) -> None:
        self._is_busy = True
        waiting, self._waiting = self._waiting, []
        timer = self._loop.call_later(MAX_SYNC_WAIT_SECONDS, self._on_timeout, waiting)
        syncing = self._loop.run_in_executor(self._thread, os.fsync, self._descriptor)
        syncing.add_done_callback(lambda done: self._on_sync_done(done, waiting, timer))

    def _on_sync_done(self, done: Future[None], waiting: Sequence[Future[None]], timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        self._is_busy = False
        if done.cancelled():
            return  # the loop ends
        if (error := done.exception()) is not None:
            self._log.error("the dealer's record may lack promises after a power loss", reason=str(error))
        elif self._is_stuck:
            self._log.warning("the disk of the dealer's record answers again")
        self._is_stuck = False
        _resolve_all(waiting)
        if self._waiting:
            self._start_sync()

    def _on_timeout(self, waiting: Sequence[Future[None]]) -> None:
        self._is_stuck = True
        reason = f"its disk has not answered for {MAX_SYNC_WAIT_SECONDS:g} seconds"
        self._log.error("the dealer's record may lack promises after a power loss", reason=reason)
        _resolve_all(waiting)
        _resolve_all(self._waiting)
        self._waiting.clear()


class Promises:
    """The promises of one room that is durable."""

    def __init__(self, deals: DealRecorder, file_sync: FileSync) -> None:
        self._deals = deals
        self._file_sync = file_sync

    def write(self, effects: Sequence[Effect[Any]]) -> Future[None] | None:
        """Write the promises among effects that are held back; as `synced`, and None where there are none."""
        return self.request_sync() if self._deals.write_promises(effects) else None

    def request_sync(self) -> Future[None] | None:
        """See `Disk.synced`."""
        return self._file_sync.request_sync()


def _resolve_all(waiting: Sequence[Future[None]]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
