"""Visits one after another, by players whose clients are coroutines."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Final

from croupier.load.errors import NO_ACT, error_kind
from croupier.load.measurement import Measurement
from croupier.load.pace import Pace
from croupier.load.plan import Plan, retry_delay

LEAVE_SECONDS: Final = 5.0
"""The time that a player takes at most to leave after a failure, or at the end of the load."""


class VisitFailed(Exception):
    """A visit has ended early; the message is the kind of the error."""


class Visitor:
    """A player, which visits the server again and again. Times are those of `monotonic`."""

    def __init__(self, number: int, pace: Pace, measurement: Measurement, answer_seconds: float) -> None:
        self.number = number
        self.pace = pace
        self._measurement = measurement
        self._answer_seconds = answer_seconds
        self._has_acted = False

    async def play(self, arrival: float, visit: Callable[[], Awaitable[None]]) -> None:
        """Arrive at a time, then make one visit after another, until this is cancelled.

        Errors of a visit are counted, and the next one waits longer after each of them.
        """
        await asyncio.sleep(max(0.0, arrival - monotonic()))
        failures = 0
        while True:
            self._has_acted = False
            error = await self._find_error(visit) or ("" if self._has_acted else NO_ACT)
            self._measurement.abandon(self.number)
            if error:
                self._measurement.fail(error)
            failures = failures + 1 if error else 0
            await asyncio.sleep(retry_delay(failures))

    async def _find_error(self, visit: Callable[[], Awaitable[None]]) -> str:
        """Make a visit, and return the kind of the error that ended it, or an empty text."""
        try:
            await visit()
        except VisitFailed as error:
            return str(error)
        except Exception as error:
            kind = error_kind(error, self._answer_seconds)
            if kind is None:
                raise
            return kind
        return ""

    async def wait_until_due(self) -> float:
        """Take the next act of the pace, wait until it is due, and return when that was."""
        due = self.pace.take(monotonic())
        await asyncio.sleep(max(0.0, due - monotonic()))
        return due

    @asynccontextmanager
    async def act(self, due: float) -> AsyncIterator[None]:
        """Measure an act, from here to the end of the context. Raises TimeoutError if it takes too long."""
        self._measurement.send(self.number, due, monotonic())
        async with asyncio.timeout(self._answer_seconds):
            yield
        self.answer(monotonic())

    def answer(self, now: float) -> None:
        """End the act of this player: it is answered."""
        self._measurement.answer(self.number, now)
        self._has_acted = True

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Measure how long the player takes to connect. Raises TimeoutError if it takes too long."""
        started = monotonic()
        async with asyncio.timeout(self._answer_seconds):
            yield
        self._measurement.add_connection(monotonic() - started)

    @asynccontextmanager
    async def stay(self, leave: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
        """Leave at the end of the context. An error of that is the error of the visit, unless the visit has failed."""
        try:
            yield
        except BaseException:
            with suppress(Exception):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await leave()
            raise
        else:
            async with asyncio.timeout(self._answer_seconds):
                await leave()
        finally:
            self._measurement.connected -= 1


def visitors_by_table(
    plan: Plan, numbers: range, measurement: Measurement, start: float
) -> Iterator[tuple[float, list[Visitor]]]:
    """Yield when the players of each table arrive, and these players, which share a pace."""
    for players in plan.tables(numbers):
        arrival = start + plan.arrival(players.start)
        pace = plan.pace(players, arrival)
        measurement.watch(pace)
        yield arrival, [Visitor(number, pace, measurement, plan.answer_seconds) for number in players]
