"""Bots of croupier in OpenSpiel, and bots of OpenSpiel in croupier."""

from typing import Any

import numpy as np
import pyspiel
import pytest
from examples.leduc import RULES as LEDUC
from open_spiel.python.algorithms import evaluate_bots, exploitability
from open_spiel.python.bots.policy import PolicyBot
from open_spiel.python.policy import UniformRandomPolicy

from croupier.core.bots import RandomBot, find_bot
from croupier.core.dealer import FairDealer
from croupier.environments import open_spiel
from croupier.rooms.kuhn.bots import BOT_SPECS, HABITS
from croupier.rooms.kuhn.rules import KUHN
from croupier.simulation import simulate
from croupier.strategy.best_response import exploitability as our_exploitability
from croupier.strategy.game_tree import GameTree

pytestmark = pytest.mark.interop

LEDUC_ACTIONS = {"J": [0, 1], "Q": [2, 3], "K": [4, 5], "fold": [0], "check": [1], "call": [1], "raise": [2]}


@pytest.mark.parametrize("name", ["equilibrium", "equilibrium:0", "random", *(f"book:{habit}" for habit in HABITS)])
def test_exploitability_of_a_bot_is_the_same_in_both(name: str) -> None:
    bot: Any = find_bot(BOT_SPECS, name)
    adapter, tree = open_spiel(), GameTree(KUHN)
    theirs = exploitability.exploitability(adapter.game, adapter.policy([bot, bot]))
    strategies = [
        {view: bot.policy(view, info_set.moves) for view, info_set in tree.info_sets[seat].items()} for seat in (0, 1)
    ]
    assert float(our_exploitability(tree, strategies)) == pytest.approx(theirs, abs=1e-12)


def test_a_bot_of_ours_plays_in_the_evaluation_loop_of_open_spiel() -> None:
    adapter, luck = open_spiel(), FairDealer(bytes(32)).luck
    bots = [adapter.bot(find_bot(BOT_SPECS, name), luck) for name in ("book:never-bet", "book:always-bet")]
    random = np.random.RandomState(1)
    results = [evaluate_bots.evaluate_bots(adapter.game.new_initial_state(), bots, random) for _ in range(500)]
    assert {tuple(result) for result in results} == {(-1, 1)}  # P_1 checks and folds


def test_a_policy_of_open_spiel_plays_as_a_bot_of_ours() -> None:
    adapter = open_spiel()
    uniform = adapter.from_policy(UniformRandomPolicy(adapter.game))
    tree, ours = GameTree(KUHN), RandomBot()
    for seat in (0, 1):
        for view, info_set in tree.info_sets[seat].items():
            assert uniform.policy(view, info_set.moves) == ours.policy(view, info_set.moves)
    assert len(simulate("kuhn", uniform, "equilibrium", games=200, seed=1)[0].nets) == 200


def test_a_bot_of_open_spiel_plays_as_a_bot_of_ours() -> None:
    """Their bot plays the policy of our `book:always-bet`; its games are those of ours."""
    adapter = open_spiel()
    habit = find_bot(BOT_SPECS, "book:always-bet")
    policy = adapter.policy([habit, habit])
    theirs = adapter.from_bot(PolicyBot(0, np.random.RandomState(1), policy))
    games = [simulate("kuhn", bot, "equilibrium", games=300, seed=3)[0].nets for bot in (theirs, habit)]
    assert games[0] == games[1]


def test_a_policy_goes_to_open_spiel_and_back_in_a_game_with_several_numbers_for_a_card() -> None:
    adapter = open_spiel(LEDUC, "leduc_poker", LEDUC_ACTIONS)
    again = adapter.from_policy(adapter.policy([RandomBot(), RandomBot()]))
    tree = GameTree(LEDUC)
    for seat in (0, 1):
        for view, info_set in tree.info_sets[seat].items():
            assert again.policy(view, info_set.moves) == RandomBot().policy(view, info_set.moves)
    value = exploitability.exploitability(adapter.game, adapter.policy([RandomBot(), RandomBot()]))
    assert value == pytest.approx(pyspiel.exploitability(adapter.game, pyspiel.UniformRandomPolicy(adapter.game)))


def test_a_bot_without_published_probabilities_is_no_policy() -> None:
    with pytest.raises(ValueError, match="found the bots ScriptedBot, ScriptedBot; allowed: bots that all have"):
        open_spiel().policy([find_bot(BOT_SPECS, "script:CHK")] * 2)
