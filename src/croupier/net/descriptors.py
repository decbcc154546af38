"""File descriptors: as many as the system allows, and what happens when none is left."""

import asyncio
import errno
import os
import sys
from contextlib import suppress
from typing import Final

from croupier.core.logger import Logger

EXHAUSTED_ERRNOS: Final = frozenset({errno.EMFILE, errno.ENFILE})
PROBE_INTERVAL_SECONDS: Final = 1.0
MIN_FREE_PROBES: Final = 3
"""The shortage is over after this many successful probes in a row."""


def raise_file_limit() -> None:
    """Raise the soft limit of open files to the hard limit."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class DescriptorMonitor:
    """Logs once when file descriptors run out, and once when some are free again.

    An asyncio loop reports every connection that it cannot accept, but uvloop closes it and reports nothing. So the
    monitor duplicates a descriptor every second to see whether one is free.
    """

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._is_exhausted = False
        self._free_probes = 0
        self._probe_descriptor = os.dup(2)  # any open descriptor will do
        self._probe()

    def close(self) -> None:
        """Stop probing."""
        self._timer.cancel()
        os.close(self._probe_descriptor)

    def report_exhausted(self) -> None:
        """Record that no descriptors are left. Call this when another part of the program finds out."""
        self._free_probes = 0
        if not self._is_exhausted:
            self._is_exhausted = True
            self._log.error("no file descriptors are left, so new connections are not accepted")

    def _probe(self) -> None:
        try:
            os.close(os.dup(self._probe_descriptor))
        except OSError as error:
            if error.errno in EXHAUSTED_ERRNOS:
                self.report_exhausted()
        else:
            self._free_probes += 1
            if self._is_exhausted and self._free_probes >= MIN_FREE_PROBES:
                self._is_exhausted = False
                self._log.warning("file descriptors are free again, so connections are accepted")
        self._timer = asyncio.get_running_loop().call_later(PROBE_INTERVAL_SECONDS, self._probe)
