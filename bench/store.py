"""How many facts a second are durable when 64 tables wait for each of theirs, on SQLite and on PostgreSQL."""

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
GLANCE_S = 0.001
"""How often the loop is asked how late it is."""


@dataclass(frozen=True)
class Figures:
    """What one round has shown: durable facts a second, and how late the loop was, in ms."""

    facts_per_s: float
    lag_p99_ms: float
    lag_max_ms: float


async def tables_wait(store: Store, tables: int, seconds: float) -> Figures:
    """So many tables, each of which waits until its fact is durable before it has the next."""
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
            await asyncio.sleep(GLANCE_S)
            lags.append((perf_counter() - now - GLANCE_S) * 1e3)

    await asyncio.gather(clock(), *(table(f"{tag}-{number:032}") for number in range(tables)))
    return Figures(written / (perf_counter() - started), quantiles(lags, n=100)[98], max(lags))


async def measure(url: str, tables: int, seconds: float) -> Figures:
    """One round on a store, whose books are in order afterwards."""
    async with await open_store(url) as store:
        figures = await tables_wait(store, tables, seconds)
        assert await store.find_problems() == []
        return figures


def rows(commit: int, tables: int) -> list[tuple[object, ...]]:
    """What a commit of every table's next fact writes."""
    return [("bare", f"{number:032}", commit, (FACT % commit).decode(), 0.0) for number in range(tables)]


def bare_sqlite(path: str, tables: int, seconds: float) -> float:
    """The yardstick: the same commits from a loop of Python that does nothing else, in facts/s."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(f"{CONNECTION_PRAGMAS}; DELETE FROM journal WHERE room = 'bare'")
    started, commit = perf_counter(), 0
    while perf_counter() < started + seconds:
        commit += 1
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", rows(commit, tables))
        connection.execute("COMMIT")
    found = commit * tables / (perf_counter() - started)
    connection.execute("DELETE FROM journal WHERE room = 'bare'")
    connection.close()
    return found


async def bare_postgres(url: str, tables: int, seconds: float) -> float:
    """The same commits over one connection, in facts/s."""
    import asyncpg  # type: ignore[import-untyped]  # it has no types of its own

    connection: Any = await asyncpg.connect(url)
    insert = "INSERT INTO journal SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::float8[])"
    started, commit = perf_counter(), 0
    while perf_counter() < started + seconds:
        commit += 1
        await connection.execute(insert, *zip(*rows(commit, tables), strict=True))
    found = commit * tables / (perf_counter() - started)
    await connection.execute("DELETE FROM journal WHERE room = 'bare'")
    await connection.close()
    return found


def compare(engine: str, url: str, bare: Callable[[], float], options: argparse.Namespace) -> None:
    """Take turns with the yardstick, and print the best of both: noise only ever takes away."""
    pairs = [(run(measure(url, options.tables, options.seconds)), bare()) for _ in range(options.rounds)]
    best = max((figures for figures, _ in pairs), key=lambda figures: figures.facts_per_s)
    yardstick = max(found for _, found in pairs)
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
