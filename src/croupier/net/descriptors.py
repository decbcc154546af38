"""Notices when a server has no file descriptors left, which its event loop may not report."""

import asyncio
import errno
import os
from typing import Final

from croupier.logs import Log

EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE})
PROBE_SECONDS: Final = 1.0
CALM_PROBES: Final = 3
"""After how many probes in a row that found a free one the shortage counts as over."""


class DescriptorWatch:
    """Logs once when file descriptors run out, and once when there are free ones again.

    A loop of asyncio reports every connection that it cannot accept; one of uvloop closes it and reports nothing. So a
    descriptor is taken for a moment every second.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._exhausted = False
        self._calm = 0
        self._free = os.dup(2)  # to be duplicated: whatever it is
        self._probe()

    def close(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        os.close(self._free)

    def exhausted(self) -> None:
        """There are none left, as somebody has found out."""
        self._calm = 0
        if not self._exhausted:
            self._exhausted = True
            self._log.error("no file descriptors are left, so new connections are not accepted")

    def _probe(self) -> None:
        try:
            os.close(os.dup(self._free))
        except OSError as error:
            if error.errno in EXHAUSTED:
                self.exhausted()
        else:
            self._calm += 1
            if self._exhausted and self._calm >= CALM_PROBES:
                self._exhausted = False
                self._log.warning("file descriptors are free again, so connections are accepted")
        self._timer = asyncio.get_running_loop().call_later(PROBE_SECONDS, self._probe)
