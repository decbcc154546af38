"""The wait of a bot for other players: a notice after a while, and an end after a limit."""

import asyncio
import logging
from collections.abc import Callable
from math import inf
from types import TracebackType
from typing import Final, Self

from croupier.net.timer import Timer

NOTICE_DELAY_SECONDS: Final = 5.0
"""Seconds of waiting after which the notice is given."""

RETURN_SECONDS: Final = 30.0
"""Seconds that a bot waits by default for others to come back once it has played."""

LOGGER: Final = logging.getLogger("croupier")


def wait_limit(wait_seconds: float | None, *, has_played: bool) -> float:
    """Return how many seconds a bot waits for other players.

    By default it waits as long as it takes before it has played, and RETURN_SECONDS afterwards.

    >>> wait_limit(None, has_played=False), wait_limit(None, has_played=True), wait_limit(5.0, has_played=False)
    (inf, 30.0, 5.0)
    """
    if wait_seconds is not None:
        return wait_seconds
    return RETURN_SECONDS if has_played else inf


class Wait:
    """The waits for `what` while a bot plays, an async context manager: a wait that reaches its limit is cancelled.

    A wait calls `notify` with the notice when it has lasted for NOTICE_DELAY_SECONDS; without a notice it does not. The
    context raises TimeoutError if a wait has reached its limit.
    """

    def __init__(self, what: str, notice: str | None = None, notify: Callable[[str], object] = LOGGER.warning) -> None:
        self._what = what
        self._notice = notice
        self._notify = notify
        self._timeout = asyncio.timeout(None)
        self._notice_timer = Timer()
        self._is_waiting = False
        self._limit = inf

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        limit = self._limit
        self._notice_timer.cancel()
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise TimeoutError(f"waited {limit:g} second{'' if limit == 1 else 's'} for {self._what}") from None

    def begin(self, limit: float = inf) -> None:
        """Begin to wait for at most `limit` seconds. A wait that has begun goes on, and a new limit counts from now."""
        if not self._is_waiting and self._notice is not None:
            self._notice_timer.set(NOTICE_DELAY_SECONDS, self._notify, self._notice)
        if limit != self._limit:
            self._set_limit(limit)
        self._is_waiting = True

    def end(self) -> None:
        """End the wait, if there is one."""
        if self._is_waiting:
            self._is_waiting = False
            self._notice_timer.cancel()
            self._set_limit(inf)

    def _set_limit(self, limit: float) -> None:
        self._limit = limit
        if not self._timeout.expired():
            self._timeout.reschedule(None if limit == inf else asyncio.get_running_loop().time() + limit)
