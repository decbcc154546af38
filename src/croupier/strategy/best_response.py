"""Exact best responses in two-player zero-sum games."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, RealizationPlan


class BestResponse(NamedTuple):
    """The expected win of a best response in coins, and a pure strategy: the first of the best moves at every view."""

    value: Fraction
    strategy: BehaviourStrategy


def best_response(tree: GameTree, seat: Seat, opponent_plan: RealizationPlan) -> BestResponse:
    """The best response of a seat to a realization plan of the other seat."""
    values = [Fraction(0)] * tree.sequence_counts[seat]
    for sequences, coins in tree.terminals.items():
        values[sequences[seat]] += (coins if seat == 0 else -coins) * opponent_plan[sequences[1 - seat]]
    strategy = {}
    for view, info_set in reversed(tree.info_sets[seat].items()):
        best = max(info_set.sequences, key=values.__getitem__)
        values[info_set.parent_sequence] += values[best]
        strategy[view] = {info_set.moves[best - info_set.first_sequence]: Fraction(1)}
    return BestResponse(values[0], strategy)


def nash_conv(tree: GameTree, plans: Sequence[RealizationPlan]) -> Fraction:
    """The sum over both seats of the gain from switching to a best response, in coins per game."""
    return best_response(tree, 0, plans[1]).value + best_response(tree, 1, plans[0]).value
