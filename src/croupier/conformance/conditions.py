"""Conditions on a conversation with a house, by which the states of test cases are recognised."""

from collections.abc import Callable
from typing import Any

from croupier.conformance.conversation import Conversation

type Condition = Callable[[Conversation], bool]
"""Whether a state has come up; called when the house has sent everything that it owes."""

type GameCondition = Callable[[Any], bool]
"""A condition on the game that the referee of a room has seen."""


def never_reached(_: Conversation) -> bool:
    """The state of a case that is over when the client leaves, or after its last game."""
    return False


def before_first_game(conversation: Conversation) -> bool:
    """Whether no game has been started."""
    return conversation.referee.game is None and not conversation.referee.finished_count


def between_games(conversation: Conversation) -> bool:
    """Whether a game is over and no other one is in progress."""
    return conversation.referee.game is None and conversation.referee.finished_count > 0


def in_game(holds: GameCondition = lambda _: True) -> Condition:
    """Whether a game is in progress for which a condition holds."""
    return lambda conversation: conversation.referee.game is not None and holds(conversation.referee.game)


def was_played(holds: GameCondition) -> Condition:
    """Whether a condition holds for the last finished game."""
    return lambda conversation: conversation.referee.last_game is not None and holds(conversation.referee.last_game)


def after_game(holds: GameCondition = lambda _: True) -> Condition:
    """Whether no game is in progress and a condition holds for the last one."""
    return lambda conversation: conversation.referee.game is None and was_played(holds)(conversation)


def finished(games: int) -> Condition:
    """Whether this many games were finished on the connection."""
    return lambda conversation: conversation.referee.finished_count >= games
