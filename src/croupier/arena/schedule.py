"""Schedules: which pairings are played."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil, comb, log2

from croupier.arena.plan import Pairing, Schedule


def rounds(schedule: Schedule, bots: int) -> int:
    """The number of rounds. Only the Swiss schedule has several: as many as a knock-out tournament.

    >>> rounds("swiss", 5), rounds("round-robin", 5)
    (3, 1)
    """
    return ceil(log2(bots)) if schedule == "swiss" else 1


def count_pairings(schedule: Schedule, bots: int) -> int:
    """The number of pairings of all rounds, at most.

    >>> count_pairings("swiss", 5), count_pairings("round-robin", 5)
    (6, 10)
    """
    if schedule == "swiss":
        return min(rounds(schedule, bots) * (bots // 2), comb(bots, 2))
    return len(round_pairings(schedule, bots, [], {}))


def round_pairings(
    schedule: Schedule, bots: int, played: Sequence[Pairing], winnings: Mapping[int, float]
) -> Sequence[Pairing]:
    """The pairings of the next round, given those `played` and the mean winnings of each bot so far.

    In the Swiss schedule, bots with similar winnings meet, but no two bots meet twice; with an odd number of bots,
    the last of those with the most games is left out.

    >>> round_pairings("gauntlet", 3, [], {})
    [(0, 1), (0, 2)]
    >>> round_pairings("swiss", 4, [(0, 1), (2, 3)], {0: 1.0, 1: -1.0, 2: 0.5, 3: -0.5})
    [(0, 2), (1, 3)]
    """
    match schedule:
        case "round-robin":
            return [*combinations(range(bots), 2)]
        case "gauntlet":
            return [(0, other) for other in range(1, bots)]
        case "swiss":
            return _swiss_round(bots, {*played}, winnings)


def _swiss_round(bots: int, played: set[Pairing], winnings: Mapping[int, float]) -> Sequence[Pairing]:
    games = {bot: sum(bot in pairing for pairing in played) for bot in range(bots)}
    ranking = sorted(range(bots), key=lambda bot: (-winnings.get(bot, 0.0), bot))
    last_first = ranking[::-1]
    byes = sorted(last_first, key=games.__getitem__, reverse=True) if bots % 2 else [None]
    for bye in byes:
        found = _match([bot for bot in ranking if bot != bye], played)
        if found is not None:
            return sorted(found)
    return []


def _match(ranking: Sequence[int], played: set[Pairing]) -> Sequence[Pairing] | None:
    """Pair the first with the next that it has not met, and so on; None if that is impossible."""
    if not ranking:
        return []
    first, *others = ranking
    for other in others:
        pairing = (min(first, other), max(first, other))
        if pairing not in played:
            rest = _match([bot for bot in others if bot != other], played)
            if rest is not None:
                return [pairing, *rest]
    return None
