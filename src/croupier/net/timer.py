"""Timers: one that is set again and again, and one for deadlines that change with every event."""

import asyncio
from collections.abc import Callable
from math import inf


class Timer:
    """Calls a function once, later: at most one call is due, and a new one replaces it."""

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_set(self) -> bool:
        """Whether a call is due."""
        return self._handle is not None

    def set[*Ts](self, seconds: float, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Call a function after some seconds, and not the one that was due."""
        self.cancel()
        self._handle = asyncio.get_running_loop().call_later(seconds, self._ring, callback, args)

    def cancel(self) -> None:
        """Call nothing."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _ring[*Ts](self, callback: Callable[[*Ts], object], args: tuple[*Ts]) -> None:
        self._handle = None
        callback(*args)


class DeadlineTimer:
    """Calls a function at the earliest deadline that was set since the last call; `clock` gives the time in seconds.

    Deadlines that are postponed do not move the timer, so the function has to check whether one has passed.
    """

    __slots__ = ("_callback", "_clock", "_deadline", "_handle")

    def __init__(self, clock: Callable[[], float], callback: Callable[[], None]) -> None:
        self._clock = clock
        self._callback = callback
        self._deadline = inf
        self._handle: asyncio.TimerHandle | None = None

    def set(self, deadline: float | None) -> None:
        """Set a deadline, unless there is none or the timer ends earlier."""
        if deadline is not None and deadline < self._deadline:
            if self._handle is not None:
                self._handle.cancel()
            self._deadline = deadline
            self._handle = asyncio.get_running_loop().call_later(deadline - self._clock(), self._ring)

    def cancel(self) -> None:
        """Forget all deadlines."""
        if self._handle is not None:
            self._handle.cancel()
        self._deadline, self._handle = inf, None

    def stop(self) -> None:
        """Forget all deadlines, also later ones."""
        self.cancel()
        self._deadline = -inf

    def _ring(self) -> None:
        self._deadline, self._handle = inf, None
        self._callback()
