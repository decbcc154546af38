"""Benchmark: hands of heads-up hold'em per second in the arena, with views and statistics, and those of others.

Both bots check and call, the cheapest way to play a whole hand: the arena makes a view for each of their eight
decisions, from which they read the amount to call, and checks the move. The loops of OpenSpiel and PokerKit, as in
`hands.py`, only make the moves. PokerKit plays a tenth of the hands.
"""

import argparse
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import process_time
from typing import Final
from warnings import simplefilter

from croupier.arena.plan import Plan
from croupier.arena.runner import SerialRunner
from croupier.arena.tournament import Tournament
from hands import SEED, croupier, openspiel, pokerkit
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
    simplefilter("ignore", UserWarning)  # PokerKit remarks on unknown cards
    draw, hands = Random(SEED).random, options.hands
    loops: dict[str, tuple[Callable[[int], object], int]] = {
        "arena": (partial(arena, duplicate=False), hands),
        "arena, duplicates": (partial(arena, duplicate=True), hands),
        "croupier's engine alone": (lambda hands: croupier(2, hands, draw, random=False), hands),
        "OpenSpiel": (lambda hands: openspiel(2, hands, draw, random=False, pack=True), hands),
        "PokerKit": (lambda hands: pokerkit(2, hands, draw, random=False), hands // 10),
    }
    rounds = [{name: rate(play, share) for name, (play, share) in loops.items()} for _ in range(options.rounds)]
    print(f"hold'em, heads-up callers; medians of {options.rounds} rounds of {hands:,} hands")
    for name in loops:
        found = median(rates[name] for rates in rounds)
        ratio = median(rates["arena"] / rates[name] for rates in rounds)
        print(f"  {name:<25}{found:>9,.0f} hands/s   ratio of the arena {ratio:.{2 if ratio < 10 else 0}f}")
    is_met = median(rates["arena"] for rates in rounds) >= TARGET
    print(f"  target {TARGET:,}: {verdict(is_met)}")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
