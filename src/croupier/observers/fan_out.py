"""Calls the taps of a room, none of which can stop it: a tap that raises is reported, and the room goes on."""

from collections.abc import Sequence
from contextlib import suppress
from math import inf
from typing import Final, Protocol

from croupier.core.session import Effect, Event, Observer
from croupier.observers.counters import RoomCounters

REPORT_INTERVAL_SECONDS: Final = 60.0
"""A tap that goes on failing is reported this often."""


class ErrorLogger(Protocol):
    """The part of a logger that is used here."""

    def error(self, event: str, **facts: object) -> object: ...  # noqa: D102 -- named above


class ObserverFanOut:
    """The taps of one room, as one tap that never raises.

    Every failure is counted. The first failure of a tap is logged as an error, and while it goes on failing another
    error every REPORT_INTERVAL_SECONDS says how often it has failed since the last one. `taps` may be empty, and then
    there is nothing to call.
    """

    __slots__ = ("_counts", "_log", "_reported_at", "_unreported_failures", "observers")

    def __init__(self, observers: Sequence[Observer], log: ErrorLogger, counts: RoomCounters) -> None:
        self.observers = tuple(observers)
        self._log = log
        self._counts = counts
        self._reported_at: dict[Observer, float] = {}
        self._unreported_failures: dict[Observer, int] = {}

    def __call__(self, event: Event[object], effects: Sequence[Effect[object]], now: float) -> None:
        """Call every tap with an event and its effects."""
        for tap in self.observers:
            try:
                tap(event, effects, now)
            except Exception as error:  # whatever it is, the room goes on
                self._report_failure(tap, error, now)

    def add(self, observer: Observer) -> None:
        """Call this tap, too, from now on; once, however often it is added."""
        if observer not in self.observers:
            self.observers += (observer,)

    def _report_failure(self, tap: Observer, error: Exception, now: float) -> None:
        self._counts.observer_failures += 1
        failures = self._unreported_failures.get(tap, 0) + 1
        if now - self._reported_at.get(tap, -inf) < REPORT_INTERVAL_SECONDS:
            self._unreported_failures[tap] = failures
            return
        self._reported_at[tap] = now
        self._unreported_failures[tap] = 0
        with suppress(Exception):  # the log is only another observer
            facts = {"observer": observer_name(tap), "failures": failures, "reason": str(error)}
            self._log.error("an observer failed", **facts, exc_info=error)


def observer_name(observer: Observer) -> str:
    """What a tap is called in the log: its `name`, or that of its function or its class."""
    own = getattr(observer, "name", None) or getattr(observer, "__qualname__", None)
    return own if isinstance(own, str) else type(observer).__name__
