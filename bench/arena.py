"""Benchmark: hands per second of the arena, with statistics, compared with OpenSpiel, and two processes with one.

Two bots in Python play Kuhn poker, choosing from what they see. The arena plays duplicate deals, and counts the ends of
pairs for the adjusted result, the interval and the leaks. OpenSpiel's side is a loop over its states with the same two
bots, which sums up the returns.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

from croupier.arena.kuhn import KuhnGame
from croupier.arena.plan import Plan
from croupier.arena.runner import ProcessRunner, Runner, SerialRunner
from croupier.arena.tournament import Tournament
from croupier.core.dealer import Luck
from croupier.rooms.kuhn.rules import KuhnAction, View
from harness import verdict

TARGET = 150_000
TARGET_OF_TWO_PROCESSES = 1.8
SEED = 1
BOTS = (f"{__file__}:Brave", f"{__file__}:Careful")


class Brave:
    """Bets and calls with a king or a queen, and sometimes with a jack."""

    def choose(self, view: View, legal: Sequence[KuhnAction], luck: Luck) -> KuhnAction:
        """Choose by the card."""
        brave = view.card != "J" or luck.below(3) == 0
        if "CAL" in legal:
            return "CAL" if brave else "FLD"
        return "BET" if brave else "CHK"


class Careful:
    """Bets and calls with a king, and sometimes with a queen."""

    def choose(self, view: View, legal: Sequence[KuhnAction], luck: Luck) -> KuhnAction:
        """Choose by the card."""
        brave = view.card == "K" or (view.card == "Q" and luck.below(3) == 0)
        if "CAL" in legal:
            return "CAL" if brave else "FLD"
        return "BET" if brave else "CHK"


def make_plan(hands: int) -> Plan:
    """Two bots in files, duplicate deals, and adjusted results."""
    return Plan("kuhn", BOTS, pairs=hands // 2, seed=SEED, duplicate=True, adjust=KuhnGame.baseline)


def arena(make_runner: Callable[[Plan], Runner], hands: int) -> None:
    """Play a tournament of one pairing, with its result but for the ratings."""
    plan = make_plan(hands)
    tournament = Tournament(plan)
    for _ in tournament.play(make_runner(plan)):
        pass
    for series in tournament.series.values():
        series.result()


def openspiel(hands: int) -> float:
    """Play the same bots with OpenSpiel's state objects: 0 is a pass (check, fold), 1 a bet (bet, call)."""
    game: Any = import_module("pyspiel").load_game("kuhn_poker")
    draw = random.Random(SEED).random
    won = 0.0
    for hand in range(hands):
        state = game.new_initial_state()
        brave_seat = hand % 2
        while not state.is_terminal():
            if state.is_chance_node():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                continue
            seat = state.current_player()
            card = state.information_state_string(seat)[0]  # 0 is the jack
            if seat == brave_seat:
                is_brave = card != "0" or int(draw() * 3) == 0
            else:
                is_brave = card == "2" or (card == "1" and int(draw() * 3) == 0)
            state.apply_action(int(is_brave))
        won += state.returns()[brave_seat]
    return won


def rate(play: Callable[[int], object], hands: int) -> float:
    """Return hands per second."""
    started = perf_counter()
    play(hands)
    return hands / (perf_counter() - started)


def process_rate(processes: int, hands: int) -> float:
    """Return hands per second of several processes, without their start."""
    plan = make_plan(hands)
    with ProcessRunner(plan, processes) as runner:
        warm_up = Tournament(make_plan(hands // 10))
        for _ in warm_up.play(runner):
            pass
        return rate(partial(arena, lambda _: runner), hands)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hands", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = [
        (
            rate(partial(arena, SerialRunner), options.hands),
            rate(openspiel, options.hands // 4),
            process_rate(1, options.hands),
            process_rate(2, options.hands),
        )
        for _ in range(options.rounds)
    ]
    ours, theirs, one, two = (median(rates) for rates in zip(*rows, strict=True))
    print(
        f"Kuhn poker, two bots in Python with statistics; medians of {options.rounds} rounds of {options.hands:,} hands"
    )
    print(f"  croupier      {ours:>10,.0f} hands/s   target {TARGET:,}: {verdict(ours >= TARGET)}")
    print(f"  OpenSpiel     {theirs:>10,.0f} hands/s   ratio {median(row[0] / row[1] for row in rows):.2f}")
    ratio = median(row[3] / row[2] for row in rows)
    print(f"  one process   {one:>10,.0f} hands/s")
    print(f"  two processes {two:>10,.0f} hands/s   ratio {ratio:.2f}, target {TARGET_OF_TWO_PROCESSES}", end=": ")
    print(verdict(ratio >= TARGET_OF_TWO_PROCESSES))


if __name__ == "__main__":
    main()
