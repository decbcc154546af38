"""Environments for reinforcement learning: PettingZoo and Gymnasium play the games of croupier by croupier's rules.

The extra `croupier[environments]` has the libraries. Observations are a `Dict`: `observation` is a vector of numbers,
and `action_mask` has a 1 for each legal action; `info` has the mask, too. See docs/environments.md.

Example:
    >>> env = gym("blackjack")
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from croupier.core.bots import Bot
from croupier.core.rules import Rules
from croupier.environments.games import find_game
from croupier.environments.information_state import information_state_string
from croupier.simulation import Game

__all__ = ["aec", "gym", "information_state_string", "open_spiel"]


def aec(game: Game, *, render_mode: str | None = None, **options: Any) -> Any:
    """A PettingZoo AEC environment: the agents `player_0`, `player_1`, … act in turn.

    Parameters:
        game: `"kuhn"`, `"sevenhalf"`, `"blackjack"`, `"holdem"`, or rules of your own: an object with the methods of
            `Rules` and at most 100,000 states.
        render_mode: `"ansi"` lets `render` return what the agent to act knows, as text.
        options: For hold'em: `seats` (2 to 6, by default 2), `stack` (chips, by default 10,000) and `raises` (percents
            of the pot, by default `(100,)`). For seven and a half: `max_bet`, the coins to which the bet of 100 may be
            raised, by default 100.

    The reward of an agent comes at the end of the hand: what it has won, in coins, in bets against a bank, and in big
    blinds in hold'em. An action that is not legal ends the hand; its agent loses as much as it ever can in a hand.

    Raises ValueError on an unknown game or a bad option, ModuleNotFoundError without the extra.

    Example:
        >>> env = aec("kuhn")
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     observation, reward, termination, truncation, info = env.last()
        ...     is_over = termination or truncation
        ...     env.step(None if is_over else env.action_space(agent).sample(info["action_mask"]))
    """
    found = find_game(game, **options)
    with _naming("croupier[environments]"):
        from croupier.environments.aec_env import wrapped_env

        return wrapped_env(found, render_mode)


def gym(
    game: Game,
    *,
    opponents: Sequence[Bot[Any, Any] | str] = (),
    seat: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> Any:
    """A Gymnasium environment for one agent: against the bank, or with bots of croupier in the other seats.

    Parameters:
        game: As for `aec`.
        opponents: The bots in the seats after the agent's: objects with a method `choose`, or names:
            `"equilibrium:1/6"`, `"bot.py:Honest"`. None of them in games against a bank.
        seat: The seat of the agent. By default it moves on by one after every hand.
        render_mode: As for `aec`.
        options: As for `aec`; `seats` follows from the number of opponents.

    An episode is one hand. A hand that ends before the agent can act is followed by another one within `reset`.
    Rewards, illegal actions and errors are those of `aec`; `info["illegal_action"]` marks an illegal action.

    Example:
        >>> env = gym("kuhn", opponents=["equilibrium"], seat=0)
        >>> observation, info = env.reset(seed=1)
        >>> [*map(int, info["action_mask"])]
        [1, 1, 0, 0]
    """
    if opponents and game == "holdem":
        options["seats"] = len(opponents) + 1
    found = find_game(game, **options)
    with _naming("croupier[environments]"):
        from croupier.environments.gym_env import SingleAgentEnv

        return SingleAgentEnv(found, opponents, seat, render_mode)


def open_spiel(
    rules: Rules[Any, Any] | None = None, name: str = "kuhn_poker", actions: Mapping[Any, Sequence[int]] | None = None
) -> Any:
    """An adapter between the bots of croupier and those of OpenSpiel, for a game that both have.

    Parameters:
        rules: The rules, by default those of Kuhn poker.
        name: The name of the same game in OpenSpiel.
        actions: The numbers of each move in OpenSpiel; known for Kuhn poker.

    `policy(bots)` and `bot(bot, luck)` make an OpenSpiel policy and an OpenSpiel bot of ours, `from_policy(policy)` and
    `from_bot(bot)` make ours of theirs. Raises ModuleNotFoundError if OpenSpiel is not installed.

    Example:
        >>> from croupier.kuhn import BOT_SPECS
        >>> adapter = open_spiel()
        >>> equilibrium = BOT_SPECS["equilibrium"].make()
        >>> policy = adapter.policy([equilibrium, equilibrium])
        >>> policy.action_probabilities(adapter.game.new_initial_state().child(0).child(2))  # P_1 holds the jack
        {0: 0.6666666666666666, 1: 0.3333333333333333}
    """
    with _naming("open-spiel"):
        from croupier.environments.open_spiel_adapter import KUHN_ACTIONS, OpenSpielAdapter
    from croupier.rooms.kuhn.rules import KUHN

    return OpenSpielAdapter(rules or KUHN, name, actions or KUHN_ACTIONS)


@contextmanager
def _naming(package: str) -> Iterator[None]:
    """Let the error of a missing library name the package that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        install = f"install it with: pip install '{package}'"
        raise ModuleNotFoundError(f"the module {error.name} is missing; {install}", name=error.name) from None
