"""Players of a house and a house in simulated time: every answer takes a while, and the house may stall once."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any

from croupier.core.session import Connect, Drop, Effect, Joined, Left, Received, Send, TimedOut
from croupier.load.house_players import HousePlayers
from croupier.load.measurement import Figures, Measurement
from croupier.load.plan import Plan
from tests.net.raw_client import kuhn


class Simulation:
    """The load of a plan on a Kuhn house whose answers take `delay` seconds; it answers nothing during the stall."""

    def __init__(self, plan: Plan, delay: float, stall: tuple[float, float] = (0.0, 0.0)) -> None:
        self._measurement = Measurement()
        self._players = HousePlayers(plan, plan.share(0), ("127.0.0.1", 1), self._measurement, 0.0)
        self._house = kuhn(coins=1000)["session"]
        self._delay = delay
        self._stall = stall
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = count()

    def run(self, seconds: float) -> Figures:
        """Simulate this time, and return the figures."""
        now = 0.0
        while True:
            deadline = self._players.deadline
            event_at = self._events[0][0] if self._events else seconds
            now = min(event_at, seconds if deadline is None else max(deadline, now))
            if now >= seconds:
                return self._measurement.figures(0.0, seconds, 0.0, (0,) * 19)
            if now == event_at:
                heappop(self._events)[2](now)
            else:
                self._perform(self._players.on(TimedOut(), now), now)

    def _perform(self, effects: Sequence[Effect[Any]], now: float) -> None:
        """Perform the effects of the players: they reach the house after the delay, and not while it stalls."""
        begin, end = self._stall
        arrives = now + self._delay
        if begin <= arrives < end:
            arrives = end
        for effect in effects:
            match effect:
                case Connect(peer):
                    self._at(now, lambda now, peer=peer: self._join(peer, now))
                case Send(peer, message):
                    self._at(arrives, lambda now, peer=peer, message=message: self._answer(peer, message, now))
                case Drop(peer):
                    self._at(arrives, lambda now, peer=peer: self._leave(peer, now))

    def _at(self, when: float, call: Callable[[float], None]) -> None:
        heappush(self._events, (when, next(self._numbers), call))

    def _join(self, peer: int, now: float) -> None:
        self._house.on(Joined(peer), now)
        self._perform(self._players.on(Joined(peer), now), now)

    def _answer(self, peer: int, message: object, now: float) -> None:
        for effect in self._house.on(Received(peer, message), now):
            if isinstance(effect, Send):
                self._perform(self._players.on(Received(peer, effect.message), now), now)

    def _leave(self, peer: int, now: float) -> None:
        self._house.on(Left(peer), now)
        self._perform(self._players.on(Left(peer), now), now)
