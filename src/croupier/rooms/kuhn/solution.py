"""Exact solution of Kuhn poker: a one-parameter family of optimal strategies for P_1, one strategy for P_2."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.rooms.kuhn.rules import ACTION_COST, BETTING_TREE, CARDS, KUHN, P_1, P_2, KuhnAction, View
from croupier.strategy.game_tree import GameTree, RealizationPlan
from croupier.strategy.solution import Grid, Solution, SolutionRecord
from croupier.strategy.zero_sum import find_equilibrium, optimal_plan_corners

BLUFF_VIEWS: Mapping[Seat, View] = {P_1: View("J", ()), P_2: View("J", ("CHK",))}
"""The information set that defines alpha for a seat: alpha is the probability that it bets its jack here."""


class LinearProbability(NamedTuple):
    """A probability as a linear function of alpha: intercept + slope·alpha."""

    intercept: Fraction
    slope: Fraction

    def __str__(self) -> str:
        times = "" if abs(self.slope) == 1 else str(abs(self.slope))
        if not self.slope:
            return str(self.intercept)
        if not self.intercept and self.slope > 0:
            return f"{times}α"
        return f"{self.intercept} {'+' if self.slope > 0 else '-'} {times}α"

    def evaluate(self, alpha: Fraction) -> Fraction:
        """The probability at a value of alpha."""
        return self.intercept + self.slope * alpha


def solve() -> Solution:
    """Solve the game. Raises ModuleNotFoundError if HiGHS is not installed.

    Example:
        >>> solution = solve()
        >>> print(solution.value, solution.unit)
        -1/18 coins a game to P_1
    """
    tree = GameTree(KUHN)
    value = find_equilibrium(tree).value.exact
    assert value is not None, "the plans of Kuhn poker are simple fractions"
    grids, notes, records = [], [], []
    for seat in (P_1, P_2):
        bluff_set = tree.info_sets[seat][BLUFF_VIEWS[seat]]
        bluff = bluff_set.sequences[bluff_set.moves.index("BET")]
        corners = sorted(optimal_plan_corners(tree, seat, value), key=lambda plan: plan[bluff])
        assert len(corners) <= 2, "each family has at most one parameter"
        low, high = corners[0][bluff], corners[-1][bluff]
        unique = "has no choice: this is its only optimal strategy"
        notes.append(f"P_{seat + 1} {f'may choose any α from {low} to {high}' if low < high else unique}.")
        probabilities = _action_probabilities(tree, seat, corners[0], corners[-1], bluff)
        grids.append(_grid(seat, probabilities))
        records += _records(seat, probabilities, low, high)
    return Solution("Kuhn poker", {}, value, "coins a game to P_1", grids, notes, records)


def _action_probabilities(
    tree: GameTree, seat: Seat, first: RealizationPlan, last: RealizationPlan, bluff: int
) -> Mapping[View, Mapping[KuhnAction, LinearProbability]]:
    """The probability of every action, as a function of alpha, between the two ends of a family."""
    span = last[bluff] - first[bluff] or Fraction(1)
    slopes = [(end - start) / span for start, end in zip(first, last, strict=True)]
    starts = [start - slope * first[bluff] for start, slope in zip(first, slopes, strict=True)]
    probabilities = {}
    for card in CARDS:
        for history, (actor, actions) in BETTING_TREE.items():
            if actor == seat:
                view = View(card, history)
                info_set = tree.info_sets[seat][view]
                start, slope = starts[info_set.parent_sequence], slopes[info_set.parent_sequence]
                row = {}
                for action, sequence in zip(actions, info_set.sequences, strict=True):
                    probability = LinearProbability(
                        starts[sequence] / start, (slopes[sequence] - slope * starts[sequence] / start) / start
                    )
                    assert not slope * probability.slope, "the probability must be linear in alpha"
                    row[action] = probability
                probabilities[view] = row
    return probabilities


def _grid(seat: Seat, probabilities: Mapping[View, Mapping[KuhnAction, LinearProbability]]) -> Grid:
    """How often a seat puts a coin in, by the history and its card."""
    rows = []
    for history, (actor, actions) in BETTING_TREE.items():
        if actor == seat:
            coin = max(actions, key=ACTION_COST.__getitem__)
            when = f"{coin} after {' '.join(history)}" if history else coin
            rows.append([when, *(str(probabilities[View(card, history)][coin]) for card in CARDS)])
    return Grid(f"P_{seat + 1}: how often it puts a coin in", ["", *CARDS], rows)


def _records(
    seat: Seat, probabilities: Mapping[View, Mapping[KuhnAction, LinearProbability]], low: Fraction, high: Fraction
) -> list[SolutionRecord]:
    return [
        {
            "seat": f"P_{seat + 1}",
            "card": view.card,
            "after": " ".join(view.history),
            "action": action,
            "probability": str(probability),
            "at_lowest_alpha": probability.evaluate(low),
            "at_highest_alpha": probability.evaluate(high),
        }
        for view, row in probabilities.items()
        for action, probability in row.items()
    ]
