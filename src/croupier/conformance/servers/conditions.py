"""Conditions on the game of a conversation, of which the states and the coverage goals of a room are made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from croupier.conformance.servers.test_data import AnyClientReferee, ClientStrategy, CoverageGoal

type GameCondition = Callable[[Any], bool]
"""A condition on the game that the referee of a room has seen."""

type RefereeCondition = Callable[[AnyClientReferee], bool]


def before_first_game(referee: AnyClientReferee) -> bool:
    """Whether no game has been started."""
    return referee.game is None and not referee.finished_count


def between_games(referee: AnyClientReferee) -> bool:
    """Whether a game is over and no other one is in progress."""
    return referee.game is None and referee.finished_count > 0


def in_game(holds: GameCondition) -> RefereeCondition:
    """Whether a game is in progress for which a condition holds."""
    return lambda referee: referee.game is not None and holds(referee.game)


def after_game(holds: GameCondition) -> RefereeCondition:
    """Whether no game is in progress and a condition holds for the last one."""
    return lambda referee: referee.game is None and was_played(holds)(referee)


def was_played(holds: GameCondition) -> RefereeCondition:
    """Whether a condition holds for the last finished game."""
    return lambda referee: referee.last_game is not None and holds(referee.last_game)


@dataclass(frozen=True)
class GameGoals:
    """Makes coverage goals of a room that are reached by a game for which a condition holds."""

    room: str

    def __call__(
        self,
        slug: str,
        title: str,
        number: str,
        holds: GameCondition,
        strategy: ClientStrategy | None = None,
        *,
        games: int = 12,
    ) -> CoverageGoal:
        """A goal of the clause with this number, within this many games."""
        return CoverageGoal(slug, title, f"{self.room}-{number}", was_played(holds), strategy, games)
