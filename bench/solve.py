"""Benchmark: wall time of `croupier solve` for each game, and of CFR+ on Leduc poker beside OpenSpiel's."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from croupier.core.python_files import load_object
from croupier.strategy.cfr_plus import CfrPlus
from croupier.strategy.game_tree import GameTree
from croupier.strategy.zero_sum import find_equilibrium
from harness import BenchError, fail, verdict

ROOMS = ("kuhn", "sevenhalf", "blackjack")
TARGET_SECONDS = 10.0

LEDUC = Path(__file__).parents[1] / "examples" / "leduc.py"
CFR_ROUNDS = 700
"""The rounds of CFR+ after which the nash_conv of Leduc poker is below 0.001."""

OPEN_SPIEL_GAME = "leduc_poker(suit_isomorphism=true)"
"""Leduc poker with cards that are their ranks, as in our example."""

TARGET_RATIO = 1.0
"""The least speed of CFR+, as a multiple of the speed of OpenSpiel's."""


def seconds(command: list[str]) -> float:
    """Return the wall time of one run. Raises BenchError if it fails."""
    started = perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    took = perf_counter() - started
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr}")
    return took


def timed(work: Callable[[], object]) -> float:
    """Return the wall time of some work in seconds."""
    started = perf_counter()
    work()
    return perf_counter() - started


def run_cfr_plus(rules: Any) -> None:
    """Run CFR+ on a game, and check that its bounds are close enough. Raises BenchError if they are not."""
    run = CfrPlus(GameTree(rules))
    for _ in range(CFR_ROUNDS):
        run.play_round()
    _, low, high = run.checkpoint()
    if high - low >= 0.001:
        raise BenchError(f"found bounds from {low} to {high}; allowed: less than 0.001 apart")


def run_open_spiel(pyspiel: Any) -> None:
    """Run OpenSpiel's CFR+, written in C++, for the same number of rounds."""
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game(OPEN_SPIEL_GAME))
    for _ in range(CFR_ROUNDS):
        solver.evaluate_and_update_policy()


def compare_methods(rounds: int) -> None:
    """Print the times for Leduc poker in this process, building of the tree included, as ratios to OpenSpiel's."""
    rules: Any = load_object(LEDUC, "RULES")
    find_equilibrium(GameTree(rules))  # imports HiGHS
    exact = median(timed(lambda: find_equilibrium(GameTree(rules))) for _ in range(rounds))
    ours = median(timed(lambda: run_cfr_plus(rules)) for _ in range(rounds))
    print(
        f"Leduc poker: linear program {exact:.3f} s; CFR+, {CFR_ROUNDS} rounds, {ours:.3f} s: {ours / exact:.2f} times"
    )
    try:
        pyspiel = import_module("pyspiel")
    except ModuleNotFoundError:
        print("OpenSpiel is not installed (requirements/bench.txt)")
        return
    theirs = median(timed(lambda: run_open_spiel(pyspiel)) for _ in range(rounds))
    met = verdict(theirs / ours >= TARGET_RATIO)
    print(f"OpenSpiel's CFR+ {theirs:.3f} s: ours is {theirs / ours:.2f} times as fast; target {TARGET_RATIO:g}: {met}")


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
        compare_methods(options.rounds)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
