"""Benchmark: wall time of `croupier --help`, compared with an empty Python program."""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

TARGET_MS = 200.0
RUNS = 15


def milliseconds(command: list[str]) -> float:
    """Return the wall time of one run in milliseconds."""
    started = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return (perf_counter() - started) * 1e3


def main() -> None:
    """Run both in turns, and print the medians."""
    croupier = [str(Path(sys.executable).with_name("croupier")), "--help"]
    nothing = [sys.executable, "-c", ""]
    pairs = [(milliseconds(croupier), milliseconds(nothing)) for _ in range(RUNS)]
    help_ms, bare_ms = (median(times) for times in zip(*pairs, strict=True))
    met = "met" if help_ms < TARGET_MS else "MISSED"
    print(f"croupier --help {help_ms:.0f} ms, an empty Python {bare_ms:.0f} ms; medians of {RUNS}")
    print(f"  target under {TARGET_MS:g} ms: {met}")


if __name__ == "__main__":
    main()
