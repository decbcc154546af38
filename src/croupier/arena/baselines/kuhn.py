"""The baseline of Kuhn poker: the value of every state if both seats play uniformly at random.

AIVAT (N. Burch et al., "AIVAT: A new variance reduction technique for agent evaluation in imperfect information games",
2018) adds, wherever the distribution of a move is known, the expected value after the move minus the value after it.
Each such correction has the mean 0, whatever the baseline, so adjusted results have the mean of plain results.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from croupier.core.rules import Turn
from croupier.rooms.kuhn.rules import START_STATE, KuhnState, Move, View

BASELINE: Final = "kuhn-random-1"
"""The id of the baseline; another baseline needs another id."""

type Policy = Mapping[View, Mapping[Move, Fraction]]
"""For the views of a seat, the probability of each action."""

type Values = Mapping[KuhnState, Fraction]
"""The coins that P_1 wins on average from every state."""


def random_values() -> Values:
    """The value of every state if both seats play uniformly at random."""
    values: dict[KuhnState, Fraction] = {}

    def visit(state: KuhnState) -> Fraction:
        after = [visit(next_state) for next_state in state.next.values()]
        values[state] = sum(after, Fraction(0)) / len(after) if after else Fraction(state.payoff[0])
        return values[state]

    visit(START_STATE)
    return values


RANDOM_VALUES: Final = random_values()


def corrections(values: Values, policies: tuple[Policy | None, Policy | None]) -> Mapping[KuhnState, Fraction]:
    """The sum of the corrections on the way to each end, in coins of P_1.

    `policies` has what is known of each seat: its probabilities, or None.
    """
    sums: dict[KuhnState, Fraction] = {}

    def visit(state: KuhnState, total: Fraction) -> None:
        if state.turn is Turn.OVER:
            sums[state] = total
            return
        odds = _odds(state, policies)
        expected = sum((chance * values[state.next[move]] for move, chance in odds.items()), Fraction(0))
        for after in state.next.values():
            visit(after, total + expected - values[after] if odds else total)

    visit(START_STATE, Fraction(0))
    return sums


def _odds(state: KuhnState, policies: tuple[Policy | None, Policy | None]) -> Mapping[Move, Fraction]:
    """The known distribution of the next move; empty if it is not known."""
    if state.turn is Turn.CHANCE:
        return state.odds
    assert isinstance(state.turn, int)
    policy = policies[state.turn]
    return {} if policy is None else policy[state.views[state.turn]]
