"""A warning for a bot that has been waiting to be dealt in for a while."""

import asyncio
import logging
from typing import Final

NOTICE_DELAY_SECONDS: Final = 5.0
"""Seconds of waiting after which the warning is logged."""

LOGGER: Final = logging.getLogger("croupier")


class WaitNotice:
    """Logs a message when a wait has lasted for NOTICE_DELAY_SECONDS."""

    def __init__(self, message: str) -> None:
        self._message = message
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Start the wait, unless it has started already."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTICE_DELAY_SECONDS, LOGGER.warning, self._message)

    def end(self) -> None:
        """End the wait, if there is one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
