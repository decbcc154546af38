"""Bots of croupier in OpenSpiel, and bots of OpenSpiel in croupier, for a game that both have."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import pyspiel
from open_spiel.python.policy import Policy

from croupier.core.bots import Bot, MixedBot, choose_legal
from croupier.core.dealer import Luck
from croupier.core.rules import Rules, Turn
from croupier.strategy.simulation import draw_move

type Actions = Mapping[Any, Sequence[int]]
"""The numbers that OpenSpiel has for a move of our rules; several for a rank whose cards OpenSpiel distinguishes."""

KUHN_ACTIONS: Final[Actions] = {"J": [0], "Q": [1], "K": [2], "CHK": [0], "FLD": [0], "BET": [1], "CAL": [1]}

DRAW_WEIGHT: Final = 60_000
"""The probabilities of a policy of OpenSpiel, which are floats, are rounded to multiples of about one in this many."""


class OpenSpielAdapter:
    """A game of OpenSpiel whose moves are those of `rules`. `actions` has the numbers of each move in OpenSpiel."""

    def __init__(self, rules: Rules[Any, Any], name: str, actions: Actions) -> None:
        self.rules = rules
        self.game = pyspiel.load_game(name)
        self._actions = actions
        self._states: dict[Any, Any] = {}
        self._find_states(rules.start(), self.game.new_initial_state())

    def policy(self, bots: Sequence[Bot[Any, Any]]) -> Any:
        """An OpenSpiel policy of bots that publish their probabilities, one for each seat.

        Raises ValueError if a bot does not.
        """
        mixed = [bot for bot in bots if isinstance(bot, MixedBot)]
        if len(mixed) < len(bots):
            names = ", ".join(type(bot).__name__ for bot in bots)
            raise ValueError(f"found the bots {names}; allowed: bots that all have a method policy")
        return _BotPolicy(self, mixed)

    def bot(self, bot: Bot[Any, Any], luck: Luck) -> Any:
        """A croupier bot as an OpenSpiel bot."""
        return _OpenSpielBot(self, bot, luck)

    def from_bot(self, bot: Any) -> Bot[Any, Any]:
        """An OpenSpiel bot as a croupier bot. It is shown a state in which hidden cards are arbitrary."""
        return _CroupierBot(self, bot)

    def from_policy(self, policy: Any) -> MixedBot[Any, Any]:
        """An OpenSpiel policy as a croupier bot that publishes its probabilities."""
        return _CroupierPolicy(self, policy)

    def state_of(self, theirs: Any) -> Any:
        """Our state after the history of a state of OpenSpiel."""
        state = self.rules.start()
        for action in theirs.history():
            state = self.rules.play(state, self.move_of(state, action))
        return state

    def move_of(self, state: Any, action: int) -> Any:
        """Our move for a number of OpenSpiel. Raises ValueError if there is none."""
        for move in self._moves(state):
            if action in self._actions[move]:
                return move
        raise ValueError(f"found the action {action}; allowed: {', '.join(map(str, self._moves(state)))}")

    def action_of(self, theirs: Any, move: Any) -> int:
        """The number of our move in a state of OpenSpiel, the first one if there are several."""
        legal = theirs.legal_actions()
        return next(action for action in self._actions[move] if action in legal)

    def state_with(self, view: Any) -> Any:
        """A state of OpenSpiel in which the seat to act has a view."""
        return self._states[view].clone()

    def _moves(self, state: Any) -> Sequence[Any]:
        is_chance = self.rules.turn(state) is Turn.CHANCE
        moves: Any = self.rules.odds(state) if is_chance else self.rules.legal(state)
        return [*moves]

    def _find_states(self, state: Any, theirs: Any) -> None:
        """Remember a state for each view of a seat that is to act."""
        turn = self.rules.turn(state)
        if turn is Turn.OVER:
            return
        if not isinstance(turn, Turn):
            self._states.setdefault(self.rules.view(state, turn), theirs)
        for move in self._moves(state):
            self._find_states(self.rules.play(state, move), theirs.child(self.action_of(theirs, move)))


class _BotPolicy(Policy):
    """The probabilities of our bots. See `OpenSpielAdapter.policy`."""

    def __init__(self, adapter: OpenSpielAdapter, bots: Sequence[MixedBot[Any, Any]]) -> None:
        super().__init__(adapter.game, [*range(len(bots))])
        self._adapter = adapter
        self._bots = bots

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """See `Policy`."""
        seat = state.current_player() if player_id is None else player_id
        rules, ours = self._adapter.rules, self._adapter.state_of(state)
        legal: Any = rules.legal(ours)
        chances = self._bots[seat].policy(rules.view(ours, seat), legal)
        return {self._adapter.action_of(state, move): float(chances.get(move, 0)) for move in legal}


class _OpenSpielBot(pyspiel.Bot):
    """Our bot, as OpenSpiel calls it. See `OpenSpielAdapter.bot`."""

    def __init__(self, adapter: OpenSpielAdapter, bot: Bot[Any, Any], luck: Luck) -> None:
        super().__init__()
        self._adapter = adapter
        self._bot = bot
        self._luck = luck

    def step(self, state: Any) -> int:
        """The action that the bot chooses. Raises IllegalMove."""
        rules, ours = self._adapter.rules, self._adapter.state_of(state)
        legal: Any = rules.legal(ours)
        move = choose_legal(self._bot, rules.view(ours, state.current_player()), legal, self._luck)
        return self._adapter.action_of(state, move)

    def restart_at(self, state: Any) -> None:
        """Nothing is kept from state to state."""


class _CroupierBot:
    """A bot of OpenSpiel, as croupier calls it. See `OpenSpielAdapter.from_bot`."""

    def __init__(self, adapter: OpenSpielAdapter, bot: Any) -> None:
        self._adapter = adapter
        self._bot = bot

    def choose(self, view: Any, legal: Sequence[Any], luck: Luck) -> Any:  # noqa: ARG002 -- it has randomness of its own
        """See `Bot`."""
        state = self._adapter.state_with(view)
        action = self._bot.step(state)
        return next(move for move in legal if self._adapter.action_of(state, move) == action)


class _CroupierPolicy:
    """A policy of OpenSpiel as a croupier bot. See `OpenSpielAdapter.from_policy`."""

    def __init__(self, adapter: OpenSpielAdapter, policy: Any) -> None:
        self._adapter = adapter
        self._policy = policy

    def choose(self, view: Any, legal: Sequence[Any], luck: Luck) -> Any:
        """See `Bot`."""
        return draw_move(self.policy(view, legal), luck)

    def policy(self, view: Any, legal: Sequence[Any]) -> Mapping[Any, Fraction]:
        """See `MixedBot`."""
        state = self._adapter.state_with(view)
        chances = self._policy.action_probabilities(state)
        weights = [round(DRAW_WEIGHT * float(chances.get(self._adapter.action_of(state, move), 0.0))) for move in legal]
        return {move: Fraction(weight, sum(weights)) for move, weight in zip(legal, weights, strict=True)}
