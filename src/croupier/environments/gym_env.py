"""The Gymnasium environment: one agent against the bank or against bots."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import gymnasium
from gymnasium.error import ResetNeeded

from croupier.clients.luck import make_luck
from croupier.core.bots import Bot, choose_legal, find_bot
from croupier.core.plural import format_count
from croupier.core.rules import Seat
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


class SingleAgentEnv(gymnasium.Env):
    """A game as a Gymnasium environment. An episode is one hand.

    Bots that are named are made anew with every seed. Raises ValueError for a wrong number of opponents or a bad seat.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": 1}

    def __init__(
        self,
        game: EncodedGame,
        opponents: Sequence[Bot[Any, Any] | str],
        seat: Seat | None,
        render_mode: str | None = None,
    ) -> None:
        if len(opponents) != game.seats - 1:
            raise ValueError(f"found {format_count(len(opponents), 'opponent')}; allowed: {game.seats - 1}")
        if seat is not None and not 0 <= seat < game.seats:
            raise ValueError(f"found the seat {seat}; allowed: 0 to {game.seats - 1}")
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.observation_space = observation_space(game)
        self.action_space = action_space(game)
        self.action_names = tuple(game.action_names)
        self.feature_names = tuple(game.feature_names)
        self.unit = game.unit
        self._game = game
        self._makers = [partial(find_bot, game.bots, opponent) for opponent in opponents]
        self._bots = [make() for make in self._makers]
        self._fixed_seat = seat
        self._deals = Deals(game)
        self._hand: EncodedHand
        self._seat: Seat = 0
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal hands until one comes to the agent. With a seed they are the first ones of that seed, else the next."""
        super().reset(seed=seed, options=options)
        is_new = seed is not None or self._deals.seed is None
        self._deal(seed)
        if is_new:
            self._bots = [make() for make in self._makers]
            self._lucks = [make_luck(self._deals.seed, "opponent", number) for number in range(1, self._game.seats)]
        self._let_bots_play()
        while self._hand.turn is None:
            self._deal(None)
            self._let_bots_play()
        self._is_over = False
        return self._observe(), self._info()

    def step(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Make a move of the agent, and let the bots answer.

        Raises ResetNeeded if no hand is running, and ValueError if the action is none of the action space.
        """
        if self._is_over:
            raise ResetNeeded("found a step without a running hand; call reset first")
        if not self.action_space.contains(action):
            raise ValueError(f"found the action {action!r}; allowed: {allowed_actions(self._game, self._hand)}")
        move = self._hand.moves.get(int(action))
        if move is None:
            self._is_over = True
            return self._observe(), -self._game.max_loss, True, False, {**self._info(), "illegal_action": True}
        self._hand.play(move)
        self._let_bots_play()
        self._is_over = self._hand.turn is None
        reward = self._hand.rewards()[self._seat] if self._is_over else 0.0
        return self._observe(), reward, self._is_over, False, self._info()

    def render(self) -> Any:
        """What the agent knows, as text."""
        return None if self.render_mode is None else self._hand.describe(self._seat)

    def _deal(self, seed: int | None) -> None:
        self._hand = self._deals.next_hand(seed)
        self._seat = (self._deals.number - 1) % self._game.seats if self._fixed_seat is None else self._fixed_seat

    def _let_bots_play(self) -> None:
        """Let the opponents act until it is the agent's turn, or the hand is over. Raises IllegalMove."""
        hand = self._hand
        while (turn := hand.turn) not in {None, self._seat}:
            assert turn is not None
            number = (turn - self._seat - 1) % self._game.seats
            hand.play(choose_legal(self._bots[number], hand.view(turn), hand.legal, self._lucks[number]))

    def _observe(self) -> dict[str, Any]:
        return observe(self._game, self._hand, self._seat)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": action_mask(self._game, self._hand, self._seat)}
