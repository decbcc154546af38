"""Benchmark: the start of `croupier --help` and of a client, compared with an empty Python program.

`croupier check` starts a client for every case, so its start decides how long the cases take. Processor time depends
less on what else the machine does.
"""

import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter
from typing import NamedTuple

TARGET_MS = 200.0
RUNS = 15
CROUPIER = str(Path(sys.executable).with_name("croupier"))

COMMANDS = {
    "croupier --help": [CROUPIER, "--help"],
    "croupier play kuhn --bot help": [CROUPIER, "play", "kuhn", "--bot", "help"],
    "an empty Python": [sys.executable, "-c", ""],
}


class Cost(NamedTuple):
    """The wall time and the processor time of one run, in milliseconds."""

    wall: float
    processor: float


def processor_seconds() -> float:
    """Return the processor time of all finished child processes."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost(command: list[str]) -> Cost:
    """Run a command once."""
    started, before = perf_counter(), processor_seconds()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return Cost((perf_counter() - started) * 1e3, (processor_seconds() - before) * 1e3)


def main() -> None:
    """Run all commands in turns, and print the medians."""
    rounds = [{name: cost(command) for name, command in COMMANDS.items()} for _ in range(RUNS)]
    medians = {
        name: Cost(*(median(each) for each in zip(*(r[name] for r in rounds), strict=True))) for name in COMMANDS
    }
    for name, (wall, processor) in medians.items():
        print(f"{name}: {wall:.0f} ms, of which {processor:.0f} ms of processor time; medians of {RUNS}")
    met = "met" if medians["croupier --help"].wall < TARGET_MS else "MISSED"
    print(f"  target for croupier --help under {TARGET_MS:g} ms: {met}")


if __name__ == "__main__":
    main()
