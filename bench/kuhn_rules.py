"""How many games of Kuhn poker two random minds play in one process, beside OpenSpiel driven in the same way."""

import argparse
import random
from collections.abc import Callable
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

from croupier.core.dealer import Fair
from croupier.core.mind import Random
from croupier.core.rules import Turn
from croupier.rooms.kuhn.rules import KUHN

TARGET = 300_000


def croupier_games(games: int) -> int:
    """Play whole games by the rules' public questions; both minds and chance draw from the dealer's luck."""
    rules, mind, luck = KUHN, Random(), Fair(bytes(32)).luck
    won = 0
    for _ in range(games):
        state = rules.start()
        while (turn := rules.turn(state)) is not Turn.OVER:
            view = None if turn is Turn.CHANCE else rules.view(state, turn)
            state = rules.play(state, mind.choose(view, rules.legal(state), luck))
        won += rules.payoff(state)[0]
    return won


def openspiel(games: int) -> int:
    """The same with OpenSpiel's state objects; luck is Python's generator."""
    game: Any = _openspiel_game()
    rng = random.Random(1)
    won = 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        won += int(state.returns()[0])
    return won


def _openspiel_game() -> object:
    game: object = import_module("pyspiel").load_game("kuhn_poker")
    return game


def rate(play: Callable[[int], int], seconds: float) -> float:
    """Games a second, over about so many seconds."""
    games, took = 1_000, 0.0
    while took < seconds / 4:
        started = perf_counter()
        play(games)
        took = perf_counter() - started
        games *= 2
    games = int(games / 2 * seconds / took)
    started = perf_counter()
    play(games)
    return games / (perf_counter() - started)


def main() -> None:
    """Take turns, and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    pairs = [(rate(croupier_games, options.seconds), rate(openspiel, options.seconds)) for _ in range(options.rounds)]
    ours, theirs = (median(rates) for rates in zip(*pairs, strict=True))
    ratio = median(a / b for a, b in pairs)
    met = "met" if ours >= TARGET else "MISSED"
    print(f"Kuhn poker, two random minds, one process, medians of {options.rounds} rounds of {options.seconds:g} s")
    print(f"  croupier  {ours:>10,.0f} games/s   target {TARGET:,}: {met}")
    print(f"  OpenSpiel {theirs:>10,.0f} games/s   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
