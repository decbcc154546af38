"""Writes the dealer's promises to disk before any client sees a card that depends on them (docs/fair-deal.md)."""

import asyncio
import os
import stat
from asyncio import Future
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Final

from croupier.core.histogram import Histogram
from croupier.core.logger import Logger
from croupier.core.session import Effect
from croupier.net.event_loop import call_when_done, resolve, start_in_thread
from croupier.observers.deal_recorder import DealRecorder

MAX_SYNC_WAIT_SECONDS: Final = 1.0
"""A slower disk is not waited for: the dealer's record must not stop a room."""


class FileSync:
    """Coalesced fsync calls for one file: all requests made during one fsync are satisfied by the next one.

    Nothing waits if the file is a pipe or a device. After MAX_SYNC_WAIT_SECONDS without an answer from the disk nothing
    waits either, until it responds again. `sync_times` is how long the calls took.
    """

    def __init__(self, descriptor: int, log: Logger) -> None:
        self.sync_times = Histogram()
        self._descriptor = descriptor
        self._log = log
        self._is_regular_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "deals")
        self._waiting: list[Future[None]] = []
        self._is_busy = False
        self._is_stuck = False

    def request_sync(self) -> Future[None] | None:
        """Return a future that is done when everything written so far is on the disk; it never fails.

        Returns None if the caller need not wait.
        """
        if not self._is_regular_file or self._is_stuck:
            return None
        future: Future[None] = self._loop.create_future()
        self._waiting.append(future)
        if not self._is_busy:
            self._start_sync()
        return future

    def close(self) -> None:
        """Shut down the thread."""
        self._thread.shutdown(wait=False)

    def _start_sync(self) -> None:
        self._is_busy = True
        waiting, self._waiting = self._waiting, []
        timer = self._loop.call_later(MAX_SYNC_WAIT_SECONDS, self._on_timeout, waiting)
        sync = start_in_thread(self._thread, self._sync)
        call_when_done(sync, lambda done: self._on_sync_done(done, waiting, timer))

    def _sync(self) -> None:
        started = perf_counter()
        os.fsync(self._descriptor)
        self.sync_times.observe(perf_counter() - started)

    def _on_sync_done(self, future: Future[None], waiting: Sequence[Future[None]], timer: asyncio.TimerHandle) -> None:
        timer.cancel()
        self._is_busy = False
        if future.cancelled():
            return  # the event loop is shutting down
        if (error := future.exception()) is not None:
            self._log.error("dealer's record not synced to disk: a power loss may lose promises", reason=str(error))
        elif self._is_stuck:
            self._log.warning("disk of the dealer's record responds again")
        self._is_stuck = False
        for request in waiting:
            resolve(request)
        if self._waiting:
            self._start_sync()

    def _on_timeout(self, waiting: Sequence[Future[None]]) -> None:
        self._is_stuck = True
        reason = f"the disk has not responded for {MAX_SYNC_WAIT_SECONDS:g} seconds"
        self._log.error("dealer's record not synced to disk: a power loss may lose promises", reason=reason)
        for future in (*waiting, *self._waiting):
            resolve(future)
        self._waiting.clear()


class Promises:
    """The dealer's promises of one durable room."""

    def __init__(self, deals: DealRecorder, file_sync: FileSync) -> None:
        self._deals = deals
        self._file_sync = file_sync

    def write(self, effects: Sequence[Effect[Any]]) -> Future[None] | None:
        """Write the promises among effects that are not performed yet.

        Returns a future as `request_sync` does, or None if there are no promises.
        """
        return self.request_sync() if self._deals.write_promises(effects) else None

    def request_sync(self) -> Future[None] | None:
        """See `FileSync.request_sync`."""
        return self._file_sync.request_sync()
