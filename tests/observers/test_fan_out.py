"""No tap can stop a room: whoever observes and fails is reported, and the others go on."""

import pytest

from croupier.core.session import Effect, Event, Joined, TimedOut
from croupier.observers.counters import RoomCounters
from croupier.observers.fan_out import REPORT_INTERVAL_SECONDS, ObserverFanOut, observer_name


class Book:
    def __init__(self, *, broken: bool = False) -> None:
        self.entries: list[dict[str, object]] = []
        self._broken = broken

    def error(self, event: str, **facts: object) -> None:
        if self._broken:
            raise OSError("the log is full, too")
        self.entries.append({"event": event, **facts})


class Failing:
    name = "--fails"

    def __init__(self) -> None:
        self.called = 0

    def __call__(self, event: Event[object], effects: object, now: float) -> None:
        self.called += 1
        raise OSError("no space left")


def test_a_tap_that_raises_is_counted_and_logged_and_the_next_one_hears_the_same() -> None:
    book, counts, heard = Book(), RoomCounters(), []
    observers = ObserverFanOut([Failing(), lambda *facts: heard.append(facts)], book, counts)
    effects: list[Effect[object]] = []
    observers(Joined(1), effects, 2.0)
    assert heard == [(Joined(1), effects, 2.0)]
    assert counts.observer_failures == 1
    (entry,) = book.entries
    assert (entry["event"], entry["observer"], entry["failures"]) == ("an observer failed", "--fails", 1)
    assert str(entry["exc_info"]) == "no space left"


def test_a_tap_that_goes_on_failing_is_logged_now_and_then_with_how_often_it_has_failed() -> None:
    book, counts = Book(), RoomCounters()
    observers = ObserverFanOut([Failing()], book, counts)
    for second in range(100):
        observers(TimedOut(), [], second)
    observers(TimedOut(), [], 3 * REPORT_INTERVAL_SECONDS)
    assert counts.observer_failures == 101
    assert [entry["failures"] for entry in book.entries] == [1, 60, 40]


def test_a_log_that_cannot_be_written_to_stops_nobody_either() -> None:
    counts = RoomCounters()
    ObserverFanOut([Failing()], Book(broken=True), counts)(TimedOut(), [], 0.0)
    assert counts.observer_failures == 1


def test_what_ends_the_process_is_no_failure_of_an_observer() -> None:
    def interrupted(event: object, effects: object, now: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ObserverFanOut([interrupted], Book(), RoomCounters())(TimedOut(), [], 0.0)


def test_a_tap_that_is_added_twice_is_called_once() -> None:
    heard: list[object] = []

    def tap(event: object, effects: object, now: float) -> None:
        heard.append(event)

    observers = ObserverFanOut([], Book(), RoomCounters())
    observers.add(tap)
    observers.add(tap)
    observers(TimedOut(), [], 0.0)
    assert heard == [TimedOut()]


def test_a_tap_is_named_after_what_it_is_for_or_what_it_is() -> None:
    class Nameless:
        def __call__(self, event: object, effects: object, now: float) -> None:
            raise NotImplementedError

    assert observer_name(Failing()) == "--fails"
    assert observer_name(Nameless()) == "Nameless"
    assert observer_name(test_a_tap_is_named_after_what_it_is_for_or_what_it_is).startswith("test_")  # type: ignore[arg-type]
