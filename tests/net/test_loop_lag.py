"""LoopLagMonitor: delays of timers, with a fake event loop."""

from asyncio import TimerHandle
from collections.abc import Callable
from typing import Any

from croupier.net.loop_lag import SAMPLE_SECONDS, LoopLagMonitor


class FakeTimer:
    """A timer that the test may run."""

    def __init__(self, due: float, callback: Callable[..., None], *arguments: Any) -> None:
        self.due = due
        self.run = lambda: callback(*arguments)
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class FakeLoop:
    """An event loop whose time stands still."""

    def __init__(self) -> None:
        self.now = 50.0
        self.timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[..., None], *arguments: Any) -> TimerHandle:
        self.timers.append(FakeTimer(when, callback, *arguments))
        return self.timers[-1]


def test_delay_of_each_timer_is_recorded() -> None:
    loop = FakeLoop()
    monitor = LoopLagMonitor(loop)
    for lag in (0.0, 0.5, 0.25):
        timer = loop.timers[-1]
        assert timer.due == loop.now + SAMPLE_SECONDS
        loop.now = timer.due + lag
        timer.run()
    assert (sum(monitor.lags.counts), monitor.lags.seconds) == (3, 0.75)


def test_timer_that_is_early_has_no_negative_delay() -> None:
    """uvloop's clock has milliseconds."""
    loop = FakeLoop()
    monitor = LoopLagMonitor(loop)
    loop.now = loop.timers[0].due - 0.001
    loop.timers[0].run()
    assert monitor.lags.seconds == 0.0


def test_closed_monitor_sets_no_timer() -> None:
    loop = FakeLoop()
    monitor = LoopLagMonitor(loop)
    monitor.close()
    assert [timer.is_cancelled for timer in loop.timers] == [True]
    monitor.close()
