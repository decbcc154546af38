"""Write-ahead: what has happened in a room is durable before anybody hears of it. One mechanism for all rooms.

A room gathers what happens. While a batch of it is written, the next one gathers; the effects of a batch are released
when it is durable. Nothing here blocks the event loop. What differs between rooms is in `DurableRoom`.
"""

import asyncio
from asyncio import Future
from functools import partial
from typing import Final, Protocol

from croupier.core.logger import Logger
from croupier.net.event_loop import call_when_done
from croupier.store.records import SUPERSEDED_MESSAGE, StoreUnavailable, WriteRefused
from croupier.store.store import Store

RETRY_SECONDS: Final = 0.01
"""Delay before a batch is written again that has failed again since the store became available."""


class BatchWriter[B](Protocol):
    """Writes batches to a store, one at a time: `confirm` is called before the next `write`."""

    @property
    def store(self) -> Store:
        """The store."""
        ...

    def write(self, batch: B) -> Future[None]:
        """Start to write a batch. The future fails with StoreUnavailable, or with WriteRefused if that is final."""
        ...

    async def write_again(self, batch: B) -> None:
        """Write a batch whose first write has failed, unless it was written nevertheless. Raises as `write` does."""
        ...

    def confirm(self, batch: B) -> None:
        """Note that a batch is durable."""
        ...


class DurableRoom[B](Protocol):
    """What a room does with its batches."""

    def take_batch(self) -> B | None:
        """Return what has gathered and has to be written, None if there is nothing now."""
        ...

    def release(self, batch: B) -> None:
        """Release the effects of a batch that is durable."""
        ...

    def suspend(self, batch: B | None) -> B | None:
        """Stop playing, because the store is unavailable or belongs to another server (see `WriteAhead.trouble`).

        `batch` could not be written; it is written again, and then released, before the room resumes. Returns what the
        suspension itself has changed, which is written after it; None if that is nothing.
        """
        ...

    def resume(self) -> None:
        """Play again: the store is available, and everything from before the outage is written."""
        ...


class WriteAhead[B]:
    """Writes the batches of a room in order, and releases each one when it is durable.

    `trouble` is the reason why nothing can be written, or None. When the store is available again, the batch that
    failed is written first (`is_recovering` until then). If another server has taken over the room (`is_superseded`),
    nothing is written any more. `is_prompt` is set if the last batch was durable when `BatchWriter.write` returned.
    """

    def __init__(self, writer: BatchWriter[B], room: DurableRoom[B], log: Logger) -> None:
        self.trouble: str | None = None
        self.is_superseded = False
        self.is_recovering = False
        self.is_writing = False
        self.is_prompt = False
        self._writer = writer
        self._room = room
        self._log = log
        self._settled: Future[None] | None = None
        self._recovery_task: asyncio.Task[None] | None = None

    def flush(self, *, at_once: bool = False) -> None:
        """Write what has gathered, unless a write is in progress or impossible; it is written afterwards then.

        With `at_once`, a batch that is durable when `write` returns is released before the return, and the room itself
        flushes what it gathers meanwhile; otherwise it is released in a later turn of the event loop.
        """
        if self.is_writing or self.trouble is not None or (batch := self._room.take_batch()) is None:
            return
        writing = self._writer.write(batch)
        self.is_prompt = writing.done()
        if at_once and self.is_prompt:
            self._finish(batch, writing)
        else:
            self.is_writing = True
            call_when_done(writing, partial(self._on_written, batch))

    def settled(self) -> Future[None]:
        """A future that is done when the write in progress has succeeded or failed, and its effects are released."""
        settled = self._settled or asyncio.get_running_loop().create_future()
        if self.is_writing:
            self._settled = settled
        else:
            settled.set_result(None)
        return settled

    def suspend(self, reason: str) -> None:
        """Suspend the room because the store is unavailable, although no write has failed."""
        if self.trouble is None and not self.is_writing:
            self._go_down(StoreUnavailable(reason), None)

    def stop(self) -> None:
        """Give up what an unavailable store still lacks."""
        if self._recovery_task is not None:
            self._recovery_task.cancel()

    def _on_written(self, batch: B, writing: Future[None]) -> None:
        if writing.cancelled():
            return  # the event loop is shutting down
        self.is_writing = False
        try:
            self._finish(batch, writing)
        finally:
            settled, self._settled = self._settled, None
            if settled is not None and not settled.done():
                settled.set_result(None)
            self.flush()

    def _finish(self, batch: B, writing: Future[None]) -> None:
        """Release a batch that is durable, or suspend the room if it could not be written."""
        if (error := writing.exception()) is None:
            self._writer.confirm(batch)
            self._room.release(batch)
        else:
            self._go_down(error, batch)

    def _go_down(self, error: BaseException, batch: B | None) -> None:
        """Suspend the room, and recover it when the store is available, if it can be."""
        self.trouble = str(error)
        if isinstance(error, StoreUnavailable):
            self.is_recovering = True
            self._log.error("store unavailable", reason=str(error))
        else:
            self._fence(error)
        unwritten = [each for each in (batch, self._room.suspend(batch)) if each is not None]
        if self.is_recovering:
            self._recovery_task = asyncio.get_running_loop().create_task(self._recover(unwritten))

    def _fence(self, error: BaseException) -> None:
        """Note that nothing can be written any more."""
        self.is_recovering = False
        self.is_superseded = isinstance(error, WriteRefused)
        self.trouble = SUPERSEDED_MESSAGE if self.is_superseded else str(error)
        self._log.error(self.trouble, reason=str(error))

    async def _recover(self, unwritten: list[B]) -> None:
        """Write what is unwritten as soon as the store is available, and resume the room."""
        while True:
            await self._writer.store.wait_until_up()
            try:
                while unwritten:
                    await self._writer.write_again(unwritten[0])
                    batch = unwritten.pop(0)
                    self._writer.confirm(batch)
                    self._room.release(batch)
                break
            except StoreUnavailable as error:
                self.trouble = str(error)
                await asyncio.sleep(RETRY_SECONDS)
            except WriteRefused as error:
                self._fence(error)
                self._room.suspend(None)
                return
        self._log.info("store available again")
        self.trouble, self.is_recovering = None, False
        self._room.resume()
        self.flush()
