"""The PettingZoo environment."""

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from croupier.environments.deals import Deals
from croupier.environments.encoding import EncodedGame, EncodedHand
from croupier.environments.spaces import (
    RENDER_MODES,
    action_mask,
    action_space,
    allowed_actions,
    check_render_mode,
    observation_space,
    observe,
)


class CardGameEnv(AECEnv):
    """A game as a PettingZoo environment. Each agent has the seat of its number; an episode is one hand."""

    def __init__(self, game: EncodedGame, render_mode: str | None = None) -> None:
        check_render_mode(render_mode)
        super().__init__()
        self.metadata = {"name": f"croupier_{game.name}_v0", "render_modes": RENDER_MODES, "render_fps": 1}
        self.render_mode = render_mode
        self.action_names = tuple(game.action_names)
        self.feature_names = tuple(game.feature_names)
        self.unit = game.unit
        self.possible_agents = [f"player_{seat}" for seat in range(game.seats)]
        self._observation_spaces = {agent: observation_space(game) for agent in self.possible_agents}
        self._action_spaces = {agent: action_space(game) for agent in self.possible_agents}
        self._game = game
        self._deals = Deals(game)
        self._hand: EncodedHand

    def observation_space(self, agent: str) -> Any:
        """See `AECEnv`."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """See `AECEnv`."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 -- there are no options
        """Deal a hand. With a seed it is the first one of that seed, else the next one."""
        self._hand = self._deals.next_hand(seed)
        self.agents = [*self.possible_agents]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._update()

    def observe(self, agent: str) -> dict[str, Any]:
        """See `AECEnv`."""
        return observe(self._game, self._hand, self.possible_agents.index(agent))

    def step(self, action: int | None) -> None:
        """Make a move of the agent to act. Raises ValueError if the action is not legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        is_action = self._action_spaces[agent].contains(action)
        move = None if action is None or not is_action else self._hand.moves.get(int(action))
        if move is None:
            raise ValueError(f"found the action {action!r}; allowed: {allowed_actions(self._game, self._hand)}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._hand.play(move)
        if self._hand.turn is None:
            self.rewards = dict(zip(self.possible_agents, self._hand.rewards(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        self._update()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """What the agent to act knows, as text."""
        if self.render_mode is None:
            return None
        return self._hand.describe(self.possible_agents.index(self.agent_selection))

    def close(self) -> None:
        """Nothing is left open."""

    def _update(self) -> None:
        """Select the agent to act, and update the masks."""
        turn = self._hand.turn
        self.agent_selection = self.possible_agents[turn or 0]
        self.infos = {
            agent: {"action_mask": action_mask(self._game, self._hand, seat)} for seat, agent in enumerate(self.agents)
        }


def wrapped_env(game: EncodedGame, render_mode: str | None) -> Any:
    """The environment with the usual wrappers: an illegal action ends the hand, others' mistakes are errors."""
    env = TerminateIllegalWrapper(CardGameEnv(game, render_mode), illegal_reward=-game.max_loss)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))
