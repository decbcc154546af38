"""Benchmark: what a server process carries, measured with the players of `croupier load` on another core.

Sessions: many players of Kuhn poker stay connected, and act now and then. Measured are the memory of the server for
each of them, its processor time for each act, and the response time, from when an act was due.

Tables: many tables of hold'em with two players each, in the open loop, one act in ten seconds at each table as people
play. The server stores nothing. Registering 4,000 users would take minutes, because passwords are hashed slowly on
purpose and an address may register 1,000 users a minute; this server does neither, and the arrival of the players is
not measured.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from croupier.cli.load import LoadOptions
from croupier.core.histogram import BOUNDS_SECONDS
from croupier.load.generator import generate
from croupier.load.measurement import MICROSECONDS, Figures, Measurement, decode
from croupier.load.plan import HoldemOptions, Plan
from croupier.net.event_loop import run
from croupier.rooms import ROOMS
from harness import BenchError, Cores, Server, allow_open_files, fail, pick_cores, running, verdict

MAX_MEMORY_BYTES: Final = 1 << 30
MAX_P99_SECONDS: Final = 0.020

QUICK_SERVER: Final = """
import sys
from argon2 import PasswordHasher
from croupier.cli import main
from croupier.http.auth import Authenticator
from croupier.net.rate_limiter import RateLimiter
Authenticator.__init__.__kwdefaults__.update(
    hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1), registration_limiter=RateLimiter(1_000_000, 60.0)
)
main(sys.argv[1:])
"""
"""A server that hashes passwords quickly, and registers any number of users for one address."""

FLAGS: Final = ("--port", "0", "--log-level", "error", "--journal", "off", "--max-per-address", "0")


SESSION_RATE: Final = 0.1
TABLE_RATE: Final = 0.1
"""Acts per second of a player of Kuhn poker, and of a table of hold'em."""

SESSIONS_PER_SECOND: Final = 500
SEATS_PER_SECOND: Final = 25
"""How many players arrive in a second."""

SETTLE_SECONDS: Final = 10.0
"""The time between the arrival of the last player and the measurement."""

NO_LAG: Final = (0,) * (len(BOUNDS_SECONDS) + 1)


@dataclass(frozen=True)
class Sample:
    """The state of the server when the players had made this number of acts."""

    acts: int
    cpu_seconds: float
    memory_bytes: int
    open_files: int


@dataclass(frozen=True)
class Run:
    """The figures of the load, the server before it, and about once a second of the measurement."""

    plan: Plan
    figures: Figures
    first: Sample
    samples: Sequence[Sample]

    @property
    def memory_a_player_bytes(self) -> float:
        """The memory of the server for each player."""
        return (self.samples[-1].memory_bytes - self.first.memory_bytes) / self.plan.players

    @property
    def cpu_an_act_us(self) -> float:
        """The server's processor time for each act, with everything that belongs to it, in microseconds."""
        begin, end = self.samples[0], self.samples[-1]
        return (end.cpu_seconds - begin.cpu_seconds) * 1e6 / max(1, end.acts - begin.acts)

    def percentile_seconds(self, percentile: float) -> float:
        """A percentile of the response time."""
        return float(decode(self.figures.response).get_value_at_percentile(percentile)) / MICROSECONDS


def measure(room: str, flags: Sequence[str], options: LoadOptions, client_options: Any, cores: Cores) -> Run:
    """Serve a room on one core, and let the players play on the other. Raises BenchError."""
    with running([sys.executable, "-c", QUICK_SERVER, "serve", room, *FLAGS, *flags], cores.server) as server:
        table_players = 2 if room == "holdem" else 1
        plan = options.to_plan(ROOMS[room], f"127.0.0.1:{server.port}", client_options, table_players)
        first = sample(server, Measurement().figures(0.0, 0.0, 0.0, NO_LAG))
        samples: list[Sample] = []

        def report(figures: Figures) -> None:
            print(f"\r{figures.connected:,} of {plan.players:,} players", end="", file=sys.stderr, flush=True)
            if not figures.is_warmup:
                samples.append(sample(server, figures))

        figures = run(generate(plan, 0, report, asyncio.Event()))
        print(file=sys.stderr)
    if figures.connected < plan.players:
        raise BenchError(f"{figures.connected:,} of {plan.players:,} players are connected: {dict(figures.errors)}")
    return Run(plan, figures, first, samples)


def sample(server: Server, figures: Figures) -> Sample:
    """Sample the server."""
    return Sample(figures.achieved, server.cpu_s(), server.memory_bytes(), server.open_files())


def show(title: str, found: Run) -> None:
    """Print what was measured."""
    figures, last = found.figures, found.samples[-1]
    p50, p99 = (found.percentile_seconds(percentile) * 1000 for percentile in (50, 99))
    offered, achieved = figures.offered / figures.seconds, figures.achieved / figures.seconds
    memory, lag = last.memory_bytes / 2**20, figures.lag_p99 * 1000
    print(f"\n{title}: {found.plan.players:,} players, {last.open_files:,} descriptors of the server")
    print(f"  memory            {memory:,.0f} MiB, {found.memory_a_player_bytes / 1024:.1f} KiB a player")
    print(f"  acts              {achieved:,.0f}/s of {offered:,.0f}/s, {found.cpu_an_act_us:.0f} µs each")
    print(f"  response          p50 {p50:.2f} ms, p99 {p99:.2f} ms, errors {figures.error_count:,}")
    print(f"  load generator    {figures.busy_share:.0%} busy, 99 % of its timers at most {lag:g} ms late")


def measure_sessions(count: int, load: LoadOptions, cores: Cores) -> None:
    """Measure open sessions of Kuhn poker."""
    arrival = count / SESSIONS_PER_SECOND
    players = replace(
        load, players=count, rate=SESSION_RATE, ramp_seconds=arrival, warmup_seconds=arrival + SETTLE_SECONDS
    )
    found = measure("kuhn", ("--max-connections", "0"), players, ROOMS["kuhn"].options(), cores)
    show("Sessions", found)
    print(f"  below 1 GiB       {verdict(found.samples[-1].memory_bytes < MAX_MEMORY_BYTES)}")


def measure_tables(count: int, load: LoadOptions, cores: Cores) -> None:
    """Measure tables of hold'em with two players."""
    arrival = 2 * count / SEATS_PER_SECOND
    players = replace(
        load, players=2 * count, rate=TABLE_RATE / 2, ramp_seconds=arrival, warmup_seconds=arrival + SETTLE_SECONDS
    )
    flags = ("--max-connections", "0", "--turn-seconds", "86400", "--stack", "1000000000", "--games", "100000")
    found = measure("holdem", flags, players, HoldemOptions(), cores)
    show(f"Hold'em, {count:,} tables", found)
    print(f"  p99 below 20 ms   {verdict(found.percentile_seconds(99) < MAX_P99_SECONDS)}")


def main() -> int:
    """Run the benchmark and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000, help="open sessions of Kuhn poker; 0: none")
    parser.add_argument("--tables", type=int, default=2_000, help="tables of hold'em; 0: none")
    parser.add_argument("--seconds", type=float, default=30.0, help="seconds of each measurement")
    options = parser.parse_args()
    cores = pick_cores()
    os.sched_setaffinity(0, {cores.load})
    load = LoadOptions(seconds=options.seconds, games=1_000_000, answer_seconds=60.0)
    try:
        allow_open_files(max(options.sessions, 4 * options.tables))
        if options.sessions:
            measure_sessions(options.sessions, load, cores)
        if options.tables:
            measure_tables(options.tables, load, cores)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
