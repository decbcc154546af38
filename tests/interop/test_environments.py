"""The environments obey PettingZoo and Gymnasium, and play the same games as croupier."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from examples.leduc import RULES as LEDUC
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from croupier.core.bots import find_bot
from croupier.core.dealer import FairDealer
from croupier.environments import aec, gym
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.rules import KUHN

pytestmark = pytest.mark.interop

SIX_SEATS: dict[str, Any] = {"seats": 6, "raises": (50, 100, 200)}
AEC_GAMES: list[tuple[Any, dict[str, Any]]] = [
    ("kuhn", {}),
    ("sevenhalf", {}),
    ("blackjack", {}),
    ("holdem", {}),
    ("holdem", SIX_SEATS),
    (LEDUC, {}),
]
GYM_GAMES: list[tuple[Any, dict[str, Any]]] = [
    ("blackjack", {}),
    ("sevenhalf", {}),
    ("sevenhalf", {"max_bet": 200}),
    ("kuhn", {"opponents": ["equilibrium"]}),
    ("kuhn", {"opponents": ["script:CHK,BET,CAL"], "seat": 1}),
    ("holdem", {"opponents": ["tight"] * 5}),
]


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array", "ignore:Observation space for each agent")
@pytest.mark.parametrize(("game", "options"), AEC_GAMES)
def test_pettingzoo_accepts_the_environment(game: Any, options: dict[str, Any]) -> None:
    api_test(aec(game, render_mode="ansi", **options), num_cycles=1000)
    seed_test(lambda: aec(game, **options), num_cycles=300)


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
@pytest.mark.parametrize(("game", "options"), GYM_GAMES)
def test_gymnasium_accepts_the_environment(game: Any, options: dict[str, Any]) -> None:
    check_env(gym(game, render_mode="ansi", **options))


@pytest.mark.parametrize(("game", "options"), AEC_GAMES)
def test_rewards_add_up_and_masks_are_those_of_the_agent_to_act(game: Any, options: dict[str, Any]) -> None:
    env = aec(game, **options)
    for hand in range(50):
        env.reset(seed=5 if hand == 0 else None)
        rewards = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            observation, reward, terminated, _, info = env.last()
            rewards[agent] += reward
            assert env.observation_space(agent).contains(observation)
            assert (info["action_mask"] == observation["action_mask"]).all()
            assert terminated or info["action_mask"].any()
            for other in env.agents:
                assert other == agent or not env.observe(other)["action_mask"].any()
            env.step(None if terminated else env.action_space(agent).sample(info["action_mask"]))
        if len(rewards) > 1:
            assert sum(rewards.values()) == pytest.approx(0)
        else:
            assert abs(rewards["player_0"]) in {0, 0.5, 1, 2}


def test_an_agent_loses_the_most_it_can_by_an_illegal_action() -> None:
    env = aec("holdem", stack=400)
    env.reset(seed=1)
    env.step(1)  # the small blind calls
    assert env.agent_selection == "player_1"
    env.step(0)  # the big blind may check, so folding is no action
    assert env.rewards == {"player_0": 0, "player_1": -20}
    assert all(env.terminations.values())
    single = gym("sevenhalf")
    single.reset(seed=1)
    *_, reward, terminated, _, info = single.step(1)  # PASS without a card
    assert (reward, terminated, info["illegal_action"]) == (-1, True, True)


@pytest.mark.parametrize(("game", "options"), GYM_GAMES)
def test_a_copy_of_an_environment_plays_the_same_hands(game: Any, options: dict[str, Any]) -> None:
    env = gym(game, **options)
    env.reset(seed=1)
    copies = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    rewards = []
    for each in copies:
        each.action_space.seed(1)
        rewards.append([play_hand(each) for _ in range(20)])
    assert rewards[0] == rewards[1] == rewards[2]


def play_hand(env: Any) -> float:
    """Play the next hand with random actions, as the arrays that `predict` of an agent returns. Return its reward."""
    _, info = env.reset()
    while True:
        _, reward, terminated, _, info = env.step(np.array(env.action_space.sample(info["action_mask"])))
        if terminated:
            return float(reward)


@pytest.mark.parametrize("game", ["kuhn", "holdem"])
def test_a_copy_of_a_pettingzoo_environment_goes_on_with_the_same_hand(game: str) -> None:
    env = aec(game)
    env.reset(seed=1)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    env.step(np.array(1))
    for each in copies:
        each.step(np.array(1))
        assert each.agent_selection == env.agent_selection
        assert (each.last()[0]["observation"] == env.last()[0]["observation"]).all()


@pytest.mark.parametrize("action", [99, None, "BET", 1.0, np.array([0])])
def test_what_is_no_action_is_an_error_and_the_hand_goes_on(action: Any) -> None:
    env = gym("kuhn", opponents=["equilibrium"])
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"^found the action .*; allowed: 0 \(CHK\), 1 \(BET\)$"):
        env.step(action)
    *_, info = env.step(0)
    assert "illegal_action" not in info


def test_a_step_without_a_running_hand_is_an_error() -> None:
    env = gym("sevenhalf")
    with pytest.raises(ResetNeeded, match="found a step without a running hand; call reset first"):
        env.step(0)
    env.reset(seed=1)
    env.step(1)  # PASS without a card ends the hand
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_the_bare_environment_names_the_legal_actions() -> None:
    env = aec("kuhn").unwrapped
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"found the action 2; allowed: 0 \(CHK\), 1 \(BET\)"):
        env.step(2)


def test_the_agent_wins_against_a_habit_what_the_equilibrium_wins() -> None:
    """An agent that plays the equilibrium by way of the environment, against `never-bet`: 2/9 of a coin a hand."""
    env = gym("kuhn", opponents=["book:never-bet"])
    bot, luck = find_bot(BOT_SPECS, "equilibrium"), FairDealer(bytes(32)).luck
    views = {str(view): view for view in (KUHN.view(state, seat) for state in kuhn_states() for seat in (0, 1))}
    wins = []
    for hand in range(4000):
        observation, info = env.reset(seed=2 if hand == 0 else None)
        done = False
        while not done:
            view = views[env.feature_names[int(np.argmax(observation["observation"]))]]
            legal = [env.action_names[action] for action in np.flatnonzero(info["action_mask"])]
            action = env.action_names.index(bot.choose(view, legal, luck))
            observation, reward, done, _, info = env.step(action)
        wins.append(reward)
    assert np.mean(wins) == pytest.approx(2 / 9, abs=3 * np.std(wins) / len(wins) ** 0.5)


def kuhn_states() -> list[Any]:
    """All states of Kuhn poker."""
    found = [KUHN.start()]
    for state in found:
        found.extend(state.next.values())
    return found


def test_equal_seeds_deal_equal_hands_and_the_seat_moves_on() -> None:
    def play(env: gymnasium.Env) -> list[Any]:
        seen = []
        for hand in range(20):
            env.reset(seed=7 if hand == 0 else None)
            seen.append(env.render())
        return seen

    first = gym("kuhn", opponents=["random"], render_mode="ansi")
    hands = play(first)
    assert hands == play(first) == play(gym("kuhn", opponents=["random"], render_mode="ansi"))
    assert {hand[0] for hand in hands} == {"0", "1"}


def test_a_render_mode_that_does_not_exist_is_refused() -> None:
    for make in (lambda: aec("kuhn", render_mode="human"), lambda: gym("blackjack", render_mode="human")):
        with pytest.raises(ValueError, match="found the render mode 'human'; allowed: ansi"):
            make()


def test_the_number_of_opponents_and_the_seat_are_checked() -> None:
    with pytest.raises(ValueError, match="found 0 opponents; allowed: 1"):
        gym("kuhn")
    with pytest.raises(ValueError, match="found 1 opponent; allowed: 0"):
        gym("blackjack", opponents=["random"])
    with pytest.raises(ValueError, match="found the seat 2; allowed: 0 to 1"):
        gym("kuhn", opponents=["random"], seat=2)
