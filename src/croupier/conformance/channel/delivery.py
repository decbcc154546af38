"""Delivery of bytes in one direction: at once, in small pieces, slowly, or gathered."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from msgspec import Struct

PIECE_GAP_SECONDS: Final = 0.001
"""The pause between two small pieces, so that they do not arrive as one."""


MAX_CLOSE_SECONDS: Final = 1.0
"""How long a peer may take to read what was written before a connection was closed."""


class Delivery(Struct, frozen=True):
    """How bytes are sent in one direction.

    `max_piece_bytes` limits the size of a piece, 0 for no limit. `delay_seconds` is the pause before each piece. With
    `gather_seconds`, bytes are held back until none have come for that time; then they leave in one piece.
    """

    max_piece_bytes: int = 0
    delay_seconds: float = 0.0
    gather_seconds: float = 0.0

    @property
    def is_spaced(self) -> bool:
        """Whether there is a pause before whole messages."""
        return self.delay_seconds > 0 and not self.max_piece_bytes

    @property
    def gap_seconds(self) -> float:
        """The pause between two pieces."""
        return self.delay_seconds or (PIECE_GAP_SECONDS if self.max_piece_bytes else 0.0)

    def split(self, data: bytes) -> Iterator[bytes]:
        """Yield data in pieces."""
        step = self.max_piece_bytes or len(data) or 1
        yield from (data[at : at + step] for at in range(0, len(data), step))

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Write data in pieces, each after the delay. Nothing is gathered. Raises ConnectionError."""
        for piece in self.split(data):
            if self.delay_seconds or self.max_piece_bytes:
                await asyncio.sleep(self.delay_seconds)
            writer.write(piece)
            await writer.drain()


WHOLE: Final = Delivery()


async def close_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection after what was written. It is reset if that takes too long, or is cancelled."""
    writer.close()
    try:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(MAX_CLOSE_SECONDS):
                await writer.wait_closed()
    finally:
        writer.transport.abort()


class Outbox:
    """The bytes on their way to one end, in the pieces in which they will leave."""

    def __init__(self, delivery: Delivery) -> None:
        self.waiting_bytes = 0
        self._delivery = delivery
        self._pieces: deque[tuple[bytes, float]] = deque()  # each with the pause before it
        self._due_at = 0.0
        self._gathered = bytearray()
        self._gather_deadline = 0.0

    @property
    def deadline(self) -> float | None:
        """When the next piece can leave; None while nothing waits."""
        if self._pieces:
            return self._due_at
        return self._gather_deadline if self._gathered else None

    def push(self, data: bytes, now: float, pause_seconds: float = 0.0) -> None:
        """Add data, which leaves at least `pause_seconds` after what was added before, if it is not gathered."""
        if not data:
            return
        self.waiting_bytes += len(data)
        if self._delivery.gather_seconds:
            self._gathered += data
            self._gather_deadline = now + self._delivery.gather_seconds
        else:
            self._split(data, now, pause_seconds)

    def pop_due(self, now: float) -> Iterator[bytes]:
        """Yield the pieces that leave now."""
        if self._gathered and self._gather_deadline <= now:
            self._split(bytes(self._gathered), now)
            self._gathered.clear()
        while self._pieces and self._due_at <= now:
            piece, _ = self._pieces.popleft()
            self.waiting_bytes -= len(piece)
            following = self._pieces[0][1] if self._pieces else 0.0
            self._due_at = now + max(following, self._delivery.gap_seconds)
            yield piece

    def clear(self) -> None:
        """Drop everything that waits."""
        self._pieces.clear()
        self._gathered.clear()
        self.waiting_bytes = 0

    def _split(self, data: bytes, now: float, pause_seconds: float = 0.0) -> None:
        if not self._pieces:
            self._due_at = max(self._due_at, now + max(pause_seconds, self._delivery.delay_seconds))
        first, *others = self._delivery.split(data)
        self._pieces += ((first, pause_seconds), *((piece, 0.0) for piece in others))
