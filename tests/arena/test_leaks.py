"""Leaks add up: what a bot's choices cost is what the best response wins more."""

from collections import defaultdict
from fractions import Fraction

import pytest

from croupier.arena.baselines.kuhn import Policy
from croupier.arena.kuhn import KuhnGame
from croupier.arena.kuhn_leaks import choice_costs, count_choices, estimated_policy
from croupier.arena.leaks import Leak, LeakLine, leak_lines
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.tally import merge
from croupier.rooms.kuhn.rules import DEALS, KUHN, KuhnState, View
from croupier.strategy.best_response import best_response
from croupier.strategy.game_tree import GameTree
from tests.arena.enumeration import OPPONENTS, ends_of, policy_of

TREE = GameTree(KUHN)


def exact_ends(seats: tuple[Policy, Policy]) -> dict[KuhnState, Fraction]:
    ends: dict[KuhnState, Fraction] = defaultdict(Fraction)
    for deal in DEALS:
        for end, chance in ends_of(deal, seats).items():
            ends[end] += chance / len(DEALS)
    return ends


def best_response_value(seat: int, opponent: Policy) -> Fraction:
    """What the solver of the package finds."""
    plan = [Fraction(1)] * TREE.sequence_counts[1 - seat]
    for view, info_set in TREE.info_sets[1 - seat].items():
        assert isinstance(view, View)
        for sequence, move in zip(info_set.sequences, info_set.moves, strict=True):
            plan[sequence] = plan[info_set.parent_sequence] * opponent[view].get(move, Fraction(0))
    return best_response(TREE, seat, tuple(plan)).value


@pytest.mark.parametrize("opponent", OPPONENTS)
@pytest.mark.parametrize("bot", OPPONENTS)
def test_the_costs_of_choices_add_up_to_the_distance_from_the_best_response(bot: str, opponent: str) -> None:
    own, other = policy_of(bot), policy_of(opponent)
    for seat in (0, 1):
        ends = exact_ends((own, other) if seat == 0 else (other, own))
        costs = choice_costs(seat, other)
        choices: dict[object, Fraction] = defaultdict(Fraction)
        for end, chance in ends.items():
            for choice in count_choices({end: 1}, seat):
                choices[choice] += chance * costs[choice]
        value = sum((chance * end.payoff[seat] for end, chance in ends.items()), Fraction(0))
        assert sum(choices.values()) == best_response_value(seat, other) - value


def test_how_a_seat_plays_is_estimated_from_the_ends() -> None:
    policy = policy_of("random")
    ends = exact_ends((policy, policy))
    counts = {end: int(chance * 6 * 6 * 6 * 8000) for end, chance in ends.items()}
    estimated = estimated_policy(count_choices(counts, 0), 0)
    assert {*estimated} == {view for view in policy if len(view.history) % 2 == 0}
    for view, row in estimated.items():
        assert sum(row.values()) == 1
        assert row == pytest.approx(policy[view], abs=0.001)


def test_at_views_that_did_not_occur_the_equilibrium_is_assumed() -> None:
    equilibrium = policy_of("equilibrium:1/6")
    estimated = estimated_policy({}, 1)
    assert estimated == {view: {**row} for view, row in equilibrium.items() if len(view.history) % 2}


def test_a_bot_that_bets_kings_only_is_not_charged_with_bluffs_that_nobody_has_called() -> None:
    """Its opponent, the equilibrium, never had a king when it faced a bet."""
    plan = Plan("kuhn", ("book:king-only", "equilibrium"), pairs=5000, seed=1, duplicate=True)
    tally = merge([play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)])
    own, _ = KuhnGame().leaks(tally)
    assert sum(line.cost for line in own) < 0.01


def test_the_report_names_the_choices_and_their_cost() -> None:
    plan = Plan("kuhn", ("book:always-bet", "equilibrium"), pairs=5000, seed=1, duplicate=True)
    tally = merge([play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)])
    own, _ = KuhnGame().leaks(tally)
    found = {line.choice: line for line in own}
    calls = found["calls with J facing a bet"]
    assert calls.frequency == pytest.approx(1 / 12, abs=0.01), "as P_2, with J against K"
    assert calls.cost == pytest.approx(calls.frequency), "a call loses 2 and a fold 1"
    assert sum(line.share for line in own) == pytest.approx(1)
    assert [*own] == sorted(own, key=lambda line: -line.cost)


def test_choices_that_cost_nothing_are_no_leaks() -> None:
    lines = leak_lines({"a": Leak(5, 1.0), "b": Leak(5, 0.0), "c": Leak(1, 3.0)}, hands=10)
    assert lines == [LeakLine("c", 0.3, 0.1, 0.75), LeakLine("a", 0.1, 0.5, 0.25)]
