"""Leaks: which choices cost a bot how much, compared with the best choice."""

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Leak(Struct, frozen=True):
    """How often a bot made a choice, and the sum of what it cost, in the unit of the results."""

    count: int
    cost: float


class LeakLine(Struct, frozen=True):
    """A choice of a bot: its cost per hand in the unit of results, its frequency per hand, and its share of all."""

    choice: str
    cost: float
    frequency: float
    share: float


def leak_lines(leaks: Mapping[str, Leak], hands: int) -> Sequence[LeakLine]:
    """The choices of a bot that cost it anything in `hands` hands, the most expensive first."""
    total = sum(leak.cost for leak in leaks.values())
    lines = [
        LeakLine(choice, leak.cost / hands, leak.count / hands, leak.cost / total)
        for choice, leak in leaks.items()
        if leak.cost > 0
    ]
    return sorted(lines, key=lambda line: (-line.cost, line.choice))
