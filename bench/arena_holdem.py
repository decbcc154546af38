"""Benchmark: hands of heads-up hold'em per second in the arena, with views and statistics, compared with OpenSpiel.

Both bots check and call, the cheapest way to play a whole hand: the arena makes a view for each of their eight
decisions, from which they read the amount to call, and checks the move. OpenSpiel's loop, as in `hands.py`, only makes
the moves.
"""

import argparse
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import process_time
from typing import Final

from croupier.arena.plan import Plan
from croupier.arena.runner import SerialRunner
from croupier.arena.tournament import Tournament
from hands import SEED, croupier, openspiel
from harness import verdict

TARGET: Final = 60_000
"""Hands per second."""


def arena(hands: int, *, duplicate: bool) -> None:
    """Play a tournament of two callers, with its result but for the ratings."""
    plan = Plan("holdem", ("caller", "caller"), pairs=hands // 2, seed=SEED, duplicate=duplicate)
    tournament = Tournament(plan)
    for _ in tournament.play(SerialRunner(plan)):
        pass
    for series in tournament.series.values():
        series.result()


def rate(play: Callable[[int], object], hands: int) -> float:
    """Return hands per second of CPU time."""
    started = process_time()
    play(hands)
    return hands / (process_time() - started)


def main() -> int:
    """Run the benchmark. Return the exit status: 0 if the target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    draw = Random(SEED).random
    loops: dict[str, Callable[[int], object]] = {
        "arena": partial(arena, duplicate=False),
        "arena, duplicates": partial(arena, duplicate=True),
        "croupier's engine alone": lambda hands: croupier(2, hands, draw, random=False),
        "OpenSpiel": lambda hands: openspiel(2, hands, draw, random=False, pack=True),
    }
    rounds = [{name: rate(play, options.hands) for name, play in loops.items()} for _ in range(options.rounds)]
    print(f"hold'em, heads-up callers; medians of {options.rounds} rounds of {options.hands:,} hands")
    for name in loops:
        found = median(rates[name] for rates in rounds)
        ratio = median(rates["arena"] / rates[name] for rates in rounds)
        print(f"  {name:<25}{found:>9,.0f} hands/s   ratio of the arena {ratio:.2f}")
    is_met = median(rates["arena"] for rates in rounds) >= TARGET
    print(f"  target {TARGET:,}: {verdict(is_met)}")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
