"""Benchmark: hands ranked per second, compared with phevaluator, and duration of exact equity.

Both rank the same hands, dealt in advance, through their public functions: croupier's is pure Python, phevaluator's is
C with a Python wrapper. Each takes its preferred arguments: a tuple, or single cards. They take turns. The best round
of each counts, because other load can only slow it down. Lookup tables are built in advance and timed separately.
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from time import process_time

import numpy as np

from croupier.core.dealer import FairDealer
from croupier.rooms.holdem.engine.equity import equity, estimate
from croupier.rooms.holdem.engine.ranks import load_tables, rank, rank_many
from harness import verdict

TARGET = 2_000_000
"""Seven-card hands per second, one call per hand."""

EQUITY_TARGET_MS = 50.0
SEED = 1
HANDS = 10_000
SAMPLES = 2_000

MATCHES: Sequence[tuple[Sequence[str], str]] = (
    (("AhKh", "QsQc"), ""),
    (("AhKh", "QsQc", "7d6d"), ""),
    (("AhKh", "QsQc"), "2h3h4s"),
    (("QQ+", "AKs"), ""),
)

type Hands = Sequence[tuple[int, ...]]


def croupier(hands: Hands) -> None:
    """Rank every hand with croupier."""
    for hand in hands:
        rank(hand)


def phevaluator(hands: Hands) -> None:
    """Rank every hand with phevaluator."""
    evaluate: Callable[..., int] = import_module("phevaluator").evaluate_cards
    for hand in hands:
        evaluate(*hand)


def best(tasks: Sequence[Callable[[], object]], seconds: float, rounds: int) -> list[float]:
    """Return the shortest time of each task in seconds, over `rounds` in which each is repeated for `seconds`."""
    least = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for number, task in enumerate(tasks):
            ends = process_time() + seconds
            while (started := process_time()) < ends:
                task()
                least[number] = min(least[number], process_time() - started)
    return least


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    started = process_time()
    load_tables()
    print(f"the tables are built in {process_time() - started:.2f} s, once a process")
    luck = Random(SEED)
    for size in (7, 6, 5):
        hands = [tuple(luck.sample(range(52), size)) for _ in range(HANDS)]
        rows = np.array(hands)
        tasks = (lambda: croupier(hands), lambda: phevaluator(hands), lambda: rank_many(rows))  # noqa: B023
        ours, theirs, batch = (HANDS / took for took in best(tasks, options.seconds, options.rounds))
        print(f"Ranks of {size} cards, {HANDS:,} random hands; the best of {options.rounds} rounds")
        target = f"   target {TARGET:,}: {verdict(ours >= TARGET)}" if size == 7 else ""
        print(f"  croupier    {ours:>10,.0f} hands/s   ratio {ours / theirs:.2f}{target}")
        print(f"  phevaluator {theirs:>10,.0f} hands/s")
        print(f"  rank_many   {batch:>10,.0f} hands/s, with NumPy")
    print(f"Equity; the best of {options.rounds} rounds")
    for number, (ranges, board) in enumerate(MATCHES):
        (took,) = best([lambda: equity(ranges, board)], options.seconds, options.rounds)  # noqa: B023
        share = float(equity(ranges, board)[0])
        title = " v ".join(ranges) + (f" on {board}" if board else "")
        target = f"   target {EQUITY_TARGET_MS:g} ms: {verdict(took * 1000 < EQUITY_TARGET_MS)}" if number == 0 else ""
        print(f"  {title:<24} {share:.7f} {took * 1000:>8.2f} ms{target}")
    chance = FairDealer(bytes(32)).luck
    (took,) = best(
        [lambda: estimate(["AhKh", "random"], luck=chance, samples=SAMPLES)], options.seconds, options.rounds
    )
    print(f"  AhKh v random, estimated {SAMPLES / took:>10,.0f} deals/s")


if __name__ == "__main__":
    main()
