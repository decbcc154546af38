"""A soak: a server of all rooms under load for a while, and samples of its memory, descriptors and lag. Linux only."""

import asyncio
import os
import re
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from croupier.cli.load import LoadOptions
from croupier.load.generator import generate
from croupier.load.measurement import Figures, merge
from croupier.load.plan import HoldemOptions, OldMaidOptions, Plan
from croupier.net.event_loop import run
from croupier.rooms import ROOMS
from tests.processes import FREE_PORTS, Serving

PLAYERS = {"kuhn": 20, "sevenhalf": 10, "blackjack": 10, "holdem": 6, "oldmaid": 8}
TABLE_PLAYERS = {"holdem": 3, "oldmaid": 4}
OPTIONS = {"holdem": HoldemOptions(), "oldmaid": OldMaidOptions()}

SHARE = 0.7
"""The load, as a share of the acts per second that the same players make in the closed loop."""

READY_LINES = len(ROOMS) + 2
"""The rooms, the web app and the metrics."""

LEAVE_SECONDS = 60.0
"""The time in which a server has closed all connections of players who have left."""


@dataclass(frozen=True)
class Sample:
    """The state of the server: its resident memory, open descriptors, and the counts and the sum of its lag so far."""

    memory_bytes: int
    descriptors: int
    lag_seconds: float
    lag_count: float


@dataclass(frozen=True)
class Soak:
    """A soak: samples in equal intervals, the descriptors before the load and after it, and the figures of the load."""

    samples: Sequence[Sample]
    descriptors_before: int
    descriptors_after: int
    figures: Figures

    def part(self, number: int, of: int) -> Sequence[Sample]:
        """The samples of a part of the time, counted from 0."""
        return self.samples[len(self.samples) * number // of : len(self.samples) * (number + 1) // of]

    def memory(self, number: int, of: int) -> float:
        """The median of the memory in a part of the time, in bytes."""
        return median(sample.memory_bytes for sample in self.part(number, of))

    def descriptors(self, number: int, of: int) -> float:
        """The median of the open descriptors in a part of the time."""
        return median(sample.descriptors for sample in self.part(number, of))

    def lag(self, number: int, of: int) -> float:
        """The mean lag in a part of the time, in seconds."""
        first, last = self.part(number, of)[0], self.part(number, of)[-1]
        return (last.lag_seconds - first.lag_seconds) / (last.lag_count - first.lag_count)


def soak(seconds: float, calibration_seconds: float, interval: float) -> Soak:
    """Put a server of all rooms under load."""
    flags = ("--journal", "off", "--web-port", 0, "--metrics-port", 0, "--log-level", "error")
    with Serving(*flags, ready=READY_LINES, variables=FREE_PORTS) as server:
        descriptors_before = sample(server).descriptors
        calibration = run(play(make_plans(server.ports, calibration_seconds, {}), []))
        rates = {
            name: SHARE * figures.achieved / figures.seconds / PLAYERS[name] for name, figures in calibration.items()
        }
        samples: list[Sample] = []
        figures = run(watch(server, make_plans(server.ports, seconds, rates), interval, samples))
        descriptors_after = run(wait_for_descriptors(server, descriptors_before))
        return Soak(samples, descriptors_before, descriptors_after, merge([*figures.values()]))


def make_plans(ports: Mapping[str, int], seconds: float, rates: Mapping[str, float]) -> Sequence[Plan]:
    """The load on every room: closed loops, or open loops with a rate for each player of a room."""
    options = LoadOptions(seconds=seconds, ramp_seconds=0.5, games=20)
    return [
        replace(options, players=PLAYERS[name], rate=rates.get(name)).to_plan(
            room, f"127.0.0.1:{ports[name]}", OPTIONS.get(name) or room.options(), TABLE_PLAYERS.get(name, 1)
        )
        for name, room in ROOMS.items()
    ]


async def play(plans: Sequence[Plan], reports: list[Figures]) -> Mapping[str, Figures]:
    """Play in all rooms at the same time, and return the figures of each room."""
    never = asyncio.Event()
    figures = await asyncio.gather(*(generate(plan, 0, reports.append, never) for plan in plans))
    return {plan.room_name: each for plan, each in zip(plans, figures, strict=True)}


async def watch(
    server: Serving, plans: Sequence[Plan], interval: float, samples: list[Sample]
) -> Mapping[str, Figures]:
    """Play in all rooms, and sample the server meanwhile."""

    async def sample_often() -> None:
        while True:
            await asyncio.sleep(interval)
            samples.append(await asyncio.to_thread(sample, server))

    sampling = asyncio.create_task(sample_often())
    try:
        return await play(plans, [])
    finally:
        sampling.cancel()


async def wait_for_descriptors(server: Serving, count: int) -> int:
    """Wait until the server has no more descriptors than this, or for LEAVE_SECONDS; return how many it has.

    The connection of the last sample may be one of them.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + LEAVE_SECONDS
    while (left := sample(server).descriptors) > count and loop.time() < end:
        await asyncio.sleep(0.1)
    return left


def sample(server: Serving) -> Sample:
    """Sample the server."""
    folder = Path(f"/proc/{server.pid}")
    pages = int((folder / "statm").read_text().split()[1])
    descriptors = len([*(folder / "fd").iterdir()])
    with urllib.request.urlopen(f"http://{server.host}:{server.ports['metrics']}/metrics") as answer:
        metrics = answer.read().decode()
    lag_seconds, lag_count = (
        float(re.search(rf"^croupier_loop_lag_seconds_{name} (\S+)", metrics, re.MULTILINE)[1])
        for name in ("sum", "count")
    )
    return Sample(pages * os.sysconf("SC_PAGE_SIZE"), descriptors, lag_seconds, lag_count)
