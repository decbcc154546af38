"""Lets a bot play a number of games against a house, and keeps a tally."""

import asyncio
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
    """The results of a bot.

    `nets` has the result of each game in coins; `connections` is the number of connections used. `fault` is the error
    that ended the run early: a Violation, or a ConnectionError. `last_received` is what the house sent last before it.
    """

    nets: list[int] = field(default_factory=list)
    connections: int = 0
    fault: Exception | None = None
    last_received: str = ""

    @property
    def fault_text(self) -> str | None:
        """A description of `fault`, with the last message of the house; None without a fault."""
        if self.fault is None:
            return None
        return f"{self.fault}; last received: {self.last_received}" if self.last_received else str(self.fault)

    @property
    def mean(self) -> float:
        """The mean result per game, in coins."""
        return fmean(self.nets)

    @property
    def margin_of_error(self) -> float:
        """Half the width of the 95 % confidence interval of the mean, in coins; nan for fewer than two games.

        >>> round(BotTally([2, -2, 2, -2]).margin_of_error, 3)
        2.263
        """
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
    pause_seconds: float = 0.0,
    tally: BotTally | None = None,
) -> BotTally:
    """Let a bot play a number of games; return the tally.

    When the bot cannot play on, because it has no coins for example, it connects again; without `rebuy` it stops when
    it has no coins. It waits `pause_seconds` before each message. A ConnectionError or Violation ends the run and is
    the tally's `fault`. Pass a `tally` to keep the results if the call is cancelled. Raises IllegalMove if the bot
    chooses a move that is not allowed.
    """
    tally = BotTally() if tally is None else tally
    try:
        while len(tally.nets) < games:
            games_before = len(tally.nets)
            async with connect() as game:
                tally.connections += 1
                try:
                    await _play_connection(game, bot, luck, games_before, games, pause_seconds=pause_seconds)
                except (Violation, ConnectionError) as fault:
                    tally.last_received = "" if isinstance(fault, OtherProtocol) else game.last_received
                    raise
                finally:
                    tally.nets += game.nets
            if not rebuy and game.player.is_broke:
                break
            if len(tally.nets) == games_before:
                raise ConnectionError("the house gives a new connection no coins to play with")
    except (Violation, ConnectionError) as fault:
        tally.fault = fault
    return tally


async def _play_connection(
    game: GameClient, bot: Bot[Any, Any], luck: Luck, games_before: int, games: int, *, pause_seconds: float
) -> None:
    """Play on one connection until enough games are finished or no more can be played."""
    try:
        while games_before + len(game.nets) < games and not game.player.is_exhausted:
            message = game.player.decide(bot, luck, games_before + len(game.nets))
            if message is None:
                await game.receive()
            else:
                if pause_seconds:
                    await asyncio.sleep(pause_seconds)
                await game.send(message)
    except ConnectionError:
        if not game.player.is_exhausted:
            raise
