"""Benchmark: message rate of an Old Maid table with many parallel games, compared with a bare uvloop echo.

Echo and table take turns on one core, simulated players run on another. Players send most messages to each other and
not to the table, so only one of a game's four players waits for the table at a time; likewise four connections of the
echo take turns. The echo's flights are as long as the table's, (sent + received) / 2, measured first in a short run.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from harness import BenchError, Load, Result, allow_open_files, fail, pick_cores, run_load, running, verdict
from servers import COMMON, CROUPIER, Contestant, Setting, echo_beside, summarize

PLAYERS = 4
TARGET = 0.5


def table(journal: str, store: Path) -> Contestant:
    """Return a table server with the given journal mode."""
    kept = ["--journal", journal, "--store", str(store)]
    return Contestant("table", [*CROUPIER, "oldmaid", *COMMON, "--players", str(PLAYERS), *kept], "oldmaid")


def measure(contestant: Contestant, games: int, setting: Setting) -> Result:
    """Measure a new server with four connections per game."""
    load = Load(contestant.speak, games * PLAYERS, 0, setting.seconds, warmup=2.0, size=contestant.size, turns=PLAYERS)
    with running(contestant.command, setting.cores.server) as server:
        return run_load(server, load, setting.cores.load)


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000, help="number of parallel games")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measured window")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of echo and table")
    parser.add_argument("--journal", default="off", choices=["off", "durable"], help="journal mode")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return compare(table(options.journal, Path(folder) / "kept.sqlite"), options)


def compare(ours: Contestant, options: argparse.Namespace) -> int:
    """Measure echo and table in turns, print the medians, and return the exit status."""
    try:
        allow_open_files(options.games * PLAYERS)
        setting = Setting(pick_cores(), options.seconds)
        echo = echo_beside(ours, setting, connections=10 * PLAYERS)
        games = options.games
        pairs = [(measure(echo, games, setting), measure(ours, games, setting)) for _ in range(options.rounds)]
    except BenchError as error:
        return fail(error)
    ratio = median(played.messages_per_s / echoed.messages_per_s for echoed, played in pairs)
    echoed, table_row = (summarize(results) for results in zip(*pairs, strict=True))
    played = median(result.games / result.seconds for _, result in pairs)
    print(
        f"{games:,} games of {PLAYERS}, journal {options.journal}, at the same time, medians of {options.rounds}"
        f" rounds of {options.seconds:g} s; flights of {echo.size} bytes:\n"
        f"  echo {echoed.messages_per_s:,.0f} messages/s, table {table_row.messages_per_s:,.0f}, ratio {ratio:.3f};"
        f" target {TARGET}: {verdict(ratio >= TARGET)}\n"
        f"  {played:,.0f} games/s; round trips p50 {table_row.p50_us / 1e3:.1f} ms, p99 {table_row.p99_us / 1e3:.1f} ms"
        f" (echo {echoed.p50_us / 1e3:.1f} and {echoed.p99_us / 1e3:.1f}); CPU {table_row.cpu_us:.1f} µs a message"
        f" (echo {echoed.cpu_us:.1f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
