"""Spaces, observations and masks of a game, for Gymnasium and PettingZoo."""

from typing import Any, Final

import numpy as np
from gymnasium import spaces

from croupier.core.rules import Seat
from croupier.environments.encoding import EncodedGame, EncodedHand

RENDER_MODES: Final = ["ansi"]


def check_render_mode(render_mode: str | None) -> None:
    """Raise ValueError for a mode that environments do not have."""
    if render_mode not in (None, *RENDER_MODES):
        raise ValueError(f"found the render mode {render_mode!r}; allowed: {', '.join(RENDER_MODES)}")


def observation_space(game: EncodedGame) -> spaces.Dict:
    """The space of observations."""
    highs = np.array(game.feature_highs, dtype=np.float32)
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros_like(highs), highs, dtype=np.float32),
            "action_mask": spaces.Box(0, 1, (len(game.action_names),), dtype=np.int8),
        }
    )


def action_space(game: EncodedGame) -> spaces.Discrete:
    """The space of actions."""
    return spaces.Discrete(len(game.action_names))


def action_mask(game: EncodedGame, hand: EncodedHand, seat: Seat) -> Any:
    """An array with a 1 for each action that a seat can choose now: none if it is not to act."""
    mask = np.zeros(len(game.action_names), dtype=np.int8)
    if hand.turn == seat:
        mask[[*hand.moves]] = 1
    return mask


def allowed_actions(game: EncodedGame, hand: EncodedHand) -> str:
    """The actions that the seat to act can choose now, for errors: `0 (CHK), 1 (BET)`."""
    return ", ".join(f"{index} ({game.action_names[index]})" for index in sorted(hand.moves))


def observe(game: EncodedGame, hand: EncodedHand, seat: Seat) -> dict[str, Any]:
    """What a seat observes."""
    return {
        "observation": np.array(hand.observe(seat), dtype=np.float32),
        "action_mask": action_mask(game, hand, seat),
    }
