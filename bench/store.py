"""Benchmark: durable journal entries per second of 64 tables that wait for each entry, on SQLite and PostgreSQL."""

import argparse
import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter, time
from typing import Any

from cluster import Cluster
from croupier.net.event_loop import run
from croupier.store.records import JournalEntry
from croupier.store.sqlite_file import CONNECTION_PRAGMAS
from croupier.store.store import Store, open_store, upgrade_store
from harness import verdict

FACT = b'{"kind":"bet","seat":3,"chips":%d,"pot":1234,"to_match":240,"turn":4}'
TARGETS = {"SQLite": 25_000, "PostgreSQL": 40_000}
LAG_TARGET_MS = 5.0
LAG_SAMPLE_SECONDS = 0.001
"""How often the lag of the event loop is measured."""


@dataclass(frozen=True)
class Figures:
    """The results of one round: durable facts per second, and the lag of the event loop in ms."""

    facts_per_s: float
    lag_p99_ms: float
    lag_max_ms: float


async def write_facts(store: Store, tables: int, seconds: float) -> Figures:
    """Write facts of `tables` tables; each table waits until its fact is durable before it writes the next."""
    tag, written, lags = f"{time():.6f}", 0, []
    started = perf_counter()
    end = started + seconds

    async def table(name: str) -> None:
        nonlocal written
        seq = 0
        while perf_counter() < end:
            seq += 1
            await store.append([JournalEntry("holdem", name, seq, FACT % seq, time())])
            written += 1

    async def clock() -> None:
        while (now := perf_counter()) < end:
            await asyncio.sleep(LAG_SAMPLE_SECONDS)
            lags.append((perf_counter() - now - LAG_SAMPLE_SECONDS) * 1e3)

    await asyncio.gather(clock(), *(table(f"{tag}-{number:032}") for number in range(tables)))
    return Figures(written / (perf_counter() - started), quantiles(lags, n=100)[98], max(lags))


async def measure(url: str, tables: int, seconds: float) -> Figures:
    """Measure one round on a store, and check its consistency."""
    async with await open_store(url) as store:
        figures = await write_facts(store, tables, seconds)
        assert await store.find_problems() == []
        return figures


def rows(commit: int, tables: int) -> list[tuple[object, ...]]:
    """Return the journal rows of one commit with the next fact of every table."""
    return [("bare", f"{number:032}", commit, FACT % commit, 0.0) for number in range(tables)]


def bare_sqlite(path: str, tables: int, seconds: float) -> float:
    """Return the yardstick in facts/s: the same commits from a bare Python loop."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"{CONNECTION_PRAGMAS}; DELETE FROM journal WHERE room = 'bare'")
    started, commit = perf_counter(), 0
    while perf_counter() < started + seconds:
        commit += 1
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", rows(commit, tables))
        connection.execute("COMMIT")
    facts_per_s = commit * tables / (perf_counter() - started)
    connection.execute("DELETE FROM journal WHERE room = 'bare'")
    connection.close()
    return facts_per_s


async def bare_postgres(url: str, tables: int, seconds: float) -> float:
    """Return the yardstick in facts/s: the same commits over one bare connection."""
    import asyncpg  # type: ignore[import-untyped]  # asyncpg has no type hints

    connection: Any = await asyncpg.connect(url)
    insert = "INSERT INTO journal SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::float8[])"
    started, commit = perf_counter(), 0
    while perf_counter() < started + seconds:
        commit += 1
        await connection.execute(insert, *zip(*rows(commit, tables), strict=True))
    facts_per_s = commit * tables / (perf_counter() - started)
    await connection.execute("DELETE FROM journal WHERE room = 'bare'")
    await connection.close()
    return facts_per_s


def compare(engine: str, url: str, bare: Callable[[], float], options: argparse.Namespace) -> None:
    """Measure store and yardstick in turns, and print the best round of each: other load can only slow them down."""
    pairs = [(run(measure(url, options.tables, options.seconds)), bare()) for _ in range(options.rounds)]
    best = max((figures for figures, _ in pairs), key=lambda figures: figures.facts_per_s)
    yardstick = max(bare_rate for _, bare_rate in pairs)
    target = TARGETS[engine]
    print(f"{engine}: {options.tables} tables that wait; the best of {options.rounds} rounds of {options.seconds:g} s")
    print(
        f"  croupier {best.facts_per_s:>9,.0f} durable facts/s   ratio {best.facts_per_s / yardstick:.2f}"
        f"   target {target:,}: {verdict(best.facts_per_s >= target)}"
    )
    print(f"  bare     {yardstick:>9,.0f}, the same commits from a program that does nothing else")
    print(
        f"  the loop was late by {best.lag_p99_ms:.2f} ms (p99), {best.lag_max_ms:.1f} ms at most"
        f"   target {LAG_TARGET_MS:g} ms: {verdict(best.lag_p99_ms < LAG_TARGET_MS)}"
    )


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "store.sqlite")
        run(upgrade_store(path))
        compare("SQLite", path, lambda: bare_sqlite(path, options.tables, options.seconds), options)
    with Cluster() as cluster:
        url = cluster.url()
        run(upgrade_store(url))
        compare("PostgreSQL", url, lambda: run(bare_postgres(url, options.tables, options.seconds)), options)


if __name__ == "__main__":
    main()
