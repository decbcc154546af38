"""How bytes are passed on in one direction: at once, in small pieces, slowly, or gathered."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

GAP: Final = 0.001
"""So many seconds lie between two pieces of what is chopped, that they do not arrive as one."""


class Manner(Struct, frozen=True):
    """How bytes are passed on in one direction.

    `chop` is the most bytes of a piece, 0 for as they come; `delay` is how many seconds lie before each piece.
    `gather` holds bytes back until none have come for so many seconds; then they leave in one piece.
    """

    chop: int = 0
    delay: float = 0.0
    gather: float = 0.0

    @property
    def gap(self) -> float:
        """How many seconds lie between two pieces."""
        return self.delay or (GAP if self.chop else 0.0)


class Way:
    """What is on its way to one end, in the pieces in which it is to leave. `size` is how many bytes wait."""

    def __init__(self, manner: Manner) -> None:
        self.size = 0
        self._manner = manner
        self._pieces: deque[bytes] = deque()
        self._due = 0.0
        self._gathered = bytearray()
        self._ripe = 0.0

    @property
    def alarm(self) -> float | None:
        """When something can leave; None while nothing waits."""
        if self._pieces:
            return self._due
        return self._ripe if self._gathered else None

    def put(self, data: bytes, now: float) -> None:
        """Something has come."""
        if not data:
            return
        self.size += len(data)
        if self._manner.gather:
            self._gathered += data
            self._ripe = now + self._manner.gather
        else:
            self._part(data, now)

    def take(self, now: float) -> Iterator[bytes]:
        """The pieces that leave now."""
        if self._gathered and self._ripe <= now:
            self._part(bytes(self._gathered), now)
            self._gathered.clear()
        while self._pieces and self._due <= now:
            piece = self._pieces.popleft()
            self.size -= len(piece)
            self._due = now + self._manner.gap
            yield piece

    def clear(self) -> None:
        """Forget what waits."""
        self._pieces.clear()
        self._gathered.clear()
        self.size = 0

    def _part(self, data: bytes, now: float) -> None:
        if not self._pieces:
            self._due = max(self._due, now + self._manner.delay)
        step = self._manner.chop or len(data)
        self._pieces += (data[at : at + step] for at in range(0, len(data), step))
