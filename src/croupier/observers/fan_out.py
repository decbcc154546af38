"""Calls the observers of a room; an observer that raises is reported and cannot stop the room."""

from collections.abc import Sequence
from contextlib import suppress
from math import inf
from typing import Final

from croupier.core.logger import Logger
from croupier.core.session import Effect, Event, Observer
from croupier.observers.counters import RoomCounters

REPORT_INTERVAL_SECONDS: Final = 60.0
"""Interval between reports about an observer that keeps failing."""


class ObserverFanOut:
    """The observers of one room, as one observer that never raises.

    Every failure is counted. The first failure of an observer is logged as an error; while it keeps failing, another
    error every REPORT_INTERVAL_SECONDS states the number of failures since the last one. Callers may skip the call if
    `observers` is empty.
    """

    def __init__(self, observers: Sequence[Observer], log: Logger, counts: RoomCounters) -> None:
        self.observers = tuple(observers)
        self._log = log
        self._counts = counts
        self._reported_at: dict[Observer, float] = {}
        self._unreported_failures: dict[Observer, int] = {}

    def __call__(self, event: Event[object], effects: Sequence[Effect[object]], now: float) -> None:
        """Call every observer with an event and its effects."""
        for observer in self.observers:
            try:
                observer(event, effects, now)
            except Exception as error:  # whatever the error, the room goes on
                self._report_failure(observer, error, now)

    def add(self, observer: Observer) -> None:
        """Add an observer, unless it was added before."""
        if observer not in self.observers:
            self.observers += (observer,)

    def remove(self, observer: Observer) -> None:
        """Remove an observer that was added."""
        self.observers = tuple(each for each in self.observers if each is not observer)

    def _report_failure(self, observer: Observer, error: Exception, now: float) -> None:
        self._counts.observer_failures += 1
        failures = self._unreported_failures.get(observer, 0) + 1
        if now - self._reported_at.get(observer, -inf) < REPORT_INTERVAL_SECONDS:
            self._unreported_failures[observer] = failures
            return
        self._reported_at[observer] = now
        self._unreported_failures[observer] = 0
        with suppress(Exception):  # a failing log must not stop the room either
            facts = {"observer": observer_name(observer), "failures": failures, "reason": str(error)}
            self._log.error("an observer failed", **facts, exc_info=error)


def observer_name(observer: Observer) -> str:
    """The name of an observer in the log: its `name`, or that of its function or class."""
    name = getattr(observer, "name", None) or getattr(observer, "__qualname__", None)
    return name if isinstance(name, str) else type(observer).__name__
