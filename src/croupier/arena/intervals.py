"""Confidence intervals for means: for a fixed number of values, and valid after any number."""

from math import inf, log, sqrt
from typing import NamedTuple

from croupier.arena.tally import Moments


class Interval(NamedTuple):
    """An interval for a mean."""

    mean: float
    low: float
    high: float

    @property
    def is_decided(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


def student_interval(moments: Moments, alpha: float = 0.05) -> Interval:
    """Student's interval with the confidence 1 − `alpha`, if the number of values did not depend on them.

    It is infinite for fewer than two values. Raises ModuleNotFoundError without scipy (the extra `arena`).
    """
    if moments.count < 2:
        return Interval(moments.mean, -inf, inf)
    quantile = student_quantile(moments.count, alpha)
    return interval_around(moments.mean, quantile * sqrt(moments.variance / moments.count))


def student_quantile(count: int, alpha: float) -> float:
    """The half width of Student's interval for the mean of `count` values, two or more, in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1 - alpha / 2))


def sequence_interval(moments: Moments, alpha: float = 0.05, t_star: int = 1000) -> Interval:
    """The interval of an asymptotic confidence sequence with the confidence 1 − `alpha`.

    With this probability it holds the mean after every number of values at once, so it is valid wherever one stops. It
    is narrowest, compared with intervals for fixed numbers, after about `t_star` values. It is infinite for fewer than
    two. I. Waudby-Smith et al., "Time-uniform central limit theory and asymptotic confidence sequences", Annals of
    Statistics 52 (2024), theorem 2.2 (the Gaussian mixture boundary) and its choice of rho for a time t*.
    """
    if moments.count < 2:
        return Interval(moments.mean, -inf, inf)
    rho_squared = (-2 * log(alpha) + log(1 - 2 * log(alpha))) / t_star
    scale = moments.count * rho_squared + 1
    boundary = sqrt(2 * scale / (moments.count**2 * rho_squared) * log(sqrt(scale) / alpha))
    return interval_around(moments.mean, sqrt(moments.variance) * boundary)


def interval_around(mean: float, radius: float) -> Interval:
    """The interval of half the width `radius`."""
    return Interval(mean, mean - radius, mean + radius)
