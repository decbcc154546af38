"""The notice of a bot that waits to be dealt in: it goes on waiting, and somebody may want to know."""

import asyncio
import logging
from typing import Final

NOTICE_DELAY_SECONDS: Final = 5.0
"""How long a bot waits before it says so."""

LOGGER: Final = logging.getLogger("croupier")


class WaitNotice:
    """Logs a warning whenever `what` has been so for a while."""

    def __init__(self, message: str) -> None:
        self._message = message
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The wait begins, or goes on."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTICE_DELAY_SECONDS, LOGGER.warning, self._message)

    def end(self) -> None:
        """The wait is over, if there was one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
