"""Ratings find known strengths with honest intervals, and depend on the results alone, not on their order."""

from itertools import combinations
from math import exp, inf, log, sqrt
from random import Random

import numpy as np
import pytest

from croupier.arena import ratings
from croupier.arena.intervals import student_interval
from croupier.arena.plan import Pairing, Plan
from croupier.arena.ratings import clustered_interval, mean_winnings, rate, standings
from croupier.arena.series import Series
from croupier.arena.tally import Fault, Moments, Tally, moments_of

STRENGTHS = (1.5, 0.5, -0.5, -1.5)


def simulate(matches: int, seed: int) -> dict[Pairing, list[float]]:
    """Matches of bots with known strengths, whose forms in a match (Gumbel) are those of all their pairings."""
    forms = np.random.default_rng(seed).gumbel(size=(matches, len(STRENGTHS))) + STRENGTHS
    return {
        (one, other): [float(form[one] > form[other]) for form in forms]
        for one, other in combinations(range(len(STRENGTHS)), 2)
    }


def series_of(plan: Plan, pairing: Pairing, chunks: list[Tally]) -> Series:
    series = Series(plan, pairing)
    for number, tally in enumerate(chunks):
        series.add(number, tally)
    return series


def chunk(*results: float) -> Tally:
    return Tally(len(results), plain=moments_of((result, 1) for result in results))


def test_known_strengths_are_recovered() -> None:
    found = rate(4, simulate(4000, seed=1), seed=1)
    assert [each.mean for each in found] == pytest.approx(STRENGTHS, abs=0.1)
    assert all(each.low < truth < each.high for each, truth in zip(found, STRENGTHS, strict=True))
    assert all(0.03 < each.high - each.mean < 0.15 for each in found)


@pytest.mark.extended
def test_the_intervals_of_few_matches_hold_the_strengths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "RESAMPLES", 200)
    held = [
        each.low < truth < each.high
        for seed in range(20)
        for each, truth in zip(rate(4, simulate(30, seed), seed=seed), STRENGTHS, strict=True)
    ]
    assert sum(held) >= 0.9 * len(held)


@pytest.mark.parametrize(("won", "lost"), [(50, 0), (30, 20), (1, 0), (0, 7)])
def test_the_interval_of_two_bots_is_that_of_jeffreys(won: int, lost: int) -> None:
    from scipy.special import betaincinv  # takes long to import, so only where it is used

    strong, weak = rate(2, {(0, 1): [1.0] * won + [0.0] * lost}, seed=3)
    chances = [1 / (1 + exp(-2 * bound)) for bound in (strong.low, strong.high)]
    assert chances == pytest.approx([betaincinv(won + 0.5, lost + 0.5, q) for q in (0.025, 0.975)], abs=0.04)
    assert 2 * strong.mean == pytest.approx(log((won + 0.5) / (lost + 0.5)), abs=0.1)
    assert (weak.low, weak.mean, weak.high) == pytest.approx((-strong.high, -strong.mean, -strong.low))


@pytest.mark.extended
def test_the_order_of_the_results_does_not_matter() -> None:
    scores = simulate(60, seed=2)
    mixed = [*range(60)]
    Random(1).shuffle(mixed)
    other = {pairing: [matches[number] for number in mixed] for pairing, matches in reversed(scores.items())}
    found, again = rate(4, scores, seed=1), rate(4, other, seed=1)
    assert [each.mean for each in again] == pytest.approx([each.mean for each in found])
    for one, two in zip(found, again, strict=True):
        assert (two.low, two.high) == pytest.approx((one.low, one.high), abs=0.2), "the weights fall on other matches"


def test_many_fits_at_once_are_those_of_choix() -> None:
    from choix import ilsr_pairwise_dense  # takes long to import, so only where it is used

    random = np.random.default_rng(5)
    wins = random.integers(0, 30, (50, 6, 6)) * (random.random((50, 6, 6)) < 0.6) * (1.0 - np.eye(6))
    wins[0] = 0.0
    expected = [ilsr_pairwise_dense(each, ratings.REGULARIZATION, max_iter=10_000) for each in wins]
    assert ratings.fit_all(wins, np.zeros(6)) == pytest.approx(np.array(expected), abs=1e-6)


def test_a_search_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "MAX_ITERATIONS", 1)
    with pytest.raises(RuntimeError, match="strengths have not converged after 1 steps"):
        ratings.fit_all(np.array([[[0.0, 9.0], [1.0, 0.0]]]), np.zeros(2))


def test_a_bot_that_never_loses_has_a_finite_strength_above_the_others() -> None:
    scores = {(0, 1): [1.0] * 30, (0, 2): [1.0] * 30, (1, 2): [1.0, 0.0] * 15}
    found = rate(3, scores, seed=1)
    assert found[0].mean > found[0].low > found[1].high
    assert found[0].high < 20
    assert found[1].mean == pytest.approx(found[2].mean)


def test_ties_are_half_a_win_of_both() -> None:
    ties, wins = rate(2, {(0, 1): [0.5] * 20}, seed=1), rate(2, {(0, 1): [1.0, 0.0] * 10}, seed=1)
    assert ties[0].mean == pytest.approx(0) == wins[0].mean


def test_a_bot_that_has_not_met_anybody_may_be_of_any_strength() -> None:
    better, worse, unknown = rate(3, {(0, 1): [1.0] * 9 + [0.0]}, seed=1)
    assert worse.mean < unknown.mean < better.mean


@pytest.mark.extended
def test_the_same_plan_has_the_same_intervals() -> None:
    scores = simulate(20, seed=1)
    assert rate(4, scores, seed=7) == rate(4, scores, seed=7) != rate(4, scores, seed=8)


def test_the_interval_over_clusters_is_students_where_all_samples_are_of_one_length() -> None:
    samples = [[1.0, 3.0, 2.0, 5.0], [0.0, 4.0, 2.0, 2.5]]
    averages = [(one + other) / 2 for one, other in zip(*samples, strict=True)]
    expected = student_interval(moments_of((value, 1) for value in averages))
    assert clustered_interval(samples, 0.05) == pytest.approx(expected)
    assert clustered_interval([[1.0], [2.0]], 0.05) == (1.5, -inf, inf)


@pytest.mark.extended
@pytest.mark.parametrize("lengths", [(20, 20, 20), (20, 40, 60)])
def test_the_interval_over_clusters_covers_the_mean_where_samples_depend_on_each_other(
    lengths: tuple[int, int, int],
) -> None:
    random = Random(5)
    matches, held = 2000, 0
    for _ in range(matches):
        shared = [random.gauss(0, 1) for _ in range(max(lengths))]
        samples = [[luck + random.gauss(0, 0.5) for luck in shared[:length]] for length in lengths]
        _, low, high = clustered_interval(samples, 0.05)
        held += low < 0 < high
    assert abs(held / matches - 0.95) < 3 * sqrt(0.95 * 0.05 / matches)


def test_mean_winnings_of_one_pairing_are_those_of_the_pairing() -> None:
    plan = Plan("kuhn", ("random", "book"), pairs=200, seed=1)
    series = series_of(plan, (0, 1), [chunk(1, 2, 0, 1), chunk(0, -1, 1, 3)])
    _, low, high = series.interval()
    assert mean_winnings(0, [series]) == pytest.approx(series.interval())
    assert mean_winnings(1, [series])[1:] == pytest.approx((-high, -low))


def test_mean_winnings_that_were_stopped_are_as_sure_as_all_their_pairings_at_once() -> None:
    plan = Plan("kuhn", ("random", "book", "book"), pairs=200, seed=1, until_sure=True)
    parts = [series_of(plan, (0, other), [chunk(1, 2, 0, 1), chunk(0, -1, 1, 3)]) for other in (1, 2)]
    single = parts[0].interval(plan.alpha / 2)
    assert mean_winnings(0, parts) == pytest.approx(single)
    assert single.high > parts[0].interval().high


@pytest.mark.extended
def test_bots_are_ranked_by_winnings_and_bots_that_forfeit_are_last() -> None:
    plan = Plan("kuhn", ("random", "book", "equilibrium"), pairs=300, seed=1)
    forfeit = Tally(0, faults=(Fault(0, 401, "no move"),), forfeit=0)
    played = [
        series_of(plan, (0, 1), [chunk(5, 4), chunk(6, 5), forfeit]),
        series_of(plan, (0, 2), [chunk(5, 4), chunk(6, 5)]),
        series_of(plan, (1, 2), [chunk(1, -1), chunk(3, -1)]),
    ]
    ranked = standings(plan, played)
    assert [each.bot for each in ranked] == ["book", "equilibrium", "random"]
    assert [each.forfeits for each in ranked] == [0, 0, 1]
    assert ranked[2].mean == pytest.approx(5)
    assert ranked[2].hands == 16
    assert standings(plan, played[::-1]) == ranked


def test_a_pairing_without_hands_has_no_mean_and_one_of_one_value_no_interval() -> None:
    plan = Plan("kuhn", ("random", "book", "equilibrium"), pairs=200, seed=1)
    ranked = standings(plan, [series_of(plan, (0, 1), [chunk(2)]), series_of(plan, (1, 2), [])])
    assert [(each.bot, each.mean, each.low) for each in ranked] == [
        ("random", 2.0, None),
        ("book", -2.0, None),
        ("equilibrium", None, None),
    ]


def test_moments_with_the_rounding_errors_of_adjusted_results_are_a_tie() -> None:
    plan = Plan("kuhn", ("random", "book"), pairs=200, seed=1)
    tally = Tally(2, plain=Moments(2, 1.0, 1.0), adjusted=Moments(2, 1e-14, 1.0))
    first, second = standings(plan, [series_of(plan, (0, 1), [tally])])
    assert first.strength == pytest.approx(second.strength)
