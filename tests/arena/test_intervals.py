"""Intervals have the coverage that they promise: fixed ones at any number, sequences at all numbers at once."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from math import inf, isclose, log, sqrt

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from croupier.arena.bank import BankGame
from croupier.arena.baselines.kuhn import RANDOM_VALUES
from croupier.arena.intervals import Interval, sequence_interval, student_interval
from croupier.arena.kuhn import KuhnGame
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.series import MIN_CHUNKS, Series
from croupier.arena.tally import Moments, Tally, moments_of
from tests.arena.enumeration import OPPONENTS, exact, pair_values, policy_of
from tests.sampling import extended

METHODS = {
    "plain": (False, None),
    "duplicate": (True, None),
    "adjusted": (False, RANDOM_VALUES),
    "both": (True, RANDOM_VALUES),
}


def test_students_interval_is_that_of_a_textbook() -> None:
    moments = moments_of([(1.0, 1), (2.0, 1), (3.0, 1), (4.0, 1), (5.0, 1)])
    assert (moments.mean, moments.variance) == (3.0, 2.5)
    interval = student_interval(moments)
    assert isclose(interval.high - 3, 2.7764451051977987 * sqrt(2.5 / 5))  # the table of t with 4 degrees of freedom
    assert isclose(3 - interval.low, interval.high - 3)


def test_an_interval_of_fewer_than_two_values_is_infinite() -> None:
    for moments in (Moments(), Moments(1, 2.0, 4.0)):
        assert student_interval(moments)[1:] == sequence_interval(moments)[1:] == (-inf, inf)


def test_a_sequence_is_the_boundary_of_robbins_mixture() -> None:
    moments = Moments(1000, 0.0, 999.0)  # variance 1
    rho = sqrt((-2 * log(0.05) + log(1 - 2 * log(0.05))) / 1000)
    assert isclose(rho**2 * 1000, 7.936, abs_tol=0.001)
    expected = sqrt(2 * (1000 * rho**2 + 1) / (1000 * rho) ** 2 * log(sqrt(1000 * rho**2 + 1) / 0.05))
    assert isclose(sequence_interval(moments).high, expected)
    assert not sequence_interval(moments).is_decided


def test_a_sequence_is_narrowest_near_t_star() -> None:
    moments = Moments(1000, 0.0, 999.0)
    widths = {t_star: sequence_interval(moments, t_star=t_star).high for t_star in (10, 500, 1000, 2000, 100_000)}
    assert min(widths, key=widths.__getitem__) == 1000


def draw_pairs(opponent: str, method: str, shape: tuple[int, int], seed: int) -> tuple[float, NDArray[np.float64]]:
    """The exact mean of the equilibrium bot, and results of pairs drawn from their exact distribution."""
    duplicate, values = METHODS[method]
    distribution = pair_values(policy_of("equilibrium"), policy_of(opponent), duplicate=duplicate, values=values)
    mean = float(sum(value * chance for value, chance in distribution.items()))
    draws = np.random.default_rng(seed).choice(
        np.array([float(value) for value in distribution]), shape, p=np.array([float(p) for p in distribution.values()])
    )
    return mean, draws


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("opponent", extended(sorted(OPPONENTS, key="book:always-bet".__ne__), len(OPPONENTS)))
def test_fixed_intervals_cover_the_mean_in_94_to_96_percent_of_matches(opponent: str, method: str) -> None:
    matches, pairs = 10_000, 300
    mean, draws = draw_pairs(opponent, method, (matches, pairs), 1)
    covered = 0
    for match in draws:
        interval = student_interval(Moments(pairs, float(match.sum()), float((match * match).sum())))
        covered += interval.low <= mean <= interval.high
    assert 0.94 <= covered / matches <= 0.96


def sequence_coverage(mean: float, draws: NDArray[np.float64], first: int, t_star: int = 1000) -> tuple[float, float]:
    """How often sequences never missed the mean from value `first` on, and how often they held it where they stopped.

    A match stops when 0 is excluded, or at its end.
    """
    counts = np.arange(1, draws.shape[1] + 1)
    sums, squares = draws.cumsum(axis=1), (draws * draws).cumsum(axis=1)
    means = (sums / counts)[:, first - 1 :]
    deviations = np.sqrt(np.maximum(squares - sums * sums / counts, 0)[:, first - 1 :] / (counts - 1)[first - 1 :])
    radii = deviations * [
        sequence_interval(Moments(int(n), 0.0, float(n - 1)), t_star=t_star).high for n in counts[first - 1 :]
    ]
    misses, decided = np.abs(means - mean) > radii, np.abs(means) > radii
    stops = np.where(decided.any(axis=1), decided.argmax(axis=1), decided.shape[1] - 1)
    missed_at_stop = misses[np.arange(len(stops)), stops]
    return float(1 - misses.any(axis=1).mean()), float(1 - missed_at_stop.mean())


@pytest.mark.extended
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("opponent", OPPONENTS)
def test_sequences_cover_the_mean_at_the_stop_and_never_miss_it(opponent: str, method: str) -> None:
    mean, draws = draw_pairs(opponent, method, (2_000, 3_000), 2)
    never_missed, at_stop = sequence_coverage(mean, draws, first=KuhnGame.min_pairs)
    assert min(never_missed, at_stop) >= 0.94


@pytest.mark.extended
def test_sequences_cover_the_skewed_adjusted_results_of_blackjack() -> None:
    plan = Plan("blackjack", ("exact", "book"), pairs=1, chunk_pairs=1, seed=1, duplicate=True, adjust="any")
    results = np.array([play_chunk(plan, (0, 1), chunk).result.total for chunk in range(10_000)])
    draws = np.random.default_rng(4).choice(results, (2_000, 3_000))
    never_missed, at_stop = sequence_coverage(float(results.mean()), draws, first=BankGame.min_pairs)
    assert min(never_missed, at_stop) >= 0.94


def interval_at_the_stop(plan: Plan, tallies: Sequence[Tally]) -> Interval:
    """The interval of a match where it ends, at the latest after these chunks."""
    series = Series(plan, (0, 1))
    for chunk, tally in enumerate(tallies):
        series.add(chunk, tally)
    return series.interval()


@pytest.mark.extended
@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("opponent", OPPONENTS)
def test_intervals_of_played_matches_cover_the_mean(opponent: str, duplicate: bool) -> None:
    """2,000 matches of three chunks, and each chunk as a match of fixed length; all of them plain and adjusted."""
    matches = 2_000
    plan = Plan(
        "kuhn", ("equilibrium", opponent), pairs=900, chunk_pairs=300, seed=0, duplicate=duplicate, adjust="any"
    )
    until_sure = replace(plan, until_sure=True)
    mean = float(exact(policy_of("equilibrium"), policy_of(opponent)).mean)
    covered: Counter[tuple[str, str]] = Counter()
    for seed in range(matches):
        played = [play_chunk(replace(plan, seed=seed), (0, 1), chunk) for chunk in range(plan.chunks)]
        plain = [replace(tally, adjusted=None) for tally in played]
        for method, tallies in {"adjusted": played, "plain": plain}.items():
            fixed = [student_interval(tally.result) for tally in tallies]
            running = [sequence_interval(moments) for moments in accumulate(tally.result for tally in tallies)]
            stop = interval_at_the_stop(until_sure, tallies)
            covered[method, "fixed"] += sum(low <= mean <= high for _, low, high in fixed)
            covered[method, "never missed"] += all(low <= mean <= high for _, low, high in running)
            covered[method, "at the stop"] += stop.low <= mean <= stop.high
    for method in ("adjusted", "plain"):
        assert 0.94 <= covered[method, "fixed"] / (matches * plan.chunks) <= 0.96
        assert min(covered[method, "never missed"], covered[method, "at the stop"]) / matches >= 0.94


def test_sequences_of_chunks_may_begin_with_20() -> None:
    draws = np.random.default_rng(3).standard_normal((3_000, 1_000))
    never_missed, at_stop = sequence_coverage(0.0, draws, first=MIN_CHUNKS, t_star=10)
    assert min(never_missed, at_stop) >= 0.94
