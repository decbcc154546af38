"""How bytes are passed on in one direction: at once, in small pieces, slowly, or gathered."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

PIECE_GAP_SECONDS: Final = 0.001
"""So many seconds lie between two pieces of what is chopped, that they do not arrive as one."""


class Delivery(Struct, frozen=True):
    """How bytes are passed on in one direction.

    `chop` is the most bytes of a piece, 0 for as they come; `delay` is how many seconds lie before each piece.
    `gather` holds bytes back until none have come for so many seconds; then they leave in one piece.
    """

    max_piece_bytes: int = 0
    delay_seconds: float = 0.0
    gather_seconds: float = 0.0

    @property
    def gap_seconds(self) -> float:
        """How many seconds lie between two pieces."""
        return self.delay_seconds or (PIECE_GAP_SECONDS if self.max_piece_bytes else 0.0)


class Outbox:
    """What is on its way to one end, in the pieces in which it is to leave. `size` is how many bytes wait."""

    def __init__(self, delivery: Delivery) -> None:
        self.waiting_bytes = 0
        self._manner = delivery
        self._pieces: deque[bytes] = deque()
        self._due = 0.0
        self._gathered = bytearray()
        self._gather_deadline = 0.0

    @property
    def deadline(self) -> float | None:
        """When something can leave; None while nothing waits."""
        if self._pieces:
            return self._due
        return self._gather_deadline if self._gathered else None

    def push(self, data: bytes, now: float) -> None:
        """Something has come."""
        if not data:
            return
        self.waiting_bytes += len(data)
        if self._manner.gather_seconds:
            self._gathered += data
            self._gather_deadline = now + self._manner.gather_seconds
        else:
            self._split(data, now)

    def pop_due(self, now: float) -> Iterator[bytes]:
        """The pieces that leave now."""
        if self._gathered and self._gather_deadline <= now:
            self._split(bytes(self._gathered), now)
            self._gathered.clear()
        while self._pieces and self._due <= now:
            piece = self._pieces.popleft()
            self.waiting_bytes -= len(piece)
            self._due = now + self._manner.gap_seconds
            yield piece

    def clear(self) -> None:
        """Forget what waits."""
        self._pieces.clear()
        self._gathered.clear()
        self.waiting_bytes = 0

    def _split(self, data: bytes, now: float) -> None:
        if not self._pieces:
            self._due = max(self._due, now + self._manner.delay_seconds)
        step = self._manner.max_piece_bytes or len(data)
        self._pieces += (data[at : at + step] for at in range(0, len(data), step))
