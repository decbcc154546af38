"""A bot at a table: it plays a number of games and keeps the tally."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist, fmean, stdev
from typing import Any

from croupier.clients.game import GameClient
from croupier.clients.identify import OtherProtocol
from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import Violation


@dataclass
class BotTally:
    """What a bot has won: `nets` in coins, one for each game; `connections` is how many that took.

    `fault` is what ended it early: a Violation of the house's, or the end of the connection; `last_words` is what the
    house sent last before that, for people.
    """

    nets: list[int] = field(default_factory=list)
    connections: int = 0
    fault: Exception | None = None
    last_received: str = ""

    @property
    def fault_text(self) -> str | None:
        """What ended it early, with the last words of the house; None if nothing did."""
        if self.fault is None:
            return None
        return f"{self.fault}; its last words: {self.last_received}" if self.last_received else str(self.fault)

    @property
    def mean(self) -> float:
        """Coins won a game."""
        return fmean(self.nets)

    @property
    def margin_of_error(self) -> float:
        """Half the width of the 95 % confidence interval of the mean, in coins; nan for fewer than two games."""
        if len(self.nets) < 2:
            return float("nan")
        return NormalDist().inv_cdf(0.975) * stdev(self.nets) / sqrt(len(self.nets))


async def play_games(
    connect: Callable[[], GameClient],
    bot: Bot[Any, Any],
    luck: Luck,
    games: int,
    *,
    rebuy: bool = True,
    tally: BotTally | None = None,
) -> BotTally:
    """Play games. A connection on which nothing more can be played is left for a new one, where the house gives coins.

    Without `rebuy` that is the end. A tally of one's own survives it when this is cancelled. Raises IllegalMove when
    the mind wants to do what is not allowed.
    """
    tally = BotTally() if tally is None else tally
    try:
        while len(tally.nets) < games:
            before = len(tally.nets)
            async with connect() as game:
                tally.connections += 1
                try:
                    await _play_connection(game, bot, luck, before, games)
                except (Violation, ConnectionError) as fault:
                    tally.last_received = "" if isinstance(fault, OtherProtocol) else game.last_received
                    raise
                finally:
                    tally.nets += game.nets
            if not rebuy and game.player.is_broke:
                break
            if len(tally.nets) == before:
                raise ConnectionError("the house does not even give coins for one game")
    except (Violation, ConnectionError) as fault:
        tally.fault = fault
    return tally


async def _play_connection(game: GameClient, mind: Bot[Any, Any], luck: Luck, before: int, games: int) -> None:
    """Play until the games are played or nothing more can be played here."""
    try:
        while before + len(game.nets) < games and not game.player.is_exhausted:
            message = game.player.decide(mind, luck, before + len(game.nets))
            if message is None:
                await game.receive()
            else:
                await game.send(message)
    except ConnectionError:
        if not game.player.is_exhausted:
            raise
