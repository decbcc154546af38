"""The generator in one process: runs the players on the event loop, and measures what they measure and itself."""

import asyncio
from asyncio import Event, TaskGroup
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import monotonic, process_time
from typing import Any, Final

from croupier.clients.server_url import room_address
from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.load.holdem_players import play_holdem
from croupier.load.house_players import HousePlayers
from croupier.load.measurement import Figures, Measurement
from croupier.load.oldmaid_players import play_oldmaid
from croupier.load.plan import Plan
from croupier.net.descriptors import raise_file_limit
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.event_loop import wait_set
from croupier.net.loop_lag import LoopLagMonitor

REPORT_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 1.0
"""The time that a server has to close its side of a connection."""


async def generate(plan: Plan, process: int, report: Callable[[Figures], None], stop: Event) -> Figures:
    """Let the players of a process play for the time of the plan, or until `stop` is set; return the figures.

    `report` is called about once a second with the figures so far. Raises ValueError if the server's address is
    invalid, or the bot cannot be made.
    """
    raise_file_limit()
    measurement = Measurement()
    async with _players(plan, plan.share(process), measurement, monotonic()):
        if plan.warmup_seconds:
            await _measure(measurement, plan.warmup_seconds, report, stop, is_warmup=True)
            measurement.reset()
        return await _measure(measurement, plan.seconds, report, stop)


async def _measure(
    measurement: Measurement, seconds: float, report: Callable[[Figures], None], stop: Event, *, is_warmup: bool = False
) -> Figures:
    """Measure the players and this process for some time, or until `stop` is set."""
    lag, start, processor_start = LoopLagMonitor(asyncio.get_running_loop()), monotonic(), process_time()

    def figures() -> Figures:
        now = monotonic()
        busy_share = (process_time() - processor_start) / max(now - start, 1e-9)
        return measurement.figures(start, now, busy_share, lag.lags.counts, is_warmup=is_warmup)

    while not stop.is_set() and (left := start + seconds - monotonic()) > 0:
        await wait_set(stop, min(left, REPORT_SECONDS))
        report(figures())
    lag.close()
    return figures()


def _players(plan: Plan, numbers: range, measurement: Measurement, start: float) -> AbstractAsyncContextManager[None]:
    """The players, while the context is open; at its end they leave."""
    if plan.room_name == "holdem":
        return _tasks(play_holdem(plan, numbers, measurement, start))
    address, _ = room_address(plan.room, plan.server)
    if isinstance(plan.room, HouseRoom):
        return _house_players(plan, plan.room, HousePlayers(plan, numbers, address, measurement, start))
    return _tasks(play_oldmaid(plan, numbers, address, measurement, start))


@asynccontextmanager
async def _house_players(plan: Plan, room: HouseRoom, players: HousePlayers) -> AsyncIterator[None]:
    endpoint = Endpoint(
        players,
        lambda: room.codec(plan.strict, plan.options),
        SilentLogger(),
        limits=EndpointLimits(close_timeout=CLOSE_SECONDS, connect_timeout=plan.answer_seconds),
        clock=monotonic,  # that of uvloop has a resolution of a millisecond
        connect_ssl=plan.tls.ssl_context(),
    )
    endpoint.process_deadline()
    try:
        yield
    finally:
        await endpoint.close()


@asynccontextmanager
async def _tasks(coroutines: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    async with TaskGroup() as group:
        tasks = [group.create_task(each) for each in coroutines]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
