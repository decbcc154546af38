"""Plays games by their rules in this process, with a bot in each seat."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from croupier.core.bots import Bot, choose_legal
from croupier.core.dealer import Luck
from croupier.core.rules import Rules, Turn


def play_game[S, M](
    rules: Rules[S, M], bots: Sequence[Bot[Any, M]], chance: Luck, lucks: Sequence[Luck]
) -> tuple[int | Fraction, ...]:
    """Play one game and return the payoff of each seat.

    `bots` has the bot of each seat that moves, and `lucks` its randomness; `chance` is that of the deal. Raises
    IllegalMove if a bot chooses a move that is not legal, and whatever a bot raises.
    """
    state = rules.start()
    while (turn := rules.turn(state)) is not Turn.OVER:
        if isinstance(turn, Turn):
            move = draw_move(rules.odds(state), chance)
        else:
            legal: Any = rules.legal(state)
            move = choose_legal(bots[turn], rules.view(state, turn), legal, lucks[turn])
        state = rules.play(state, move)
    return rules.payoff(state)


def draw_move[M](odds: Mapping[M, Fraction], luck: Luck) -> M:
    """Draw one of the moves of chance with its exact probability; the common denominator is 65,536 at most."""
    denominator = lcm(*(chance.denominator for chance in odds.values()))
    left = luck.below(denominator)
    for move, chance in odds.items():
        left -= chance.numerator * (denominator // chance.denominator)
        if left < 0:
            return move
    raise AssertionError(f"found the odds {odds}; allowed: those that add up to 1")
