"""When acts are due: at once in the closed loop, at times that do not depend on the server in the open loop."""

from collections import deque
from math import inf
from random import Random


class ClosedLoop:
    """Every act is due when the player is ready for it, so a slow server gets fewer acts. See `OpenLoop`."""

    oldest_due = inf

    def take(self, now: float) -> float:
        """Take the next act, which is due now."""
        return now

    def behind(self, now: float) -> int:  # noqa: ARG002 -- as in `OpenLoop`
        """The number of acts that are due and were not taken: none."""
        return 0


class OpenLoop:
    """Acts are due `rate` times a second from `start` on, at the times of a Poisson process."""

    def __init__(self, rate: float, start: float, random: Random) -> None:
        self._rate = rate
        self._random = random
        self._due: deque[float] = deque()
        self._next_due = start + random.expovariate(rate)

    @property
    def oldest_due(self) -> float:
        """When the first act that was found to be `behind` was due; infinite if there is none."""
        return self._due[0] if self._due else inf

    def take(self, now: float) -> float:
        """Take the next act, and return when it is due; it may be later than `now`."""
        self.behind(now)
        return self._due.popleft() if self._due else self._draw()

    def behind(self, now: float) -> int:
        """The number of acts that are due and were not taken."""
        while self._next_due <= now:
            self._due.append(self._draw())
        return len(self._due)

    def _draw(self) -> float:
        due, self._next_due = self._next_due, self._next_due + self._random.expovariate(self._rate)
        return due


type Pace = ClosedLoop | OpenLoop
"""The due times of the acts of one player, or of the players of one table."""


def make_pace(rate: float | None, start: float, random: Random) -> Pace:
    """The open loop with `rate` acts per second from `start` on, or without a rate the closed loop."""
    return ClosedLoop() if rate is None else OpenLoop(rate, start, random)
