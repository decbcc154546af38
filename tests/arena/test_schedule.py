"""Schedules pair every bot as their names promise."""

from itertools import combinations

import pytest

from croupier.arena.plan import Pairing
from croupier.arena.schedule import round_pairings, rounds


def test_in_a_round_robin_all_meet_once() -> None:
    assert [*round_pairings("round-robin", 4, [], {})] == [*combinations(range(4), 2)]


@pytest.mark.parametrize("bots", range(2, 12))
def test_in_a_swiss_tournament_no_two_meet_twice_and_byes_are_spread(bots: int) -> None:
    played: list[Pairing] = []
    for _ in range(rounds("swiss", bots)):
        pairings = round_pairings("swiss", bots, played, {bot: 1 / (bot + 1) for bot in range(bots)})
        assert len({bot for pairing in pairings for bot in pairing}) == 2 * len(pairings) == bots - bots % 2
        played += pairings
    assert len({*played}) == len(played)
    games = [sum(bot in pairing for pairing in played) for bot in range(bots)]
    assert max(games) - min(games) <= 1


def test_in_a_swiss_tournament_the_best_meet_the_best() -> None:
    winnings = {0: -1.0, 1: 2.0, 2: 1.0, 3: -2.0}
    assert round_pairings("swiss", 4, [], winnings) == [(0, 3), (1, 2)]
    assert round_pairings("swiss", 4, [(1, 2)], winnings) == [(0, 1), (2, 3)]
