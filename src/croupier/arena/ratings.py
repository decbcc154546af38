"""Ratings: what every bot of a tournament wins on average, and its strength by the model of Bradley and Terry."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import fsum, inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from croupier.arena.deals import stream_seed
from croupier.arena.intervals import Interval, interval_around, student_quantile
from croupier.arena.plan import Pairing, Plan
from croupier.arena.series import Series

if TYPE_CHECKING:  # of the extra `arena`
    import numpy as np

    type Floats = np.ndarray[Any, np.dtype[np.float64]]

REGULARIZATION: Final = 0.01
"""What choix adds to the rates of all wins, so that bots that did not meet have comparable strengths."""

MAX_ITERATIONS: Final = 10_000
TOLERANCE: Final = 1e-8
"""The search for strengths ends when the sum of their changes is at most this, as in choix."""

RESAMPLES: Final = 1000
TIE: Final = 1e-9
"""A match whose result is nearer to 0 is a tie: adjusted results have rounding errors."""

PRIOR_WINS: Final = 0.5
"""The wins that both bots of a pairing have before their matches: Jeffreys' prior for the probability of a win."""


class Standing(Struct, frozen=True):
    """The place of a bot. `index` is its position in the plan.

    `mean` is what it wins in the unit of the results, the average over its pairings, each with the same weight; None
    without any hands. Its interval, `low` and `high`, is None where there are too few values.

    `strength` is in log odds: a bot beats another in a match, which is a chunk, with the odds e^(difference). The
    average of all bots is 0. `forfeits` counts the pairings in which the bot could not go on.
    """

    bot: str
    index: int
    hands: int
    forfeits: int
    mean: float | None
    low: float | None
    high: float | None
    strength: float
    strength_low: float
    strength_high: float


def standings(plan: Plan, all_series: Collection[Series]) -> Sequence[Standing]:
    """All bots of a tournament: those that have forfeited last, others by their mean winnings.

    Raises ModuleNotFoundError without the extra `arena`.
    """
    scores = {series.pairing: [*_scores(series)] for series in all_series}
    seed = int.from_bytes(stream_seed(plan, "bootstrap"))
    strengths = rate(len(plan.bots), scores, seed=seed, alpha=plan.alpha)
    found = [
        _standing(plan, bot, [series for series in all_series if bot in series.pairing], strength)
        for bot, strength in enumerate(strengths)
    ]
    return sorted(found, key=lambda each: (each.forfeits > 0, each.mean is None, -(each.mean or 0.0), each.index))


def _standing(plan: Plan, bot: int, all_series: Sequence[Series], strength: Interval) -> Standing:
    with_hands = [series for series in all_series if any(tally.pairs for tally in series.tallies)]
    winnings = mean_winnings(bot, with_hands) if with_hands else None
    has_interval = winnings is not None and isfinite(winnings.low)
    return Standing(
        bot=plan.bots[bot],
        index=bot,
        hands=sum(2 * tally.pairs for series in with_hands for tally in series.tallies),
        forfeits=sum(series.forfeit == bot for series in all_series),
        mean=winnings.mean if winnings else None,
        low=winnings.low if winnings and has_interval else None,
        high=winnings.high if winnings and has_interval else None,
        strength=strength.mean,
        strength_low=strength.low,
        strength_high=strength.high,
    )


def mean_winnings(bot: int, all_series: Sequence[Series]) -> Interval:
    """The average of what a bot wins in each of its pairings, which have played hands, with its interval.

    Pairings share the deals of a chunk, so the values of a chunk are taken together, and the interval is Student's over
    chunks. Where pairings end when they are decided, it is the average of their intervals, each with a part of alpha:
    with the confidence 1 − alpha all of them hold at once. That of a single pairing is the pairing's own.
    """
    signs = [1 if series.pairing[0] == bot else -1 for series in all_series]
    plan = all_series[0].plan
    if len(all_series) == 1 or plan.until_sure:
        parts = [series.interval(plan.alpha / len(all_series)) for series in all_series]
        mean = fsum(sign * part.mean for sign, part in zip(signs, parts, strict=True)) / len(parts)
        return interval_around(mean, fsum(part.high - part.mean for part in parts) / len(parts))
    chunk_means = [
        [sign * tally.result.mean for tally in series.tallies if tally.pairs]
        for sign, series in zip(signs, all_series, strict=True)
    ]
    return clustered_interval(chunk_means, plan.alpha)


def clustered_interval(samples: Sequence[Sequence[float]], alpha: float) -> Interval:
    """The average of the means of several samples, with Student's interval over clusters: their first, second … values.

    It is that of the clusters' averages if all samples are of one length. It is infinite if one has fewer than two.
    """
    means = [fsum(sample) / len(sample) for sample in samples]
    mean = fsum(means) / len(means)
    shortest, longest = min(map(len, samples)), max(map(len, samples))
    if shortest < 2:
        return interval_around(mean, inf)
    deviations = (
        fsum((s[n] - m) / (len(s) * len(samples)) for s, m in zip(samples, means, strict=True) if n < len(s))
        for n in range(longest)
    )
    variance = fsum(each * each for each in deviations) * longest / (longest - 1)
    return interval_around(mean, student_quantile(shortest, alpha) * sqrt(variance))


def rate(bots: int, scores: Mapping[Pairing, Sequence[float]], *, seed: int, alpha: float = 0.05) -> Sequence[Interval]:
    """The strengths of bots by the model of Bradley and Terry, with intervals by a Bayesian bootstrap over matches.

    `scores` has the matches of each pairing: 1 if the first bot has won, 0 if it has lost, 0.5 for a tie, which counts
    as half a win of both. The n-th matches of all pairings may depend on each other: they share a random weight
    (D. B. Rubin, "The Bayesian bootstrap", 1981). The interval of two bots is close to Jeffreys',
    also if one has never lost: then its upper bound is as large as regularization lets it be.
    """
    import numpy as np
    from choix import ilsr_pairwise_dense

    pairings = sorted(scores)
    won = _columns([scores[pairing] for pairing in pairings])
    lost = _columns([[1 - score for score in scores[pairing]] for pairing in pairings])
    random = np.random.default_rng(seed)

    everything = _win_matrix(bots, pairings, won.sum(axis=0) + PRIOR_WINS, lost.sum(axis=0) + PRIOR_WINS)
    strengths = ilsr_pairwise_dense(everything, REGULARIZATION, max_iter=MAX_ITERATIONS)
    weighed = (_weigh(random, won, lost) for _ in range(RESAMPLES))
    resampled = fit_all(np.array([_win_matrix(bots, pairings, *each) for each in weighed]), strengths)
    lows, highs = np.quantile(resampled, [alpha / 2, 1 - alpha / 2], axis=0)
    return [Interval(*map(float, each)) for each in zip(strengths, lows, highs, strict=True)]


def _weigh(random: "np.random.Generator", won: "Floats", lost: "Floats") -> "tuple[Floats, Floats]":
    """The wins of the first and the second bots, where all matches and prior wins have random weights of mean 1."""
    weights = random.standard_exponential(len(won))
    prior = random.standard_gamma(PRIOR_WINS, (2, won.shape[1]))
    return weights @ won + prior[0], weights @ lost + prior[1]


def _columns(samples: Sequence[Sequence[float]]) -> "Floats":
    """Samples as the columns of a matrix, with zeros below the shorter ones."""
    import numpy as np

    matrix = np.zeros((max(map(len, samples), default=0), len(samples)))
    for column, sample in enumerate(samples):
        matrix[: len(sample), column] = sample
    return matrix


def _win_matrix(bots: int, pairings: Sequence[Pairing], won: "Floats", lost: "Floats") -> "Floats":
    """How often each bot (row) has beaten each other one (column), by the wins in every pairing."""
    import numpy as np

    wins = np.zeros((bots, bots))
    for (first, second), first_wins, second_wins in zip(pairings, won, lost, strict=True):
        wins[first, second], wins[second, first] = first_wins, second_wins
    return wins


def fit_all(wins: "Floats", start: "Floats") -> "Floats":
    """The strengths by many matrices of wins, a row for each, as choix finds them one by one.

    The algorithm is that of `choix.ilsr_pairwise_dense` (L. Maystre, M. Grossglauser, "Fast and accurate inference of
    Plackett-Luce models", 2015), with one step for all matrices at a time: strengths are the logarithms of the
    stationary distribution of a Markov chain whose rates depend on them. The search begins at `start`. Raises
    RuntimeError if it does not converge.
    """
    import numpy as np

    count, bots, _ = wins.shape
    lost, strengths = wins.transpose(0, 2, 1), np.broadcast_to(start, (count, bots))
    total = np.zeros((count, bots, 1))
    total[:, -1] = bots
    diagonal = np.arange(bots)
    for _ in range(MAX_ITERATIONS):
        weights = np.exp(strengths)
        weights *= bots / weights.sum(axis=1, keepdims=True)
        rates = REGULARIZATION + lost / (weights[:, :, None] + weights[:, None, :])
        rates[:, diagonal, diagonal] -= rates.sum(axis=2)
        equations = rates.transpose(0, 2, 1)
        equations[:, -1] = 1.0  # of the equations for the distribution one follows from the others: it adds up to this
        found = np.log(np.linalg.solve(equations, total)[:, :, 0])
        found -= found.mean(axis=1, keepdims=True)
        if np.abs(found - strengths).sum(axis=1).max() <= TOLERANCE:
            return found
        strengths = found
    raise RuntimeError(f"strengths have not converged after {MAX_ITERATIONS:,} steps")


def _scores(series: Series) -> Iterator[float]:
    """The results of the first bot in the matches of a pairing; one that a bot forfeits is lost."""
    for tally in series.tallies:
        if tally.forfeit is not None:
            yield float(tally.forfeit)
        elif abs(tally.result.total) < TIE:
            yield 0.5
        else:
            yield float(tally.result.total > 0)
