"""The desk of a house that is asked over HTTP: it passes on what is asked, keeps the time, and the pages up to date."""

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from croupier.core.talk import Changed, Effect, Event, Finished, Halted, Rang, Said, Say, Tap
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.wire import Answer, Dialect, Request
from croupier.shell.pages import Pages
from croupier.taps.meter import Counts


class Desk:
    """The house, with a clock that tells its `now` in seconds.

    Taps hear every event with its effects before anybody is answered, as those of a switchboard do.
    """

    def __init__(
        self, house: House, dialect: Dialect, clock: Callable[[], float], taps: Sequence[Tap], counts: Counts
    ) -> None:
        self.house = house
        self.pages = Pages(house, dialect)
        self.clock = clock
        self.closing = False
        self._taps = tuple(taps)
        self._counts = counts
        self._questions = 0
        self._armed = inf
        self._timer: asyncio.TimerHandle | None = None

    def ask(self, request: Request) -> Answer:
        """What the house answers to a request of a user whose credentials were verified."""
        self._questions += 1
        for effect in self.hear(Said(self._questions, request)):
            if type(effect) is Say and effect.peer == self._questions:
                answer: Answer = effect.message
                return answer
        raise AssertionError(f"the house has no answer to {request}")

    def hear(self, event: Event[Request]) -> Sequence[Effect[Any]]:
        """Hand one event to the house: what it does about it, which the taps and all who wait for news have heard."""
        now = self.clock()
        effects: Sequence[Effect[Any]] = self.house.on(event, now)
        for tap in self._taps:
            tap(event, effects, now)
        changed = []
        for effect in effects:
            if type(effect) is Changed:
                changed.append(effect.table)
            elif type(effect) is Finished:
                self._counts.games += 1
        if changed:
            self.pages.moved(changed)
        alarm = self.house.alarm
        if alarm is not None and alarm < self._armed:
            self._arm(alarm, now)
        return effects

    def ring(self) -> None:
        """Let the house hear of the alarms that are due."""
        self._armed = inf
        while (alarm := self.house.alarm) is not None and alarm <= self.clock():
            self.hear(Rang())
        if alarm is not None and alarm < self._armed:
            self._arm(alarm, self.clock())

    def halt(self, *, final: bool) -> None:
        """Tell the house that it closes. When that is final, nobody waits for news any more."""
        self.hear(Halted(final))
        if final:
            self.closing = True
            self.pages.tell()
            if self._timer is not None:
                self._timer.cancel()

    def _arm(self, alarm: float, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = alarm
        self._timer = asyncio.get_running_loop().call_later(alarm - now, self.ring)
