"""Observers that raise are reported and cannot stop a room or other observers."""

import pytest

from croupier.core.session import Effect, Event, Joined, TimedOut
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import REPORT_INTERVAL_SECONDS, ObserverFanOut, observer_name


class RecordingLogger:
    def __init__(self, *, broken: bool = False) -> None:
        self.entries: list[dict[str, object]] = []
        self._is_broken = broken

    def error(self, event: str, **facts: object) -> None:
        if self._is_broken:
            raise OSError("the log is full")
        self.entries.append({"event": event, **facts})


class FailingObserver:
    name = "--fails"

    def __init__(self) -> None:
        self.called = 0

    def __call__(self, event: Event[object], effects: object, now: float) -> None:
        self.called += 1
        raise OSError("no space left")


def test_observer_that_raises_is_counted_and_logged_and_the_next_is_called() -> None:
    log, counts, events = RecordingLogger(), RoomCounters(), []
    observers = ObserverFanOut([FailingObserver(), lambda *facts: events.append(facts)], log, counts)
    effects: list[Effect[object]] = []
    observers(Joined(1), effects, 2.0)
    assert events == [(Joined(1), effects, 2.0)]
    assert counts.observer_failures == 1
    (entry,) = log.entries
    assert (entry["event"], entry["observer"], entry["failures"]) == ("an observer failed", "--fails", 1)
    assert str(entry["exc_info"]) == "no space left"


def test_a_removed_observer_is_not_called_any_more() -> None:
    kept: list[object] = []
    removed: list[object] = []

    def observe(*facts: object) -> None:
        removed.append(facts)

    observers = ObserverFanOut([lambda *facts: kept.append(facts)], RecordingLogger(), RoomCounters())
    observers.add(observe)
    observers(Joined(1), [], 0.0)
    observers.remove(observe)
    observers(Joined(2), [], 0.0)
    assert (len(kept), len(removed)) == (2, 1)


def test_repeated_failures_are_logged_once_per_interval_with_their_number() -> None:
    log, counts = RecordingLogger(), RoomCounters()
    observers = ObserverFanOut([FailingObserver()], log, counts)
    for second in range(100):
        observers(TimedOut(), [], second)
    observers(TimedOut(), [], 3 * REPORT_INTERVAL_SECONDS)
    assert counts.observer_failures == 101
    assert [entry["failures"] for entry in log.entries] == [1, 60, 40]


def test_failing_log_is_ignored() -> None:
    counts = RoomCounters()
    ObserverFanOut([FailingObserver()], RecordingLogger(broken=True), counts)(TimedOut(), [], 0.0)
    assert counts.observer_failures == 1


def test_keyboard_interrupt_is_not_caught() -> None:
    def interrupted(event: object, effects: object, now: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ObserverFanOut([interrupted], RecordingLogger(), RoomCounters())(TimedOut(), [], 0.0)


def test_observer_added_twice_is_called_once() -> None:
    events: list[object] = []

    def observer(event: object, effects: object, now: float) -> None:
        events.append(event)

    observers = ObserverFanOut([], RecordingLogger(), RoomCounters())
    observers.add(observer)
    observers.add(observer)
    observers(TimedOut(), [], 0.0)
    assert events == [TimedOut()]


def test_observer_names() -> None:
    class Nameless:
        def __call__(self, event: object, effects: object, now: float) -> None:
            raise NotImplementedError

    assert observer_name(FailingObserver()) == "--fails"
    assert observer_name(Nameless()) == "Nameless"
    assert observer_name(test_observer_names).startswith("test_")  # type: ignore[arg-type]
