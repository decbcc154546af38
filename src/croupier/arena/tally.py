"""Tallies: what is kept of the hands of a chunk, and how the tallies of several chunks merge."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import ClassVar, Final

from msgspec import Struct

from croupier.arena.leaks import Leak, Trial
from croupier.core.stored import Stored

DECIMALS: Final = 12
"""The decimals of the results of pairs."""


class Moments(Struct, frozen=True):
    """The number, the sum and the sum of squares of values. The moments of several parts are added in their order."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """The mean of the values, 0 without any."""
        return self.total / self.count if self.count else 0.0

    @property
    def variance(self) -> float:
        """The unbiased estimate of their variance, 0 for fewer than two."""
        if self.count < 2:
            return 0.0
        return max(0.0, self.squares - self.total * self.total / self.count) / (self.count - 1)


def moments_of(values: Iterable[tuple[float, int]]) -> Moments:
    """The moments of values, each with the number of its occurrences.

    They are rounded, so that a rounding error is not taken for a difference between bots that play equally well.
    """
    pairs = [(round(value, DECIMALS), count) for value, count in values]
    return Moments(
        sum(count for _, count in pairs),
        fsum(value * count for value, count in pairs),
        fsum(value * value * count for value, count in pairs),
    )


class Fault(Struct, frozen=True):
    """A fault of a bot (0 or 1: the first or second of the pairing) in a hand of the pairing, counted from 1."""

    bot: int
    hand: int
    reason: str


class Tally(Stored, frozen=True):
    """The results of the first bot of a pairing, over pairs of hands.

    `plain` and `adjusted` have the moments of its result per hand, one value for each pair; `adjusted` is None without
    a baseline. `ends` counts the pairs by where both hands ended, in games with a finite tree. `leaks` has the choices
    of each bot by description, in games whose values are known exactly, and `trials` those in whose place others were
    tried. `known` says which of the bots published its probabilities. `forfeit` is the bot that could not go on, if one
    could not; then nothing but its faults counts.
    """

    MALFORMED: ClassVar[str] = "a malformed tally"

    pairs: int
    plain: Moments = Moments()
    adjusted: Moments | None = None
    ends: Mapping[int, int] = {}
    leaks: tuple[Mapping[str, Leak], Mapping[str, Leak]] = ({}, {})
    trials: tuple[Mapping[str, Trial], Mapping[str, Trial]] = ({}, {})
    known: tuple[bool, bool] = (False, False)
    faults: tuple[Fault, ...] = ()
    forfeit: int | None = None

    @property
    def result(self) -> Moments:
        """The moments that count: the adjusted ones if there are any."""
        return self.plain if self.adjusted is None else self.adjusted


def merge(tallies: Sequence[Tally]) -> Tally:
    """One tally of all chunks, given in the order of their numbers."""
    ends: dict[int, int] = {}
    for tally in tallies:
        for key, count in tally.ends.items():
            ends[key] = ends.get(key, 0) + count
    adjusted = [tally.adjusted for tally in tallies if tally.adjusted is not None]
    return Tally(
        pairs=sum(tally.pairs for tally in tallies),
        plain=sum((tally.plain for tally in tallies), Moments()),
        adjusted=sum(adjusted, Moments()) if adjusted else None,
        ends=dict(sorted(ends.items())),
        leaks=(_merge_leaks(tallies, 0), _merge_leaks(tallies, 1)),
        trials=(_merge_trials(tallies, 0), _merge_trials(tallies, 1)),
        known=tallies[0].known if tallies else (False, False),
        faults=tuple(fault for tally in tallies for fault in tally.faults),
        forfeit=next((tally.forfeit for tally in tallies if tally.forfeit is not None), None),
    )


def _merge_leaks(tallies: Sequence[Tally], bot: int) -> Mapping[str, Leak]:
    parts: dict[str, list[Leak]] = {}
    for tally in tallies:
        for choice, leak in tally.leaks[bot].items():
            parts.setdefault(choice, []).append(leak)
    return {
        choice: Leak(sum(leak.count for leak in leaks), fsum(leak.cost for leak in leaks))
        for choice, leaks in sorted(parts.items())
    }


def _merge_trials(tallies: Sequence[Tally], bot: int) -> Mapping[str, Trial]:
    trials: dict[str, Trial] = {}
    for tally in tallies:
        for choice, trial in tally.trials[bot].items():
            trials[choice] = trials[choice] + trial if choice in trials else trial
    return trials
