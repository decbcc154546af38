"""The best answer to a strategy that is known, and how much a strategy gives away to it, exactly."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, RealizationPlan


class BestResponse(NamedTuple):
    """What a best answer wins on average, and at every view the first of the best moves."""

    value: Fraction
    strategy: BehaviourStrategy


def best_response(tree: GameTree, seat: Seat, opponent_plan: RealizationPlan) -> BestResponse:
    """The best that a seat can do against a plan of the other."""
    wins = [Fraction(0)] * tree.sequence_counts[seat]
    for ends, coins in tree.terminals.items():
        wins[ends[seat]] += (coins if seat == 0 else -coins) * opponent_plan[ends[1 - seat]]
    found = {}
    for view, choice in reversed(tree.info_sets[seat].items()):
        best = max(choice.sequences, key=wins.__getitem__)
        wins[choice.parent_sequence] += wins[best]
        found[view] = {choice.moves[best - choice.first_sequence]: Fraction(1)}
    return BestResponse(wins[0], found)


def exploitability(tree: GameTree, strategies: Sequence[BehaviourStrategy]) -> Fraction:
    """What a best opponent wins a game from these two strategies, on average over the seats, above the game's value.

    It is 0 for an equilibrium, and for nothing else.
    """
    plans = [tree.realization_plan(seat, strategies[seat]) for seat in (0, 1)]
    return nash_conv(tree, plans) / 2


def nash_conv(tree: GameTree, plans: Sequence[RealizationPlan]) -> Fraction:
    """What both seats together could win by better answers."""
    return best_response(tree, 0, plans[1]).value + best_response(tree, 1, plans[0]).value
