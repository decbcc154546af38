"""A bot at a table: it plays a number of games and keeps the tally."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import Any

from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.mind import Mind
from croupier.shell.client import Game


@dataclass
class Tally:
    """What a bot has won: `nets` in coins, one for each game; `purses` is how many connections that took.

    `fault` is what ended it early: a Violation of the house's, or the end of the connection.
    """

    nets: list[int] = field(default_factory=list)
    purses: int = 0
    fault: Exception | None = None

    @property
    def mean(self) -> float:
        """Coins won a game."""
        return fmean(self.nets)

    @property
    def error(self) -> float:
        """Half the width of the 95 % confidence interval of the mean, in coins; nan for fewer than two games."""
        if len(self.nets) < 2:
            return float("nan")
        return NormalDist().inv_cdf(0.975) * stdev(self.nets) / sqrt(len(self.nets))


async def play(sit: Callable[[], Game], mind: Mind[Any, Any], luck: Luck, places: Sequence[str], games: int) -> Tally:
    """Play games, in each of the places in turn. A purse that is empty is left for a new connection with a new one."""
    tally = Tally()
    seats = cycle(places)
    try:
        while len(tally.nets) < games:
            before = len(tally.nets)
            async with sit() as game:
                tally.purses += 1
                try:
                    await _play_purse(game, mind, luck, seats, games - before)
                finally:
                    tally.nets += game.settled
            if len(tally.nets) == before:
                raise ConnectionError("the house does not even give coins for one game")
    except (Violation, ConnectionError) as fault:
        tally.fault = fault
    return tally


async def _play_purse(game: Game, mind: Mind[Any, Any], luck: Luck, seats: "cycle[str]", games: int) -> None:
    """Play until the games are played or the purse is empty."""
    seat = next(seats)
    finished = 0
    while len(game.settled) < games and not game.player.broke:
        if len(game.settled) > finished:
            finished = len(game.settled)
            seat = next(seats)
        message = game.player.decide(mind, luck, seat)
        if message is None:
            await game.hear()
        else:
            await game.say(message)
