"""The perfect play of Kuhn poker: for P_1 a family of strategies with one parameter, for P_2 one strategy."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.rooms.kuhn.rules import ACTION_COST, BETTING_TREE, CARDS, KUHN, P_1, P_2, KuhnAction, View
from croupier.strategy.game_tree import GameTree, RealizationPlan
from croupier.strategy.solution import Grid, Solution, SolutionRecord
from croupier.strategy.zero_sum import find_equilibrium, optimal_plan_corners

BLUFF_VIEWS: Mapping[Seat, View] = {P_1: View("J", ()), P_2: View("J", ("CHK",))}
"""Where a seat shows which of its strategies it plays: alpha is the probability that it bets its jack here."""


class LinearProbability(NamedTuple):
    """A probability as alpha varies: a constant, and so many times alpha."""

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
        """The probability for this alpha."""
        return self.intercept + self.slope * alpha


def solve() -> Solution:
    """Solve it. Raises ModuleNotFoundError where HiGHS is not installed."""
    tree = GameTree(KUHN)
    found = find_equilibrium(tree)
    grids, notes, records = [], [], []
    for seat in (P_1, P_2):
        choice = tree.info_sets[seat][BLUFF_VIEWS[seat]]
        bluff = choice.sequences[choice.moves.index("BET")]
        corners = sorted(optimal_plan_corners(tree, seat, found.value), key=lambda plan: plan[bluff])
        assert len(corners) <= 2, "both families are known"
        low, high = corners[0][bluff], corners[-1][bluff]
        one = "has no choice: this is its only optimal strategy"
        notes.append(f"P_{seat + 1} {f'may choose any α from {low} to {high}' if low < high else one}.")
        lines = _action_probabilities(tree, seat, corners[0], corners[-1], bluff)
        grids.append(_grid(seat, lines))
        records += _records(seat, lines, low, high)
    return Solution("Kuhn poker", {}, found.value, "coins a game to P_1", grids, notes, records)


def _action_probabilities(
    tree: GameTree, seat: Seat, first: RealizationPlan, last: RealizationPlan, bluff: int
) -> Mapping[View, Mapping[KuhnAction, LinearProbability]]:
    """The probability of every action between two ends of a family."""
    span = last[bluff] - first[bluff] or Fraction(1)
    slopes = [(end - start) / span for start, end in zip(first, last, strict=True)]
    starts = [start - slope * first[bluff] for start, slope in zip(first, slopes, strict=True)]
    lines = {}
    for card in CARDS:
        for history, (who, actions) in BETTING_TREE.items():
            if who == seat:
                view = View(card, history)
                choice = tree.info_sets[seat][view]
                start, slope = starts[choice.parent_sequence], slopes[choice.parent_sequence]
                row = {}
                for action, sequence in zip(actions, choice.sequences, strict=True):
                    line = LinearProbability(
                        starts[sequence] / start, (slopes[sequence] - slope * starts[sequence] / start) / start
                    )
                    assert not slope * line.slope, "the probability is a straight line"
                    row[action] = line
                lines[view] = row
    return lines


def _grid(seat: Seat, lines: Mapping[View, Mapping[KuhnAction, LinearProbability]]) -> Grid:
    """How often a seat puts a coin in, by what has been done and its card."""
    rows = []
    for history, (who, actions) in BETTING_TREE.items():
        if who == seat:
            coin = max(actions, key=ACTION_COST.__getitem__)
            when = f"{coin} after {' '.join(history)}" if history else coin
            rows.append([when, *(str(lines[View(card, history)][coin]) for card in CARDS)])
    return Grid(f"P_{seat + 1}: how often it puts a coin in", ["", *CARDS], rows)


def _records(
    seat: Seat, lines: Mapping[View, Mapping[KuhnAction, LinearProbability]], low: Fraction, high: Fraction
) -> list[SolutionRecord]:
    """Every action of a seat, with its probability."""
    return [
        {
            "seat": f"P_{seat + 1}",
            "card": view.card,
            "after": " ".join(view.history),
            "action": action,
            "probability": str(line),
            "at_lowest_alpha": line.evaluate(low),
            "at_highest_alpha": line.evaluate(high),
        }
        for view, row in lines.items()
        for action, line in row.items()
    ]
