"""Benchmark: wall time of `croupier solve` for each game."""

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from harness import BenchError, fail, verdict

ROOMS = ("kuhn", "sevenhalf", "blackjack")
TARGET_SECONDS = 10.0


def seconds(command: list[str]) -> float:
    """Return the wall time of one run. Raises BenchError if it fails."""
    started = perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    took = perf_counter() - started
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr}")
    return took


def main() -> int:
    """Solve each game several times, and print the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    croupier = str(Path(sys.executable).with_name("croupier"))
    try:
        for room in ROOMS:
            took = median(seconds([croupier, "solve", room]) for _ in range(options.rounds))
            command = f"croupier solve {room}"
            print(
                f"{command:<25}{took:6.2f} s, median of {options.rounds}; target under {TARGET_SECONDS:g} s: ", end=""
            )
            print(verdict(took < TARGET_SECONDS), flush=True)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
