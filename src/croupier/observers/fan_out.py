"""Calls the taps of a room, none of which can stop it: a tap that raises is reported, and the room goes on."""

from collections.abc import Sequence
from contextlib import suppress
from math import inf
from typing import Final, Protocol

from croupier.core.session import Effect, Event, Tap
from croupier.observers.counters import Counts

REPORT_INTERVAL_SECONDS: Final = 60.0
"""A tap that goes on failing is reported this often."""


class Reports(Protocol):
    """The part of a logger that is used here."""

    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- named above


class Observers:
    """The taps of one room, as one tap that never raises.

    Every failure is counted. The first failure of a tap is logged as an error, and while it goes on failing another
    error every REPORT_INTERVAL_SECONDS says how often it has failed since the last one. `taps` may be empty, and then
    there is nothing to call.
    """

    __slots__ = ("_counts", "_log", "_reported", "_unreported", "taps")

    def __init__(self, taps: Sequence[Tap], log: Reports, counts: Counts) -> None:
        self.taps = tuple(taps)
        self._log = log
        self._counts = counts
        self._reported: dict[Tap, float] = {}
        self._unreported: dict[Tap, int] = {}

    def __call__(self, event: Event[object], effects: Sequence[Effect[object]], now: float) -> None:
        """Call every tap with an event and its effects."""
        for tap in self.taps:
            try:
                tap(event, effects, now)
            except Exception as error:  # whatever it is, the room goes on
                self._failed(tap, error, now)

    def add(self, tap: Tap) -> None:
        """Call this tap, too, from now on; once, however often it is added."""
        if tap not in self.taps:
            self.taps += (tap,)

    def _failed(self, tap: Tap, error: Exception, now: float) -> None:
        self._counts.observer_failures += 1
        failures = self._unreported.get(tap, 0) + 1
        if now - self._reported.get(tap, -inf) < REPORT_INTERVAL_SECONDS:
            self._unreported[tap] = failures
            return
        self._reported[tap] = now
        self._unreported[tap] = 0
        with suppress(Exception):  # the log is only another observer
            facts = {"observer": name(tap), "failures": failures, "reason": str(error)}
            self._log.error("an observer failed", **facts, exc_info=error)


def name(tap: Tap) -> str:
    """What a tap is called in the log: its `name`, or that of its function or its class."""
    own = getattr(tap, "name", None) or getattr(tap, "__qualname__", None)
    return own if isinstance(own, str) else type(tap).__name__
