"""Adjusted results of Kuhn poker have the mean of plain results, exactly, and a smaller variance."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import pytest

from croupier.arena.baselines.kuhn import RANDOM_VALUES, Values, corrections
from croupier.arena.kuhn import walk
from croupier.core.dealer import FairDealer
from croupier.rooms.kuhn.rules import DEALS, START_STATE
from tests.arena.enumeration import OPPONENTS, ends_of, exact, policy_of

EQUILIBRIUM = policy_of("equilibrium")

FACTORS: Mapping[str, tuple[float, float, float]] = {
    "equilibrium": (1.830, 4.94, 7.39),
    "random": (1.972, 3.46, 5.29),
    "book": (1.330, 3.99, 5.18),
    "book:no-jack": (1.909, 13.90, 10.80),
    "book:always-bet": (2.654, 3.81, 6.58),
    "book:never-bet": (0.951, 2.75, 4.99),
    "book:check-call": (2.284, 9.74, 6.39),
}
"""The equilibrium bot, known, against each: the plain variance per hand, and how many times smaller it is with
duplicates, and with duplicates and adjustment. From the prototype of the design."""


def random_baseline(seed: int) -> Values:
    """A baseline without any relation to the game."""
    luck = FairDealer(bytes([seed] * 32)).luck
    return {state: Fraction(luck.below(2000) - 1000, 1 + luck.below(50)) for state in walk(START_STATE)}


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("known", [*product((False, True), repeat=2)])
def test_no_baseline_shifts_the_mean_whatever_is_known(opponent: str, known: tuple[bool, bool]) -> None:
    policy = policy_of(opponent)
    mean = exact(EQUILIBRIUM, policy).mean
    for duplicate in (False, True):
        for values in (RANDOM_VALUES, random_baseline(1), random_baseline(2)):
            assert exact(EQUILIBRIUM, policy, duplicate=duplicate, values=values, known=known).mean == mean


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_the_variances_of_the_equilibrium_bot_are_those_of_the_design(opponent: str) -> None:
    policy = policy_of(opponent)
    plain = exact(EQUILIBRIUM, policy).variance
    duplicate = exact(EQUILIBRIUM, policy, duplicate=True).variance
    both = exact(EQUILIBRIUM, policy, duplicate=True, values=RANDOM_VALUES).variance
    found = (round(float(plain), 3), round(float(plain / duplicate), 2), round(float(plain / both), 2))
    assert found == FACTORS[opponent]
    assert plain / both >= Fraction(49, 10), "as many hands are saved against every beginner's habit"


def test_duplicates_cancel_the_corrections_of_the_deal() -> None:
    policy = policy_of("random")
    duplicate = exact(EQUILIBRIUM, policy, duplicate=True)
    assert exact(EQUILIBRIUM, policy, duplicate=True, values=RANDOM_VALUES, known=(False, False)) == duplicate


def test_a_baseline_that_peeks_at_the_end_of_a_hand_shifts_the_mean() -> None:
    policy = policy_of("random")
    means = set()
    for deal in DEALS:  # values that are chosen after the hand, to suit it
        for end, chance in ends_of(deal, (EQUILIBRIUM, policy)).items():
            peeking = {state: value if state is not end else value + 1 for state, value in RANDOM_VALUES.items()}
            means.add((end, chance * (end.payoff[0] + corrections(peeking, (EQUILIBRIUM, None))[end])))
    shifted = sum((value for _, value in means), Fraction(0)) / len(DEALS)
    plain = sum(
        (chance * end.payoff[0] for deal in DEALS for end, chance in ends_of(deal, (EQUILIBRIUM, policy)).items()),
        Fraction(0),
    ) / len(DEALS)
    assert shifted != plain
