"""Leaks: which choices cost a bot how much, compared with the best choice."""

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Leak(Struct, frozen=True):
    """How often a bot made a choice, and the sum of what it cost, in the unit of the results."""

    count: int
    cost: float


class Gain(Struct, frozen=True):
    """What a bot wins more with another choice, in the unit of results.

    `pairs` is the number of pairs of hands in which that was tried; `total` and `squares` are the sum of their values
    and of the squares. `worst` is the most that it has lost by the other choice in a pair, 0 if it has never lost.
    """

    pairs: int
    total: float
    squares: float
    worst: float

    def __add__(self, other: "Gain") -> "Gain":
        return Gain(
            self.pairs + other.pairs,
            self.total + other.total,
            self.squares + other.squares,
            max(self.worst, other.worst),
        )


class Trial(Struct, frozen=True):
    """How often a bot made a choice, and what it wins more with each choice that was tried in its place."""

    count: int
    gains: Mapping[str, Gain]

    def __add__(self, other: "Trial") -> "Trial":
        gains = {**self.gains}
        for choice, gain in other.gains.items():
            gains[choice] = gains[choice] + gain if choice in gains else gain
        return Trial(self.count + other.count, gains)


class LeakLine(Struct, frozen=True, omit_defaults=True):
    """A choice of a bot: its cost per hand in the unit of results, its frequency per hand, and its share of all.

    An estimated cost has an interval, from `low` to `high`, and the `better` choice with which it was compared. It has
    no share: each cost is that of one choice while all others stay, so they do not add up.
    """

    choice: str
    cost: float
    frequency: float
    share: float | None = None
    better: str = ""
    low: float | None = None
    high: float | None = None


def leak_lines(leaks: Mapping[str, Leak], hands: int) -> Sequence[LeakLine]:
    """The choices of a bot that cost it anything in `hands` hands, the most expensive first."""
    total = sum(leak.cost for leak in leaks.values())
    lines = [
        LeakLine(choice, leak.cost / hands, leak.count / hands, leak.cost / total)
        for choice, leak in leaks.items()
        if leak.cost > 0
    ]
    return sorted(lines, key=lambda line: (-line.cost, line.choice))
