"""The solver and OpenSpiel agree: values, best responses and exploitability of Kuhn and Leduc poker.

OpenSpiel counts chips as croupier does, seat 0 moves first in both, and its exploitability is nash_conv divided by the
number of players. Its Leduc poker has six different cards; two of them share a rank.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyspiel
import pytest
from examples.leduc import RULES as LEDUC

from croupier.core.rules import Turn
from croupier.rooms.kuhn.rules import KUHN
from croupier.strategy.best_response import best_response, exploitability, nash_conv
from croupier.strategy.cfr_plus import solve_with_cfr_plus
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, behaviour_strategy, realization_plan
from croupier.strategy.zero_sum import find_equilibrium

pytestmark = pytest.mark.interop

CARDS: Mapping[str, Sequence[str]] = {"kuhn_poker": "JQK", "leduc_poker": "JJQQKK"}
"""The rank of each of OpenSpiel's cards."""

AGGRESSIVE = {"BET", "CAL", "raise"}
GAMES = [("kuhn_poker", KUHN), ("leduc_poker", LEDUC)]


def action_of(game: str, move: str) -> int:
    """The number of a move in OpenSpiel: pass 0 and bet 1 in Kuhn poker; fold 0, call 1 and raise 2 in Leduc poker."""
    if game == "kuhn_poker":
        return int(move in AGGRESSIVE)
    return 0 if move == "fold" else 2 if move in AGGRESSIVE else 1


def open_spiel_policy(game: str, rules: Any, strategies: Sequence[BehaviourStrategy]) -> Any:
    """The strategies as a policy of OpenSpiel, by walking both trees side by side."""
    table: dict[str, list[tuple[int, float]]] = {}

    def walk(theirs: Any, state: Any) -> None:
        turn = rules.turn(state)
        assert theirs.is_terminal() == (turn is Turn.OVER)
        if turn is Turn.OVER:
            assert theirs.returns() == [*rules.payoff(state)]
        elif turn is Turn.CHANCE:
            found: dict[str, float] = {}
            for card, probability in theirs.chance_outcomes():
                rank = CARDS[game][card]
                found[rank] = found.get(rank, 0) + probability
                walk(theirs.child(card), rules.play(state, rank))
            assert found == pytest.approx({move: float(odds) for move, odds in rules.odds(state).items()})
        else:
            assert theirs.current_player() == turn
            row = strategies[turn][rules.view(state, turn)]
            actions = {action_of(game, move): move for move in rules.legal(state)}
            assert sorted(actions) == theirs.legal_actions()
            table[theirs.information_state_string()] = [
                (action, float(row.get(move, 0))) for action, move in actions.items()
            ]
            for action, move in actions.items():
                walk(theirs.child(action), rules.play(state, move))

    walk(pyspiel.load_game(game).new_initial_state(), rules.start())
    return pyspiel.TabularPolicy(table)


def uniform(tree: GameTree) -> list[BehaviourStrategy]:
    """Each move with the same probability."""
    return [
        {
            view: dict.fromkeys(info_set.moves, Fraction(1, len(info_set.moves)))
            for view, info_set in tree.info_sets[seat].items()
        }
        for seat in (0, 1)
    ]


def skewed(tree: GameTree) -> list[BehaviourStrategy]:
    """The first move of every information set with probability 2/3, the last one with 1/3."""
    return [
        {
            view: {info_set.moves[0]: Fraction(2, 3), info_set.moves[-1]: Fraction(1, 3)}
            for view, info_set in tree.info_sets[seat].items()
        }
        for seat in (0, 1)
    ]


@pytest.mark.parametrize(("game", "rules"), GAMES)
@pytest.mark.parametrize("make", [uniform, skewed])
def test_best_responses_of_both_have_the_same_value(game: str, rules: Any, make: Any) -> None:
    tree = GameTree(rules)
    strategies = make(tree)
    plans = [realization_plan(tree, seat, strategies[seat]) for seat in (0, 1)]
    policy, root = open_spiel_policy(game, rules, strategies), pyspiel.load_game(game).new_initial_state()
    for seat in (0, 1):
        theirs = pyspiel.TabularBestResponse(pyspiel.load_game(game), seat, policy).value_from_state(root)
        assert float(best_response(tree, seat, plans[1 - seat]).value) == pytest.approx(theirs, abs=1e-12)
    assert float(nash_conv(tree, plans)) == pytest.approx(pyspiel.nash_conv(pyspiel.load_game(game), policy), abs=1e-12)
    theirs = pyspiel.exploitability(pyspiel.load_game(game), policy)
    assert float(exploitability(tree, strategies)) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_open_spiel_finds_no_better_response_to_the_plans_of_the_linear_program(game: str, rules: Any) -> None:
    tree = GameTree(rules)
    found = find_equilibrium(tree)
    policy = open_spiel_policy(game, rules, [behaviour_strategy(tree, seat, found.plans[seat]) for seat in (0, 1)])
    assert pyspiel.exploitability(pyspiel.load_game(game), policy) < 1e-12
    root = pyspiel.load_game(game).new_initial_state()
    low = -pyspiel.TabularBestResponse(pyspiel.load_game(game), 1, policy).value_from_state(root)
    assert low == pytest.approx(float(found.value.low), abs=1e-12)


def test_exploitability_of_cfr_plus_in_leduc_poker_agrees() -> None:
    tree = GameTree(LEDUC)
    found = solve_with_cfr_plus(tree, 200)
    policy = open_spiel_policy("leduc_poker", LEDUC, [behaviour_strategy(tree, n, found.plans[n]) for n in (0, 1)])
    theirs = pyspiel.nash_conv(pyspiel.load_game("leduc_poker"), policy)
    assert float(found.value.width) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("game", "rules"), GAMES)
def test_the_bounds_of_open_spiels_cfr_plus_contain_the_value(game: str, rules: Any) -> None:
    theirs = pyspiel.load_game(game)
    solver = pyspiel.CFRPlusSolver(theirs)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    policy, root = solver.tabular_average_policy(), theirs.new_initial_state()
    low = -pyspiel.TabularBestResponse(theirs, 1, policy).value_from_state(root)
    high = pyspiel.TabularBestResponse(theirs, 0, policy).value_from_state(root)
    value = find_equilibrium(GameTree(rules)).value
    assert low <= value.low <= value.high <= high < low + 0.02
