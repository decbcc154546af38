"""Tournaments play all pairings of their schedule, and go on from chunks that were played before."""

from itertools import combinations
from math import inf
from pathlib import Path

import pytest

from croupier.arena.plan import Plan
from croupier.arena.runner import Job, SerialRunner
from croupier.arena.tally import Tally
from croupier.arena.tournament import Tournament
from tests.arena import bots

FILE = Path(bots.__file__)
HABITS = ("king-only", "no-jack", "always-bet", "never-bet", "check-call")
PLAN = Plan("kuhn", tuple(f"book:{habit}" for habit in HABITS), pairs=200, seed=1, duplicate=True)


def play(tournament: Tournament) -> Tournament:
    for _ in tournament.play(SerialRunner(tournament.plan)):
        pass
    return tournament


def test_a_round_robin_has_a_result_for_every_two_bots() -> None:
    result = play(Tournament(PLAN)).result()
    assert [(pair.a, pair.b) for pair in result.pairs] == [*combinations(PLAN.bots, 2)]
    assert {pair.hands for pair in result.pairs} == {400}


def test_a_swiss_tournament_pairs_winners() -> None:
    plan = Plan("kuhn", ("equilibrium", "random", *PLAN.bots), pairs=500, seed=1, duplicate=True, schedule="swiss")
    tournament = play(Tournament(plan))
    assert len(tournament.series) == 9, "three rounds of three"
    assert max(tournament.winnings(), key=tournament.winnings().__getitem__) != 1, "not the random bot"


def test_a_bot_that_forfeits_is_last() -> None:
    tournament = play(Tournament(Plan("kuhn", (f"{FILE}:Illegal", "random", "book"), pairs=200, seed=1)))
    assert [bot for bot, mean in tournament.winnings().items() if mean == -inf] == [0]


def test_all_pairings_share_the_deals() -> None:
    plan = Plan("kuhn", ("book:never-bet", "book:never-bet", "book:never-bet"), pairs=200, seed=1)
    means = {pair.mean for pair in play(Tournament(plan)).result().pairs}
    assert len(means) == 1


@pytest.mark.extended
def test_only_missing_chunks_are_played() -> None:
    chunks: dict[Job, Tally] = {}
    expected = play(Tournament(PLAN, on_chunk=chunks.__setitem__)).result()
    kept = {job: tally for number, (job, tally) in enumerate(chunks.items()) if number % 3}
    again: dict[Job, Tally] = {}
    assert play(Tournament(PLAN, kept, again.__setitem__)).result() == expected
    assert again == {job: tally for job, tally in chunks.items() if job not in kept}


def test_a_tournament_that_is_played_elsewhere_can_be_followed_in_any_order() -> None:
    played, followed = play(Tournament(PLAN)), Tournament(PLAN)
    for pairing, series in played.series.items():
        for chunk, tally in reversed([*enumerate(series.tallies)]):
            followed.add(pairing, chunk, tally)
    assert followed.result() == played.result()
