"""Exact distributions of pairs of Kuhn hands, by enumeration of the tree."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from croupier.arena.baselines.kuhn import Policy, Values, corrections
from croupier.arena.kuhn import ACTIONS
from croupier.core.bots import MixedBot, bot_factory
from croupier.core.rules import Turn
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.rules import DEALS, KuhnState

OPPONENTS = ("equilibrium", "random", "book", "book:no-jack", "book:always-bet", "book:never-bet", "book:check-call")
"""The seven opponents of the table in docs/arena.md."""


class Exact(NamedTuple):
    """The exact mean and variance of a result per hand; the variance is twice that of the mean of a pair."""

    mean: Fraction
    variance: Fraction


def policy_of(name: str) -> Policy:
    bot = bot_factory(BOT_SPECS, name)()
    assert isinstance(bot, MixedBot)
    return {view: bot.policy(view, actions) for view, actions in ACTIONS.items()}


def ends_of(deal: KuhnState, seats: Sequence[Policy]) -> Mapping[KuhnState, Fraction]:
    """The probability of every end that a deal can come to."""
    ends: dict[KuhnState, Fraction] = {}

    def visit(state: KuhnState, chance: Fraction) -> None:
        if state.turn is Turn.OVER:
            ends[state] = chance
        else:
            assert isinstance(state.turn, int)
            for move, probability in seats[state.turn][state.views[state.turn]].items():
                if probability:
                    visit(state.next[move], chance * probability)

    visit(deal, Fraction(1))
    return ends


def pair_distribution(
    bot: Policy, opponent: Policy, *, duplicate: bool
) -> Mapping[tuple[KuhnState, KuhnState], Fraction]:
    """The probability of every pair of ends: with the bot as P_1, and as P_2."""
    pairs: dict[tuple[KuhnState, KuhnState], Fraction] = defaultdict(Fraction)
    deals = [(deal, deal) for deal in DEALS] if duplicate else [*product(DEALS, DEALS)]
    for first, second in deals:
        for (one, chance), (other, rest) in product(
            ends_of(first, (bot, opponent)).items(), ends_of(second, (opponent, bot)).items()
        ):
            pairs[one, other] += chance * rest / len(deals)
    return pairs


def pair_values(
    bot: Policy,
    opponent: Policy,
    *,
    duplicate: bool = False,
    values: Values | None = None,
    known: tuple[bool, bool] = (True, False),
) -> Mapping[Fraction, Fraction]:
    """The probability of each result per hand of a pair, adjusted with the baseline `values`, if given."""
    sums = []
    for seating in (0, 1):
        seats = [bot if known[0] else None, opponent if known[1] else None]
        policies = (seats[seating], seats[1 - seating])
        sums.append(corrections(values, policies) if values else defaultdict(Fraction))
    distribution: dict[Fraction, Fraction] = defaultdict(Fraction)
    for (one, other), chance in pair_distribution(bot, opponent, duplicate=duplicate).items():
        result = one.payoff[0] + sums[0][one] - other.payoff[0] - sums[1][other]
        distribution[result / Fraction(2)] += chance
    return distribution


def exact(
    bot: Policy,
    opponent: Policy,
    *,
    duplicate: bool = False,
    values: Values | None = None,
    known: tuple[bool, bool] = (True, False),
) -> Exact:
    """The exact mean and variance of the result per hand of a bot, adjusted with the baseline `values`, if given."""
    distribution = pair_values(bot, opponent, duplicate=duplicate, values=values, known=known)
    mean = sum((chance * result for result, chance in distribution.items()), Fraction(0))
    variance = sum((chance * (result - mean) ** 2 for result, chance in distribution.items()), Fraction(0))
    return Exact(mean, 2 * variance)
